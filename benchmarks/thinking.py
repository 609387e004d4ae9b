"""The delay of moves at the server, and as their players see it, while ten experts think on the same machine.

Ten people race, each against a program that is a process of its own with a worker, as `fairest bot` starts it. They
make a move a second. The control is the same with programs that do not think.
"""

import asyncio
import math
import os
import re
import sys
import tempfile
import urllib.request
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure, written_down
from fairest_cli.bots.levels import Level
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_protocol.calculation.moves import MOVES, RESIGN
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create
from fairest_protocol.messages.options import RoomOptions
from tests.support.ports import free_port
from tests.support.processes import CLIENT_COMMAND, redis_process, serving_fleet

PEOPLE = 10
MOVES_EACH = 40
"""Moves of each person, one a second; ten experts think for longer than that on two cores."""
PACES = {Level.CARELESS: "1", Level.EXPERT: "0"}
"""A program of the control makes a move a second; an expert plays as fast as it has thought, so it always thinks."""
START_SECONDS = 240.0
BUCKET = re.compile(r'^(fairest_(?:move|loop_delay)_seconds)_bucket\{le="([^"]+)"\} ([0-9.e+]+)$', re.MULTILINE)


@dataclass(frozen=True)
class Delays:
    """Milliseconds: of the people's moves, sorted, and the buckets of the server that hold its 99th percentiles."""

    seen_ms: tuple[float, ...]
    server_ms: float
    loop_ms: float

    def percentile(self, percent: int) -> float:
        return self.seen_ms[min(len(self.seen_ms) - 1, len(self.seen_ms) * percent // 100)]


def measure_thinking() -> list[Figure]:
    """The delay of a move with ten careless programs, then with ten experts, and the load of the machine."""
    figures: list[Figure] = []
    control: Delays | None = None
    for level, name in ((Level.CARELESS, "control"), (Level.EXPERT, "experts")):
        delays = asyncio.run(_measure(level))
        load = os.getloadavg()[0]
        print(f"  {name}: {len(delays.seen_ms)} moves, load average {load:.1f}", file=sys.stderr)
        figures += [
            _judged(f"thinking_{name}_server_p99_at_most", delays.server_ms, control.server_ms if control else None),
            written_down(f"thinking_{name}_server_loop_p99_at_most", delays.loop_ms, "ms"),
            written_down(f"thinking_{name}_opponent_p50", delays.percentile(50), "ms"),
            _judged(
                f"thinking_{name}_opponent_p99", delays.percentile(99), control.percentile(99) if control else None
            ),
            written_down(f"thinking_{name}_load_average", load, ""),
        ]
        control = delays
    return figures


def _judged(name: str, value_ms: float, control_ms: float | None) -> Figure:
    """Return a delay with its goal: too short to see, or on a machine that is busy anyway, twice the control's."""
    if control_ms is None:
        return written_down(name, value_ms, "ms")
    return Figure(name, value_ms, "ms", "<= 50, or twice the control", value_ms <= max(50, 2 * control_ms))


async def _measure(level: Level) -> Delays:
    admin_port = free_port()
    with redis_process() as redis, tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start("--admin-port", str(admin_port))
            people = [Person(url) for _ in range(PEOPLE)]
            try:
                rooms = await asyncio.gather(*(person.enter() for person in people))
                async with _programs(url, rooms, level, Path(folder)):
                    async with asyncio.timeout(START_SECONDS):
                        await asyncio.gather(*(person.start() for person in people))
                    before = await asyncio.to_thread(_scrape, admin_port)
                    await asyncio.gather(*(person.race(at / PEOPLE) for at, person in enumerate(people)))
                    after = await asyncio.to_thread(_scrape, admin_port)
            finally:
                await asyncio.gather(*(person.close() for person in people))
    server_ms, loop_ms = (_percentile_99(before, after, f"fairest_{name}_seconds") for name in ("move", "loop_delay"))
    return Delays(tuple(sorted(delay for person in people for delay in person.delays_ms)), server_ms, loop_ms)


class Person:
    """A player who opens a room and makes a move a second, and notes how long each took to be acknowledged."""

    def __init__(self, url: str) -> None:
        options = RoomOptions(countdown_seconds=0)
        self._connection = Connection(url, Identity(), Create(options=options))
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.delays_ms: list[float] = []

    async def enter(self) -> str:
        self._task = asyncio.create_task(self._follow())
        return await self._connection.entered()

    async def start(self) -> None:
        """Get ready, and return once the race is on."""
        await self._until(Phase.READY)
        await self._connection.get_ready()
        await self._until(Phase.RACING)

    async def race(self, offset_seconds: float) -> None:
        """Make the moves, the first one after `offset_seconds`, and resign."""
        clock = asyncio.get_running_loop().time
        started = clock() + offset_seconds
        for number in range(MOVES_EACH):
            await asyncio.sleep(max(0.0, started + number - clock()))
            if self._connection.model.phase is not Phase.RACING:
                return
            began = clock()
            await self._connection.play(MOVES["sa"])
            while self._connection.model.sent and self._connection.model.phase is Phase.RACING:
                await self._change()
            self.delays_ms.append(1000 * (clock() - began))
        await self._connection.play(RESIGN)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _until(self, phase: Phase) -> None:
        while self._connection.model.phase is not phase:
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _follow(self) -> None:
        async for _ in self._connection.updates():
            self._changed.set()


@asynccontextmanager
async def _programs(url: str, rooms: list[str], level: Level, home: Path) -> AsyncIterator[None]:
    """A program in each room, as a process of its own."""
    environment = {**os.environ, "HOME": str(home)}
    processes = [
        await asyncio.create_subprocess_exec(
            *(*CLIENT_COMMAND, "bot", room, "--level", level, "--pace", PACES[level], "--server", url),
            stdout=DEVNULL,
            stderr=DEVNULL,
            env=environment,
        )
        for room in rooms
    ]
    try:
        yield
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _scrape(admin_port: int) -> dict[str, dict[float, float]]:
    """Return the cumulative counts of the server's histograms of delays, by their upper limits in seconds."""
    with urllib.request.urlopen(f"http://127.0.0.1:{admin_port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    counts: dict[str, dict[float, float]] = {}
    for name, limit, count in BUCKET.findall(text):
        counts.setdefault(name, {})[math.inf if limit == "+Inf" else float(limit)] = float(count)
    return counts


def _percentile_99(before: dict[str, dict[float, float]], after: dict[str, dict[float, float]], name: str) -> float:
    """Return the upper limit, in milliseconds, of the bucket that holds the 99th percentile."""
    grown = {limit: count - before.get(name, {}).get(limit, 0.0) for limit, count in after[name].items()}
    return 1000 * min(limit for limit, count in grown.items() if count >= 0.99 * grown[math.inf])
