"""Fail-overs to replicas that lag: Sentinel behind one address, and a Cluster. Moves may be gone, and all are told."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from benchmarks.histories.scenarios import EVERY_SECOND, Scenario
from benchmarks.histories.world import START_SECONDS, Engine, World, call, free_port

NAME = "fairest"
MASTERS = 3
SLOTS = 16384
LAG_SECONDS = 1.0


async def with_sentinel(world: World) -> None:
    """Start a master, a replica and a Sentinel, and servers that reach the master by one address, as behind a proxy."""
    master = world.engine(*EVERY_SECOND, port=free_port())
    await asyncio.to_thread(master.start)
    replica = world.engine(
        *EVERY_SECOND, "--replicaof", f"127.0.0.1 {master.port}", "--repl-diskless-sync-delay", "0", port=free_port()
    )
    await asyncio.to_thread(replica.start)
    await _wait(lambda: b"master_link_status:up" in call(replica.socket, "INFO", "replication"))
    port, settings = free_port(), world.folder / "sentinel.conf"
    settings.write_text(
        f"port {port}\ndir {world.folder}\nlogfile {world.folder}/sentinel.log\n"
        f"sentinel monitor {NAME} 127.0.0.1 {master.port} 1\n"
        f"sentinel down-after-milliseconds {NAME} 1000\nsentinel failover-timeout {NAME} 3000\n"
    )
    command = [world.program, str(settings), "--sentinel"]
    world.others.append(await asyncio.to_thread(subprocess.Popen, command, stdout=subprocess.DEVNULL))
    await _wait(lambda: _replicas_known(port) > 0)

    def find_master() -> tuple[str, int]:
        host, found = call(port, "SENTINEL", "get-master-addr-by-name", NAME)
        return host.decode(), int(found)

    relay = await world.relay(find_master)
    world.find_master = find_master
    await world.serve(2, f"redis://127.0.0.1:{relay.port}")


def _replicas_known(port: int) -> int:
    found = call(port, "SENTINEL", "master", NAME)
    return int(dict(zip(found[::2], found[1::2], strict=True))[b"num-slaves"])


async def kill_master(world: World) -> None:
    """Let the replica lag, kill the master, wait for the fail-over; the old master comes back as a replica."""
    assert world.find_master is not None
    _, port = world.find_master()
    master = next(engine for engine in world.engines if engine.port == port)
    await _lag(master)
    await asyncio.to_thread(master.kill)
    await _wait(lambda: world.find_master is not None and world.find_master()[1] != port)
    for relay in world.relays:
        relay.cut()
    await asyncio.to_thread(master.start)
    # Sentinel makes it a replica of the new master; until then the next fail-over would have nowhere to go.
    await _wait(lambda: b"master_link_status:up" in call(master.socket, "INFO", "replication"))


async def _lag(master: Engine) -> None:
    """Keep the replicas of a master from receiving anything for some time."""
    call(master.socket, "ACL", "SETUSER", "default", "-psync", "-sync", "-replconf")
    call(master.socket, "CLIENT", "KILL", "TYPE", "replica")
    await asyncio.sleep(LAG_SECONDS)


async def with_cluster(world: World) -> None:
    """Start a Cluster of three masters with a replica each."""
    options = "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0"
    nodes = [world.engine(*EVERY_SECOND, *options, port=free_port()) for _ in range(2 * MASTERS)]
    for node in nodes:
        await asyncio.to_thread(node.start)
    share = -(-SLOTS // MASTERS)
    for number, node in enumerate(nodes):
        if number < MASTERS:
            call(node.socket, "CLUSTER", "ADDSLOTS", *range(number * share, min((number + 1) * share, SLOTS)))
        call(node.socket, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        call(nodes[0].socket, "CLUSTER", "MEET", "127.0.0.1", node.port)
    known = b"cluster_known_nodes:%d\r\n" % (2 * MASTERS)
    await _wait(lambda: all(known in call(node.socket, "CLUSTER", "INFO") for node in nodes))
    for master, replica in zip(nodes[:MASTERS], nodes[MASTERS:], strict=True):
        call(replica.socket, "CLUSTER", "REPLICATE", call(master.socket, "CLUSTER", "MYID"))
    await _wait(lambda: all(b"cluster_state:ok" in call(node.socket, "CLUSTER", "INFO") for node in nodes))
    await _wait(lambda: all(_is_followed(node) for node in nodes[:MASTERS]))
    addresses = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    await world.serve(2, f"redis+cluster://{addresses}")


def _is_followed(node: Engine) -> bool:
    return b"state=online" in call(node.socket, "INFO", "replication")


async def kill_cluster_master(world: World) -> None:
    """Let the replica of a master lag a second, kill the master, wait for the fail-over, and start it again."""
    masters = [engine for engine in world.engines if b"role:master" in call(engine.socket, "INFO", "replication")]
    master = world.chance.choice([engine for engine in masters if _is_followed(engine)])
    await _lag(master)
    await asyncio.to_thread(master.kill)
    others = [engine for engine in world.engines if engine is not master and engine not in masters]
    await _wait(lambda: any(b"role:master" in call(each.socket, "INFO", "replication") for each in others))
    await asyncio.to_thread(master.start)
    await _wait(lambda: b"master_link_status:up" in call(master.socket, "INFO", "replication"))


async def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(OSError):
            if await asyncio.to_thread(condition):
                return
        if time.monotonic() > deadline:
            raise RuntimeError("the engines did not agree in time")
        await asyncio.sleep(0.1)


FAILOVER = {
    "sentinel": Scenario(with_sentinel, {"kill the master": kill_master}, (8.0, 12.0), loss_is_allowed=True),
    "cluster_replicas": Scenario(
        with_cluster, {"kill a master": kill_cluster_master}, (8.0, 12.0), loss_is_allowed=True
    ),
}
