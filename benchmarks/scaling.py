"""Does a move cost more where there are more rooms; and what do two worker processes do that one does not?

The first at one and the same rate of moves, spread over all rooms there are, less what the process does while nobody
moves. The second saturated. On two cores, two workers share them with Redis and with the load.
"""

import asyncio
import resource
import statistics
import sys
from collections.abc import Sequence

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import Cost, loading, serving

MOVES_PER_SECOND = 1_000
SETTLED = 100
ROOMS = (10, SETTLED, 1_000)
MOST_ROOMS = 10_000
"""Or as many as the system allows descriptors for: two connections a room, and a few more."""
MOVES = 4_000
REST_SECONDS = 3.0
REPEATS = 3
"""Of the smaller ones; ten thousand rooms take minutes to fill."""
WORKERS_ROOMS = 500


def measure_scaling() -> list[Figure]:
    """The cost of a move by rooms, over that at 100; moves a second and their cost, by workers."""
    most = min(MOST_ROOMS, (_allowed_descriptors() - 200) // 2)
    return asyncio.run(_measure((*ROOMS, most)))


async def _measure(counts: Sequence[int]) -> list[Figure]:
    by_rooms = {rooms: await _cost_of_a_move(rooms) for rooms in counts}
    figures = [
        Figure(
            f"room_scaling_{rooms}",
            cost / by_rooms[SETTLED],
            "",
            "0.8 to 1.2",
            holds=0.8 <= cost / by_rooms[SETTLED] <= 1.2,
        )
        for rooms, cost in by_rooms.items()
        if rooms != SETTLED
    ]
    figures.append(written_down("room_scaling_us_at_100", by_rooms[SETTLED], "us"))
    for workers in (1, 2):
        costs = [await _saturate(workers) for _ in range(REPEATS)]
        speed = statistics.median(cost.per_second for cost in costs)
        figures += [
            written_down(f"moves_per_second_workers_{workers}", speed, "/s"),
            written_down(f"move_us_workers_{workers}", statistics.median(cost.server_us for cost in costs), "us"),
        ]
    return figures


async def _cost_of_a_move(rooms: int) -> float:
    """Microseconds of the server's CPU time."""
    costs: list[float] = []
    # Each of two players pauses for two thirds of this on average.
    pace_seconds = 1.5 * 2 * rooms / MOVES_PER_SECOND
    async with serving() as served:
        for _ in range(REPEATS if rooms in ROOMS else 1):
            async with loading("race", served, rooms, pace=pace_seconds) as load:
                await load.move(1)
                rested = await load.rest(REST_SECONDS)
                cost = await load.move(max(1, min(47, MOVES // (2 * rooms))))
                idle_seconds = rested.server_seconds / rested.seconds * cost.seconds
                costs.append((cost.server_seconds - idle_seconds) / cost.messages * 1e6)
            print(f"  {rooms} rooms: {costs[-1]:.1f} us, {cost.per_second:.0f} moves/s", file=sys.stderr)
    return statistics.median(costs)


async def _saturate(workers: int) -> Cost:
    async with serving(processes=workers) as served, loading("race", served, WORKERS_ROOMS) as load:
        await load.move(4)
        cost = await load.move()
    print(f"  {workers} workers: {cost.per_second:.0f} moves/s, {cost.server_us:.1f} us", file=sys.stderr)
    return cost


def _allowed_descriptors() -> int:
    """As many as a process may have open: this one, and those that it starts, from here on."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
