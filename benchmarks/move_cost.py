"""What an accepted move costs: validated, appended to Redis, acknowledged, told to the opponent.

A server's own CPU time for each message, beside that of a bare echo and a bare relay under the same load in the same
run, one after the other, five times. Load comes from a process of its own; on two cores it shares one with Redis.
"""

import asyncio
import json
import statistics
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure
from tests.processes import redis_process, serving_fleet

REPEATS = 5
ROOMS = 500
PACED_ROOMS = 50
PACE_SECONDS = 0.3
"""The longest time that somebody thinks; the shortest is a third of it."""
UNLIMITED = (
    *("--connections-per-address", "100000", "--players-per-address", "1000000", "--max-connections", "100000"),
    *("--messages-per-second", "100000", "--messages-burst", "100000"),
)


@dataclass(frozen=True)
class Cost:
    """One run: microseconds of CPU time for each message, of the server and of Redis; how fast it went."""

    server_us: float
    redis_us: float
    per_second: float
    p99_ms: float


def measure_move_cost() -> list[Figure]:
    """Saturated by 500 rooms, then by 50 rooms at a person's pace."""
    figures: list[Figure] = []
    figures += _compare("", asyncio.run(_measure(ROOMS, 0.0, "everysec")), 1.7)
    figures += _compare("_paced", asyncio.run(_measure(PACED_ROOMS, PACE_SECONDS, "everysec")), 2.0)
    always = asyncio.run(_race(ROOMS, 0.0, "always"))
    return [*figures, Figure("move_us_always", always.server_us, "us", "(written down)", holds=True)]


def _compare(suffix: str, costs: dict[str, list[Cost]], goal: float) -> list[Figure]:
    def median(kind: str, field: str) -> float:
        return statistics.median(float(getattr(cost, field)) for cost in costs[kind])

    ratios = [race.server_us / echo.server_us for race, echo in zip(costs["race"], costs["echo"], strict=True)]
    ratio = statistics.median(ratios)
    rows = [
        Figure(f"move_cpu_ratio{suffix}", ratio, "", f"<= {goal}", holds=ratio <= goal),
        Figure(f"move_cpu_ratio{suffix}_spread", max(ratios) - min(ratios), "", "(written down)", holds=True),
        Figure(f"move_us{suffix}", median("race", "server_us"), "us", "(written down)", holds=True),
        Figure(f"move_redis_us{suffix}", median("race", "redis_us"), "us", "(written down)", holds=True),
        Figure(f"echo_us{suffix}", median("echo", "server_us"), "us", "(control)", holds=True),
        Figure(f"relay_us{suffix}", median("relay", "server_us"), "us", "(control)", holds=True),
        Figure(f"move_p99_ms{suffix}", median("race", "p99_ms"), "ms", "(written down)", holds=True),
    ]
    if not suffix:
        speed = median("race", "per_second")
        rows.append(Figure("moves_per_second", speed, "/s", "(as loaded)", holds=True))
    return rows


async def _measure(rooms: int, pace_seconds: float, fsync: str) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {"echo": [], "relay": [], "race": []}
    for repeat in range(REPEATS):
        for kind in ("echo", "relay"):
            async with _control(kind) as (pid, port):
                costs[kind].append(await _load("echo", pid, None, port, rooms, pace_seconds))
        costs["race"].append(await _race(rooms, pace_seconds, fsync))
        told = ", ".join(f"{kind} {each[-1].server_us:.1f} us" for kind, each in costs.items())
        print(f"  {repeat + 1}: {told}, {costs['race'][-1].per_second:.0f} moves/s", file=sys.stderr)
    return costs


async def _race(rooms: int, pace_seconds: float, fsync: str) -> Cost:
    with redis_process("--appendonly", "yes", "--appendfsync", fsync) as redis:
        async with serving_fleet(redis.url) as fleet:
            url = await fleet.start(*UNLIMITED)
            port, pid = int(url.rsplit(":", 1)[1]), fleet.processes[url].pid
            return await _load("race", pid, redis.pid, port, rooms, pace_seconds)


async def _load(kind: str, server: int, redis: int | None, port: int, rooms: int, pace_seconds: float) -> Cost:
    command = [sys.executable, "-m", "benchmarks.load", kind, str(port), str(rooms), "--pace", str(pace_seconds)]
    load = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert load.stdin is not None
    assert load.stdout is not None
    assert await load.stdout.readline() == b"ready\n", "the load did not get ready"
    before, redis_before = cpu_seconds(server), cpu_seconds(redis)
    load.stdin.write(b"\n")
    measured = json.loads(await load.stdout.readline())
    server_us = (cpu_seconds(server) - before) / measured["messages"] * 1e6
    redis_us = (cpu_seconds(redis) - redis_before) / measured["messages"] * 1e6
    load.stdin.write(b"\n")
    await load.wait()
    return Cost(server_us, redis_us, measured["messages"] / measured["seconds"], measured["p99_ms"])


def cpu_seconds(pid: int | None) -> float:
    """CPU time of a process so far, of all its threads."""
    if pid is None:
        return 0.0
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


@asynccontextmanager
async def _control(kind: str) -> AsyncIterator[tuple[int, int]]:
    process: Process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.controls", kind, stdout=PIPE, stderr=DEVNULL
    )
    assert process.stdout is not None
    try:
        yield process.pid, int(await process.stdout.readline())
    finally:
        process.kill()
        await process.wait()
