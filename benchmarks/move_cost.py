"""The cost of an accepted move: validated, appended to Redis, acknowledged, shown to the opponent.

A server's own CPU time for each message, beside that of a bare echo, a bare relay, a hand-written race that stores
nothing (in Python, and on Node), a relay that stores every message without checking it, and bare races that judge it as
well, under the same load in the same run, in turns, five times. Load comes from a process of its own; on two cores it
shares one with Redis. The end of a race, once for all of its moves, is a figure of its own.
"""

import asyncio
import statistics
import sys
from contextlib import AbstractAsyncContextManager

from benchmarks.figure import Figure, median_of, written_down
from benchmarks.under_load import Cost, Loader, Processes, loading, serving, serving_kind

REPEATS = 5
ROOMS = 500
PACED_ROOMS = 50
PACE_SECONDS = 0.3
"""The longest time between two moves of a player; the shortest is a third of it."""
FIRST_MOVES = 4
"""Not measured, since everything takes longer when it is done for the first time."""
MEASURED_MOVES = 40
"""Of each player. The last few of a race are left out, since its end is a figure of its own."""
REST_SECONDS = 2.0
"""After the last move; records are made, stored and rated within it."""
CONTROLS = ("echo", "relay", "handwritten", "stored", "bare", "core", "node")
NODE_GOAL = ("<= 1.3", (1.3).__ge__)
MOST_RACE_END_US = 500.0
"""A float: an int cannot be compared with one by `__ge__`."""


def measure_move_cost() -> list[Figure]:
    """Saturated by 500 rooms, at half of that, and by 50 rooms at a person's pace."""
    return asyncio.run(_measure_all())


async def _measure_all() -> list[Figure]:
    saturated = await _compare(ROOMS, 0.0)
    paced = await _compare(PACED_ROOMS, PACE_SECONDS)
    speeds = [cost.per_second for cost in saturated["race"]]
    # The mean of a pause is two thirds of the longest one.
    pace_seconds = 1.5 * 2 * ROOMS / (statistics.median(speeds) / 2)
    half = {kind: await _load_half(kind, pace_seconds) for kind in ("echo", "handwritten", "race")}
    always = await _load("race", ROOMS, 0.0, fsync="always")
    ends_us = [await _end_races() for _ in range(REPEATS)]
    return [
        *_figures("", saturated, 0.9),
        *median_of("moves_per_second", speeds, "/s", ">= 20000", lambda speed: speed >= 20_000),
        *median_of("move_p99_ms_half_load", half["race"], "ms", "< 10", lambda p99: p99 < 10),
        *median_of("echo_p99_ms_half_load", half["echo"], "ms", "(control)"),
        *median_of("handwritten_p99_ms_half_load", half["handwritten"], "ms", "(control)"),
        written_down("move_us_always", always.server_us, "us"),
        *median_of("race_end_us", ends_us, "us", f"<= {MOST_RACE_END_US:g}", MOST_RACE_END_US.__ge__),
        *_figures("_paced", paced, 1.4),
    ]


def _figures(suffix: str, costs: dict[str, list[Cost]], goal: float) -> list[Figure]:
    def median(kind: str, field: str) -> float:
        return statistics.median(float(getattr(cost, field)) for cost in costs[kind])

    def ratios_to(kind: str) -> list[float]:
        return [race.server_us / other.server_us for race, other in zip(costs["race"], costs[kind], strict=True)]

    def over(kind: str) -> float:
        return statistics.median(ratios_to(kind))

    return [
        *median_of(f"move_cpu_ratio{suffix}", ratios_to("echo"), "", f"<= {goal}", lambda ratio: ratio <= goal),
        *(written_down(f"move_over_{kind}{suffix}", over(kind), "") for kind in CONTROLS[1:-1]),
        *median_of(f"move_over_node{suffix}", ratios_to("node"), "", *(() if suffix else NODE_GOAL)),
        written_down(f"move_us{suffix}", median("race", "server_us"), "us"),
        written_down(f"move_redis_us{suffix}", median("race", "redis_us"), "us"),
        *(Figure(f"{kind}_us{suffix}", median(kind, "server_us"), "us", "(control)", holds=True) for kind in CONTROLS),
        written_down(f"move_p99_ms{suffix}", median("race", "p99_ms"), "ms"),
    ]


async def _compare(rooms: int, pace_seconds: float) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {kind: [] for kind in (*CONTROLS, "race")}
    for repeat in range(REPEATS):
        for kind, each in costs.items():
            each.append(await _load(kind, rooms, pace_seconds))
        costs_us = ", ".join(f"{kind} {each[-1].server_us:.1f} us" for kind, each in costs.items())
        print(f"  {repeat + 1}: {costs_us}, {costs['race'][-1].per_second:.0f} moves/s", file=sys.stderr)
    return costs


async def _load_half(kind: str, pace_seconds: float) -> list[float]:
    """The 99th percentiles in ms of four parts of a race.

    The end is left out: here all races end, and are stored, in the same second. Controls get as many messages a second.
    """
    async with serving_kind(kind) as served, _loading(kind, served, ROOMS, pace_seconds) as load:
        await load.move(FIRST_MOVES)
        return [(await load.move(10)).p99_ms for _ in range(4)]


async def _load(kind: str, rooms: int, pace_seconds: float, fsync: str = "everysec") -> Cost:
    async with serving_kind(kind, fsync) as served, _loading(kind, served, rooms, pace_seconds) as load:
        await load.move(FIRST_MOVES)
        return await load.move(MEASURED_MOVES)


def _loading(kind: str, served: Processes, rooms: int, pace_seconds: float) -> AbstractAsyncContextManager[Loader]:
    return loading("race" if kind == "race" else "echo", served, rooms, pace=pace_seconds)


async def _end_races() -> float:
    """CPU time of the end of a race beyond its moves: the record made, signed, stored and counted for the ratings.

    Each of the last moves counts as much as one before in the same races. The time that the server takes at rest, when
    nothing is left to do, is subtracted.
    """
    async with serving() as served, loading("race", served, ROOMS) as load:
        await load.move(FIRST_MOVES)
        moves = await load.move(MEASURED_MOVES)
        last = await load.move()
        settled = await load.rest(REST_SECONDS)
        idle = await load.rest(REST_SECONDS)
    after_us = (settled.server_seconds - idle.server_seconds) * 1e6
    return ((last.server_us - moves.server_us) * last.messages + after_us) / ROOMS
