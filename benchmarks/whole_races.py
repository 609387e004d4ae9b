"""The cost of whole races, ends and Redis counted, over that of the hand-written race, which stores nothing.

Once saturated: all players of 500 rooms, each of whom moves as soon as the last move was answered. Once the same with
random legal games. Once by independent players, 2,500 moves a second in 250 rooms, each of whom thinks for a random
time: no two of them move together, so that an append holds one move. The kinds of server take turns, and a ratio is
formed within each turn. A relay that stores each message in Redis, and judges nothing, is the least that a server costs
which answers a move when it is stored; `benchmarks.bare_race` is the least that one costs which judges it as well, and
`benchmarks.core_race` with the pure core of our server. The two send batches as far apart as our server does.
"""

import asyncio
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.figure import Figure, median_of, written_down
from benchmarks.under_load import Cost, loading, serving_kind

REPEATS = 5
ROOMS = 500
INDEPENDENT_ROOMS = 250
PACE_SECONDS = 0.3
"""The longest time between two moves of a player, 0.2 s in the mean: 250 rooms make 2,500 moves a second."""
LEAST = ("stored", "bare", "core")
"""Controls that do less than a race of ours has to."""
FIRST_MOVES = 4
"""Not measured, since everything takes longer when it is done for the first time."""
REST_SECONDS = 2.0
"""After the last move; records are made, stored and rated within it."""


@dataclass(frozen=True)
class RaceCost:
    """The cost of whole races, in microseconds of CPU a move: of the server and of Redis."""

    server_us: float
    redis_us: float
    p99_ms: float
    per_second: float

    @property
    def total_us(self) -> float:
        return self.server_us + self.redis_us


def measure_whole_races() -> list[Figure]:
    """The ratios to the hand-written race, saturated and by independent players."""
    return asyncio.run(_measure_all())


async def _measure_all() -> list[Figure]:
    return [
        *_figures("total", await _compare(("handwritten", *LEAST, "race"), ROOMS, 0.0), 0.9),
        *_figures("random", await _compare(("handwritten", "race"), ROOMS, 0.0, "random"), None),
        *_figures("independent", await _compare(("handwritten", *LEAST, "race"), INDEPENDENT_ROOMS, PACE_SECONDS), 1.1),
    ]


def _figures(name: str, costs: dict[str, list[RaceCost]], goal: float | None) -> list[Figure]:
    def ratios(kind: str) -> list[float]:
        return [each.total_us / other.total_us for each, other in zip(costs[kind], costs["handwritten"], strict=True)]

    def median(kind: str, field: str) -> float:
        return statistics.median(float(getattr(cost, field)) for cost in costs[kind])

    return [
        *median_of(f"{name}_ratio", ratios("race"), "", *_goal(goal)),
        *(
            figure
            for kind in LEAST
            if kind in costs
            for figure in _least(f"{name}_{kind}", ratios(kind), median(kind, "total_us"))
        ),
        written_down(f"{name}_server_us", median("race", "server_us"), "us"),
        written_down(f"{name}_redis_us", median("race", "redis_us"), "us"),
        Figure(f"{name}_handwritten_us", median("handwritten", "total_us"), "us", "(control)", holds=True),
        written_down(f"{name}_per_second", median("race", "per_second"), "/s"),
        written_down(f"{name}_p99_ms", median("race", "p99_ms"), "ms"),
        Figure(f"{name}_handwritten_p99_ms", median("handwritten", "p99_ms"), "ms", "(control)", holds=True),
    ]


def _least(name: str, ratios: list[float], total_us: float) -> list[Figure]:
    return [
        *median_of(f"{name}_ratio", ratios, "", "(control)"),
        Figure(f"{name}_us", total_us, "us", "(control)", holds=True),
    ]


def _goal(most: float | None) -> tuple[str, Callable[[float], bool]] | tuple[()]:
    return () if most is None else (f"<= {most:g}", most.__ge__)


async def _compare(
    kinds: tuple[str, ...], rooms: int, pace_seconds: float, games: str = "first-pile"
) -> dict[str, list[RaceCost]]:
    costs: dict[str, list[RaceCost]] = {kind: [] for kind in kinds}
    for repeat in range(REPEATS):
        for kind, each in costs.items():
            each.append(await _race(kind, rooms, pace_seconds, games))
        shown = ", ".join(
            f"{kind} {each[-1].server_us:.1f} + {each[-1].redis_us:.1f} us" for kind, each in costs.items()
        )
        print(f"  {repeat + 1}: {shown}", file=sys.stderr)
    return costs


async def _race(kind: str, rooms: int, pace_seconds: float, games: str) -> RaceCost:
    """Measure from the first moves to the last record, without what a process takes at rest after it."""
    load = "race" if kind == "race" else "echo"
    async with serving_kind(kind) as served, loading(load, served, rooms, pace=pace_seconds, games=games) as loader:
        await loader.move(FIRST_MOVES)
        moved = await loader.move()
        settled = await loader.rest(REST_SECONDS)
        idle = await loader.rest(REST_SECONDS)
    return RaceCost(
        server_us=moved.server_us + _share(settled.server_us - idle.server_us, moved),
        redis_us=moved.redis_us + _share(settled.redis_us - idle.redis_us, moved),
        p99_ms=moved.p99_ms,
        per_second=moved.per_second,
    )


def _share(settled_us: float, moved: Cost) -> float:
    """Return the part of each move in what came after the last one, all of which counts as one message."""
    return settled_us / moved.messages
