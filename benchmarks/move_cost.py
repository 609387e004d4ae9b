"""What an accepted move costs: validated, appended to Redis, acknowledged, told to the opponent.

A server's own CPU time for each message, beside that of a bare echo and a bare relay under the same load in the same
run, one after the other, five times. Load comes from a process of its own; on two cores it shares one with Redis.
"""

import asyncio
import statistics
import sys

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import Cost, control, loading, serving

REPEATS = 5
ROOMS = 500
PACED_ROOMS = 50
PACE_SECONDS = 0.3
"""The longest time that somebody thinks; the shortest is a third of it."""
FIRST_MOVES = 4
"""Not measured: what is done for the first time takes longer."""


def measure_move_cost() -> list[Figure]:
    """Saturated by 500 rooms, at half of that, and by 50 rooms at a person's pace."""
    return asyncio.run(_measure_all())


async def _measure_all() -> list[Figure]:
    saturated = await _compare(ROOMS, 0.0)
    paced = await _compare(PACED_ROOMS, PACE_SECONDS)
    speed = statistics.median(cost.per_second for cost in saturated["race"])
    # The mean of a pause is two thirds of the longest one.
    half = await _load("race", ROOMS, 1.5 * 2 * ROOMS / (speed / 2))
    always = await _load("race", ROOMS, 0.0, fsync="always")
    return [
        *_figures("", saturated, 1.7),
        Figure("moves_per_second", speed, "/s", ">= 20000", holds=speed >= 20_000),
        Figure("move_p99_ms_half_load", half.p99_ms, "ms", "< 10", holds=half.p99_ms < 10),
        written_down("moves_per_second_half_load", half.per_second, "/s"),
        written_down("move_us_always", always.server_us, "us"),
        *_figures("_paced", paced, 2.0),
    ]


def _figures(suffix: str, costs: dict[str, list[Cost]], goal: float) -> list[Figure]:
    def median(kind: str, field: str) -> float:
        return statistics.median(float(getattr(cost, field)) for cost in costs[kind])

    ratios = [race.server_us / echo.server_us for race, echo in zip(costs["race"], costs["echo"], strict=True)]
    ratio = statistics.median(ratios)
    return [
        Figure(f"move_cpu_ratio{suffix}", ratio, "", f"<= {goal}", holds=ratio <= goal),
        written_down(f"move_cpu_ratio{suffix}_lowest", min(ratios), ""),
        written_down(f"move_cpu_ratio{suffix}_highest", max(ratios), ""),
        written_down(f"move_over_relay{suffix}", median("race", "server_us") / median("relay", "server_us"), ""),
        written_down(f"move_us{suffix}", median("race", "server_us"), "us"),
        written_down(f"move_redis_us{suffix}", median("race", "redis_us"), "us"),
        Figure(f"echo_us{suffix}", median("echo", "server_us"), "us", "(control)", holds=True),
        Figure(f"relay_us{suffix}", median("relay", "server_us"), "us", "(control)", holds=True),
        written_down(f"move_p99_ms{suffix}", median("race", "p99_ms"), "ms"),
    ]


async def _compare(rooms: int, pace_seconds: float) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {"echo": [], "relay": [], "race": []}
    for repeat in range(REPEATS):
        for kind, each in costs.items():
            each.append(await _load(kind, rooms, pace_seconds))
        told = ", ".join(f"{kind} {each[-1].server_us:.1f} us" for kind, each in costs.items())
        print(f"  {repeat + 1}: {told}, {costs['race'][-1].per_second:.0f} moves/s", file=sys.stderr)
    return costs


async def _load(kind: str, rooms: int, pace_seconds: float, fsync: str = "everysec") -> Cost:
    async with (
        serving(fsync=fsync) if kind == "race" else control(kind) as served,
        loading("race" if kind == "race" else "echo", served, rooms, pace=pace_seconds) as load,
    ):
        await load.move(FIRST_MOVES)
        return await load.move()
