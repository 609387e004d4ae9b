"""A real Redis Cluster that tests start: masters on loopback ports, each with its share of the 16384 slots."""

import random
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from tests.support.ports import LOWEST
from tests.support.processes import START_SECONDS, RedisProcess
from tests.support.waiting import INTERVAL_SECONDS

MASTERS = 3
BUS_PORT_OFFSET = 10_000
CLIENT_PORTS = range(LOWEST - BUS_PORT_OFFSET - 2_000, LOWEST - BUS_PORT_OFFSET)
"""Those for the bus of a Cluster end where the ports of `free_ports` begin."""


class ClusterNode(RedisProcess):
    """One redis-server of a Cluster. Servers reach it by its port; tests call it by its socket, whatever its state."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = _free_port()
        # No node is given up because a test froze it, or because the machine is slow.
        own = ["--port", str(self.port), "--cluster-enabled", "yes", "--cluster-node-timeout", "60000"]
        super().__init__(folder, *own, *options)
        self.id = self.cluster("MYID")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cluster(self, *words: str | int) -> str:
        """Return the reply to a CLUSTER command."""
        answer = self.call("CLUSTER", *words)
        return answer.decode() if isinstance(answer, bytes) else str(answer)


class RedisCluster:
    """Masters that know each other, and spare nodes. `url` names all masters, so any one of them may be down."""

    def __init__(self, nodes: list[ClusterNode], spares: list[ClusterNode]) -> None:
        self.nodes = nodes
        self.spares = spares
        self.url = f"redis+cluster://{','.join(node.address for node in nodes)}"

    def join(self) -> None:
        """Spread the slots over the nodes, and wait until all of them agree that this is a Cluster."""
        share = -(-REDIS_CLUSTER_HASH_SLOTS // len(self.nodes))
        for number, node in enumerate(self.nodes):
            slots = range(number * share, min((number + 1) * share, REDIS_CLUSTER_HASH_SLOTS))
            # Redis 6.2 takes no ranges.
            node.call("CLUSTER", "ADDSLOTS", *slots)
            node.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        everybody = [*self.nodes, *self.spares]
        for node in everybody:
            self.nodes[0].call("CLUSTER", "MEET", "127.0.0.1", node.port)
        _wait("the nodes did not become a Cluster", lambda: all(map(self._is_whole, everybody)))

    def replicate(self, master: ClusterNode) -> ClusterNode:
        """Make a spare node the replica of `master`; return it when it follows and all nodes know it."""
        replica = self.spares.pop()
        replica.call("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        master.call("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        replica.cluster("REPLICATE", master.id)
        _wait("the replica did not follow", lambda: b"master_link_status:up" in replica.info("replication"))
        _wait("the replica is not known", lambda: all(_knows_replica(node, replica) for node in self.nodes))
        self.nodes.append(replica)
        return replica

    def owner(self, key: str) -> ClusterNode:
        """Return the node that holds this key, by the answer of the first node."""
        slot = key_slot(key.encode())
        for first, last, (_, port, *_), *_ in self._slots():
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == port)
        raise AssertionError(f"no node serves slot {slot}")

    def move(self, key: str, *, to: ClusterNode) -> None:
        """Move the slot of this key with everything in it, in the steps of an operator."""
        slot, source = key_slot(key.encode()), self.owner(key)
        to.cluster("SETSLOT", slot, "IMPORTING", source.id)
        source.cluster("SETSLOT", slot, "MIGRATING", to.id)
        self.carry(key, to=to)
        self.settle(key, to=to)

    def begin_to_move(self, key: str, *, to: ClusterNode) -> None:
        """Begin a move: the keys in the slot of this key stay where they are, new keys go to the node `to`."""
        slot, source = key_slot(key.encode()), self.owner(key)
        to.cluster("SETSLOT", slot, "IMPORTING", source.id)
        source.cluster("SETSLOT", slot, "MIGRATING", to.id)

    def carry(self, key: str, *, to: ClusterNode) -> None:
        """Move everything in the slot of this key to the node `to`, in the middle of a move."""
        slot, source = key_slot(key.encode()), self.owner(key)
        while names := source.call("CLUSTER", "GETKEYSINSLOT", slot, 10):
            assert isinstance(names, list)
            source.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *names)

    def settle(self, key: str, *, to: ClusterNode) -> None:
        """End a move: from now on the node `to` owns the slot of this key."""
        for node in sorted(self.nodes, key=lambda node: node is not to):
            node.cluster("SETSLOT", key_slot(key.encode()), "NODE", to.id)

    def wait_until_in_step(self, master: ClusterNode, replica: ClusterNode) -> None:
        """Wait until the replica has received everything that its master has."""
        _wait("the replica lags", lambda: _offset(master) == _offset(replica))

    def cut_off_replicas(self, master: ClusterNode) -> None:
        """Let the replicas of a master receive nothing from now on."""
        master.call("ACL", "SETUSER", "default", "-psync", "-sync", "-replconf")
        master.call("CLIENT", "KILL", "TYPE", "replica")

    def flush(self) -> None:
        """Delete all keys; the slots stay as they are."""
        for node in self.nodes:
            node.call("FLUSHALL")

    def _slots(self) -> Any:
        return cast("Any", self.nodes[0].call("CLUSTER", "SLOTS"))

    def _is_whole(self, node: ClusterNode) -> bool:
        info = node.cluster("INFO")
        known = f"cluster_known_nodes:{len(self.nodes) + len(self.spares)}\r\n"
        return "cluster_state:ok" in info and known in info


@contextmanager
def redis_cluster(*options: str, spares: int = 0) -> Iterator[RedisCluster]:
    """Run a Cluster of three masters with these options; its folders are deleted at the end."""
    with ExitStack() as stack:
        nodes = []
        for _ in range(MASTERS + spares):
            folder = Path(tempfile.mkdtemp(prefix="fairest-test-"))
            stack.callback(shutil.rmtree, folder)
            nodes.append(ClusterNode(folder, *options))
            stack.callback(nodes[-1].kill)
        cluster = RedisCluster(nodes[:MASTERS], nodes[MASTERS:])
        cluster.join()
        yield cluster


def other_than(node: ClusterNode, cluster: RedisCluster) -> ClusterNode:
    """Return another master."""
    return next(each for each in cluster.nodes if each is not node)


def _knows_replica(node: ClusterNode, replica: ClusterNode) -> bool:
    return any(replica.id in line and "slave" in line for line in node.cluster("NODES").splitlines())


def _offset(node: ClusterNode) -> bytes:
    return node.info("replication").partition(b"master_repl_offset:")[2].partition(b"\r")[0]


def _wait(otherwise: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(INTERVAL_SECONDS)


def _free_port() -> int:
    """Return a free port whose neighbour for the bus is free too; `free_ports` returns neither of them."""
    while True:
        port = random.choice(CLIENT_PORTS)
        with socket.socket() as for_clients, socket.socket() as for_nodes:
            try:
                for_clients.bind(("127.0.0.1", port))
                for_nodes.bind(("127.0.0.1", port + BUS_PORT_OFFSET))
            except OSError:
                continue
            return port
