"""The cost of spectators: CPU of the server for each of them and each move, and latency for the players.

The fan-out gathers moves for a moment, so that under load several moves share a frame. Three measures: ten spectators
on each of 50 saturated matches; a thousand on one match at the pace of a fast player, one of which never reads; and ten
on each of 100 matches at the pace of a person. The last two also have the delay with which they are shown a move.
"""

import asyncio
import statistics
import sys
from dataclasses import dataclass, replace

from benchmarks.figure import Figure, median_of, written_down
from benchmarks.move_cost import FIRST_MOVES, MEASURED_MOVES
from benchmarks.under_load import Cost, Loader, control, loading, serving

REPEATS = 5
ROOMS = 50
SPECTATORS = 10
SPECTATOR_COUNT = 1_000
PACE_SECONDS = 0.15
TIMED = 10
"""Of the thousand, so many come first and so many last, and note when they are shown a move."""
CROWD_DELIVERY_GOAL_MS = 1_200
"""A frame for a thousand takes half a second (`FRAMES_PER_SECOND`), and the one before may be under way."""
MATCHES = 100
MATCHES_REPEATS = 3
PERSONS_PACE_SECONDS = 0.6
PERSONS_MOVES = 20
DELIVERY_GOAL_MS = 150
"""Entries are collected for 50 ms, and ten frames are one burst."""


def measure_spectators() -> list[Figure]:
    """The first two measures, each beside its control of the same run."""
    turns = asyncio.run(_measure_cost())
    ratios = [(turn.watched_us - turn.alone_us) / SPECTATORS / turn.echo_us for turn in turns]
    alone, watched = asyncio.run(_measure_with_spectators())
    return [
        *median_of("spectator_ratio", ratios, "", "<= 0.2", lambda ratio: ratio <= 0.2),
        written_down("spectator_frames_per_move", statistics.median(turn.frames / SPECTATORS for turn in turns), ""),
        written_down("watched_50_move_us_alone", statistics.median(turn.alone_us for turn in turns), "us"),
        written_down("watched_50_move_us", statistics.median(turn.watched_us for turn in turns), "us"),
        Figure("watched_50_echo_us", statistics.median(turn.echo_us for turn in turns), "us", "(control)", holds=True),
        _p99_figure("player_p99_with_spectators", alone, watched),
        *median_of("player_p99_ms_alone", [cost.p99_ms for cost in alone], "ms"),
        *median_of("player_p99_ms_with_spectators", [cost.p99_ms for cost in watched], "ms"),
        *_cost_and_delivery("crowd", alone, watched, SPECTATOR_COUNT, CROWD_DELIVERY_GOAL_MS),
    ]


def measure_watched_matches() -> list[Figure]:
    """Ten spectators on each of 100 matches, beside the same matches without them."""
    alone, watched = asyncio.run(_measure_many_matches())
    return [
        _p99_figure("matches_100_player_p99", alone, watched),
        *_cost_and_delivery("matches_100", alone, watched, SPECTATORS, DELIVERY_GOAL_MS),
    ]


def _p99_figure(figure: str, alone: list[Cost], watched: list[Cost]) -> Figure:
    """The 99th percentile of the players' moves beside spectators over that without them."""
    without_ms = statistics.median(cost.p99_ms for cost in alone)
    with_ms = statistics.median(cost.p99_ms for cost in watched)
    holds = with_ms <= 1.5 * without_ms or with_ms <= without_ms + 2
    return Figure(figure, with_ms / without_ms, "", "<= 1.5, or + 2 ms", holds=holds)


def _cost_and_delivery(
    name: str, alone: list[Cost], watched: list[Cost], spectators: int, goal_ms: float
) -> list[Figure]:
    """CPU of the server for a move without and with spectators, for one of them, and the delay of what they see."""
    without_us = statistics.median(cost.server_us for cost in alone)
    with_us = statistics.median(cost.server_us for cost in watched)
    p99 = [cost.delivery_p99_ms for cost in watched]
    return [
        written_down(f"{name}_move_us_alone", without_us, "us"),
        written_down(f"{name}_move_us_watched", with_us, "us"),
        written_down(f"{name}_move_us_each_spectator", (with_us - without_us) / spectators, "us"),
        *median_of(f"{name}_delivery_p50_ms", [cost.delivery_p50_ms for cost in watched], "ms"),
        *median_of(f"{name}_delivery_p99_ms", p99, "ms", f"<= {goal_ms}", lambda ms: ms <= goal_ms),
    ]


@dataclass(frozen=True)
class _Turn:
    """CPU for a message of an echo, and for a move without and with spectators; the frames to them for each move."""

    echo_us: float
    alone_us: float
    watched_us: float
    frames: float


async def _measure_cost() -> list[_Turn]:
    turns: list[_Turn] = []
    for repeat in range(REPEATS):
        async with control("echo") as served, loading("echo", served, ROOMS) as load:
            echo_us = (await load.move()).server_us
        without_us, _ = await _race(spectators=0)
        watched_us, frames_per_move = await _race(spectators=SPECTATORS)
        turns.append(_Turn(echo_us, without_us, watched_us, frames_per_move))
        costs = f"{without_us:.1f} us, watched {watched_us:.1f} us, echo {echo_us:.1f} us"
        print(f"  {repeat + 1}: {costs}", file=sys.stderr)
    return turns


async def _race(spectators: int) -> tuple[float, float]:
    """Server us, and frames to spectators, for each move in the middle of races with this many spectators each.

    Frames that are on their way to spectators after the last of these moves are counted.
    """
    async with serving() as served, loading("race", served, ROOMS, spectators=spectators) as load:
        before = await load.move(FIRST_MOVES)
        cost = await load.move(MEASURED_MOVES)
        settled = await load.rest(0.5)
    server_us = cost.server_us + settled.server_seconds / cost.messages * 1e6
    return server_us, (settled.spectator_frames - before.spectator_frames) / cost.messages


async def _measure_with_spectators() -> tuple[list[Cost], list[Cost]]:
    """For each run, the costs of the two players' moves, without and with many spectators.

    All but a few spectators are in a process of their own, so that their reading is not in the time of the moves.
    """
    alone: list[Cost] = []
    watched: list[Cost] = []
    async with serving() as served:
        for repeat in range(REPEATS):
            async with loading("race", served, 1, pace=PACE_SECONDS) as load:
                alone.append(await load.move())
            async with loading("race", served, 1, pace=PACE_SECONDS) as load:
                code = (await load.move(1)).code
                await load.watch(TIMED)
                count = SPECTATOR_COUNT - 2 * TIMED
                async with loading("spectators", served, 1, spectators=count, stalled=1, code=code):
                    await load.watch(TIMED)
                    watched.append(await _move_and_settle(load))
            _report(repeat, alone[-1], watched[-1])
    return alone, watched


async def _measure_many_matches() -> tuple[list[Cost], list[Cost]]:
    """For each run, the costs of the moves in many matches, without and then with some spectators on each."""
    alone: list[Cost] = []
    watched: list[Cost] = []
    for repeat in range(MATCHES_REPEATS):
        async with serving() as served, loading("race", served, MATCHES, pace=PERSONS_PACE_SECONDS) as load:
            alone.append(await load.move(PERSONS_MOVES))
            code = alone[-1].code
            async with loading("spectators", served, 1, spectators=SPECTATORS - 1, code=code):
                await load.watch(1)
                watched.append(await _move_and_settle(load, PERSONS_MOVES))
        _report(repeat, alone[-1], watched[-1])
    return alone, watched


async def _move_and_settle(load: Loader, count: int = 1_000) -> Cost:
    """Return the cost of these moves, with work and delays of the frames that are still under way after them."""
    cost = await load.move(count)
    settled = await load.rest(1.5)
    return replace(
        cost,
        server_us=cost.server_us + settled.server_seconds / cost.messages * 1e6,
        delivery_p50_ms=settled.delivery_p50_ms,
        delivery_p99_ms=settled.delivery_p99_ms,
    )


def _report(repeat: int, alone: Cost, watched: Cost) -> None:
    latency = f"{alone.p99_ms:.1f} ms alone, {watched.p99_ms:.1f} ms watched"
    delivery = f"shown after {watched.delivery_p50_ms:.0f} ms, p99 {watched.delivery_p99_ms:.0f} ms"
    print(
        f"  {repeat + 1}: {latency}; {alone.server_us:.0f} and {watched.server_us:.0f} us; {delivery}", file=sys.stderr
    )
