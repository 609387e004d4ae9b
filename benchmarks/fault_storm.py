"""Two minutes of random faults, after which the history of every race must be right.

Server processes and Redis (append-only, fsync always) are killed and frozen; the links between clients and servers, and
between servers and Redis, are slowed, stalled, cut and left half-open. Afterwards the history checker compares
the view of every player and spectator with the log that is left.
"""

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from redis.exceptions import RedisError

from benchmarks.figure import Figure
from fairest_protocol.messages.options import RoomOptions
from fairest_server.store.log import Log
from fairest_server.store.redis.clients import make_client
from tests.support.bots import Match, start_match
from tests.support.faulty_link import FaultyLink, faulty_link
from tests.support.history import check_history
from tests.support.processes import Fleet, RedisProcess, redis_process

SECONDS = 120.0
SERVERS = 3
RACES_AT_ONCE = 6
PACE_SECONDS = 0.05
BETWEEN_SECONDS = 0.2, 1.5
OPTIONS = RoomOptions(countdown_seconds=0)


@dataclass
class Server:
    """A server process between two faulty links: to its clients, and to Redis."""

    fleet: Fleet
    to_clients: FaultyLink
    to_redis: FaultyLink
    url: str = ""

    async def start(self) -> None:
        self.url = await self.fleet.start()
        self.to_clients.redirect(("127.0.0.1", int(self.url.rsplit(":", 1)[1])))

    async def kill(self) -> None:
        await self.fleet.kill(self.url)
        await self.start()


@dataclass
class FaultStorm:
    """The parts that may fail, the faults so far, and the problems that were found."""

    redis: RedisProcess
    servers: list[Server]
    chance: random.Random
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    races: int = 0
    moves: int = 0

    async def fail_once(self) -> None:
        """Make one random fault, and end it."""
        links = [link for server in self.servers for link in (server.to_clients, server.to_redis)]
        link, server = self.chance.choice(links), self.chance.choice(self.servers)
        faults: list[Callable[[], Awaitable[None]]] = [
            server.kill,
            self._kill_redis,
            self._freeze_redis,
            lambda: self._stall(link),
            lambda: self._slow(link),
            lambda: self._cut(link),
            lambda: self._half_open(link),
        ]
        number = self.chance.randrange(len(faults))
        names = "server killed", "redis killed", "redis frozen", "stalled", "slow", "cut", "half-open"
        self.counts[names[number]] = self.counts.get(names[number], 0) + 1
        await faults[number]()

    async def _kill_redis(self) -> None:
        self.redis.kill()
        await asyncio.to_thread(self.redis.start)

    async def _freeze_redis(self) -> None:
        self.redis.freeze()
        await self._pass(3.5)
        self.redis.thaw()

    async def _stall(self, link: FaultyLink) -> None:
        link.stall()
        await self._pass(3.5)
        link.flow()

    async def _slow(self, link: FaultyLink) -> None:
        link.latency_seconds = self.chance.uniform(0.0, 0.1)
        await self._pass(2.0)
        link.latency_seconds = 0.0

    async def _cut(self, link: FaultyLink) -> None:
        link.reset()

    async def _half_open(self, link: FaultyLink) -> None:
        link.half_open()

    async def _pass(self, most_seconds: float) -> None:
        await asyncio.sleep(self.chance.uniform(0.1, most_seconds))


def measure_fault_storm() -> list[Figure]:
    """The numbers of races, acknowledged moves and faults, and the problems that the history checker found."""
    storm = asyncio.run(_measure())
    faults = sum(storm.counts.values())
    for problem in storm.problems[:20]:
        print(f"  {problem}", file=sys.stderr)
    print(f"  {storm.counts}", file=sys.stderr)
    return [
        Figure("fault_storm_problems", len(storm.problems), "problems", "0", holds=not storm.problems),
        Figure("fault_storm_faults", faults, "faults", "(written down)", holds=True),
        Figure("fault_storm_races", storm.races, "races", "(written down)", holds=True),
        Figure("fault_storm_moves", storm.moves, "moves", "(written down)", holds=True),
    ]


async def _measure() -> FaultStorm:
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(redis_process("--appendonly", "yes", "--appendfsync", "always"))
        servers = []
        for _ in range(SERVERS):
            to_redis = await stack.enter_async_context(faulty_link(redis.socket))
            to_clients = await stack.enter_async_context(faulty_link(redis.socket))
            servers.append(Server(Fleet(to_redis.url), to_clients, to_redis))
            stack.push_async_callback(servers[-1].fleet.kill_all)
            await servers[-1].start()
        storm = FaultStorm(redis, servers, random.Random(1))
        until = time.monotonic() + SECONDS
        async with asyncio.TaskGroup() as tasks:
            failing = tasks.create_task(_keep_failing(storm))
            playing = [tasks.create_task(_play(storm, number, until)) for number in range(RACES_AT_ONCE)]
            await asyncio.wait(playing)
            failing.cancel()
        return storm


async def _keep_failing(storm: FaultStorm) -> None:
    while True:
        await asyncio.sleep(storm.chance.uniform(*BETWEEN_SECONDS))
        await storm.fail_once()
        if sum(storm.counts.values()) % 20 == 0:
            print(f"  {sum(storm.counts.values())} faults, {storm.races} races ...", file=sys.stderr)


async def _play(storm: FaultStorm, number: int, until: float) -> None:
    """Play one race after the other, each with its players and spectators."""
    seed = number
    while time.monotonic() < until:
        seed += RACES_AT_ONCE
        urls = [f"ws://127.0.0.1:{server.to_clients.port}" for server in storm.servers]
        storm.chance.shuffle(urls)
        match = await start_match(tuple(urls), OPTIONS, seed, PACE_SECONDS)
        await match.end()
        await _check(storm, match)


async def _check(storm: FaultStorm, match: Match) -> None:
    while True:
        try:
            async with make_client(storm.redis.url) as redis:
                logged = await Log(redis).read(match.room)
            break
        except (OSError, RedisError):
            # A fault has just killed Redis.
            await asyncio.sleep(0.1)
    storm.problems += [f"{match.room}: {problem}" for problem in check_history(match.room, logged, match.transcripts)]
    storm.races += 1
    storm.moves += sum(len(player.acknowledged) for player in match.players)
