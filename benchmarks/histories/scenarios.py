"""The scenarios: which processes there are, which faults come, and what may be lost."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchmarks.histories.world import Engine, Server, World

ALWAYS = "--appendonly", "yes", "--appendfsync", "always"
EVERY_SECOND = "--appendonly", "yes", "--appendfsync", "everysec"
Fault = Callable[[World], Awaitable[None]]


class SkippedError(Exception):
    """A scenario cannot run on this machine; the text says why."""


@dataclass(frozen=True)
class Scenario:
    """Processes and faults. `faults` are drawn with equal chance, every `between_seconds`."""

    prepare: Fault
    faults: Mapping[str, Fault]
    between_seconds: tuple[float, float] = (1.0, 3.0)
    loss_is_allowed: bool = False
    """Whether acknowledged moves may be gone, if every client is told."""
    tolerance_s: float = 1.5
    end_seconds: float = 90.0
    """A match must end within as much after the last fault."""


def draw_schedule(scenario: Scenario, chance: random.Random, seconds: float) -> list[tuple[float, str]]:
    """Draw when which fault comes, in seconds from the beginning of the races."""
    schedule, at = [], chance.uniform(2.0, 4.0)
    while at < seconds:
        schedule.append((round(at, 2), chance.choice(sorted(scenario.faults))))
        at += chance.uniform(*scenario.between_seconds)
    return schedule


def one_redis(*options: str, servers: int = 3, arguments: tuple[str, ...] = ()) -> Fault:
    """Return a preparation: one engine with these options, and server processes."""

    async def prepare(world: World) -> None:
        engine = world.engine(*options)
        await asyncio.to_thread(engine.start)
        await world.serve(servers, engine.url, *arguments)

    return prepare


async def kill_server(world: World) -> None:
    """Kill a server process, start another one."""
    server: Server = world.chance.choice(world.servers)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def kill_worker(world: World) -> None:
    """Kill a worker; its supervisor starts another one."""
    workers = world.servers[0].workers()
    if workers:
        os.kill(world.chance.choice(workers), signal.SIGKILL)


async def kill_redis(world: World) -> None:
    """Kill the engine, start it again on its data."""
    await asyncio.to_thread(world.engines[0].restart)


async def stop_redis(world: World) -> None:
    """Stop the engine with SIGSTOP for 3 seconds."""
    engine: Engine = world.engines[0]
    engine.send_signal(signal.SIGSTOP)
    await asyncio.sleep(3.0)
    engine.send_signal(signal.SIGCONT)


async def cut_clients(world: World) -> None:
    """Cut all connections of the clients to one server."""
    world.chance.choice(world.relays).cut()


async def prepare_cuts(world: World) -> None:
    """Put each server behind a link that cuts every connection after some kilobytes, in the middle of a frame."""
    await one_redis(*EVERY_SECOND, servers=2)(world)
    for server in world.servers:
        address = "127.0.0.1", int(server.url.rsplit(":", 1)[1])
        relay = await world.relay(partial(tuple[str, int], address))
        relay.bytes_until_cut = lambda: world.chance.expovariate(1 / 15_000)
        server.url = f"ws://127.0.0.1:{relay.port}"


async def prepare_redis_link(world: World) -> None:
    """Put a link between the servers and Redis."""
    engine = world.engine(*EVERY_SECOND)
    await asyncio.to_thread(engine.start)
    relay = await world.relay(lambda: engine.socket)
    await world.serve(3, f"redis://127.0.0.1:{relay.port}")


async def cut_redis_link(world: World) -> None:
    """Let commands be executed and their replies be lost for a moment, then cut the link to Redis for some seconds."""
    relay = world.relays[0]
    relay.loses_answers = True
    await asyncio.sleep(0.1)
    relay.is_down = True
    relay.cut()
    relay.loses_answers = False
    await asyncio.sleep(world.chance.uniform(0.2, 4.0))
    relay.is_down = False


PROCESSES = {
    "server_killed": Scenario(one_redis(*EVERY_SECOND), {"kill a server": kill_server}),
    "workers_killed": Scenario(
        one_redis(*EVERY_SECOND, servers=1, arguments=("--workers", "3")), {"kill a worker": kill_worker}
    ),
    # With `everysec`, Redis holds writes back while a flush is under way, and they die with it.
    "redis_killed_everysec": Scenario(one_redis(*EVERY_SECOND), {"kill Redis": kill_redis}, loss_is_allowed=True),
    "redis_killed_always": Scenario(one_redis(*ALWAYS), {"kill Redis": kill_redis}),
    "redis_stopped": Scenario(one_redis(*EVERY_SECOND), {"stop Redis for 3 s": stop_redis}, (4.0, 7.0)),
    "redis_link_cut": Scenario(prepare_redis_link, {"cut the link to Redis": cut_redis_link}, (2.0, 5.0)),
    "connections_cut": Scenario(prepare_cuts, {"cut the clients of a server": cut_clients}),
    "everything": Scenario(
        one_redis(*ALWAYS),
        {"kill a server": kill_server, "kill Redis": kill_redis, "stop Redis for 3 s": stop_redis},
        (1.0, 5.0),
    ),
}
