"""The cost of spectators: CPU of the server for each of them and each move, and latency for the players.

The fan-out gathers moves for a moment, so that under load several moves share a frame. Two measures: ten spectators on
each of 50 saturated matches, and a thousand on one match at the pace of a fast player, one of which never reads.
"""

import asyncio
import statistics
import sys

from benchmarks.figure import Figure, median_of, written_down
from benchmarks.move_cost import FIRST_MOVES, MEASURED_MOVES
from benchmarks.under_load import control, loading, serving

REPEATS = 5
ROOMS = 50
SPECTATORS = 10
SPECTATOR_COUNT = 1_000
PACE_SECONDS = 0.15


def measure_spectators() -> list[Figure]:
    """Both measures, each beside its control of the same run."""
    ratios, frames = asyncio.run(_measure_cost())
    alone, watched = asyncio.run(_measure_with_spectators())
    p99_alone, p99_watched = statistics.median(alone), statistics.median(watched)
    holds = p99_watched <= 1.5 * p99_alone or p99_watched <= p99_alone + 2
    return [
        *median_of("spectator_ratio", ratios, "", "<= 0.2", lambda ratio: ratio <= 0.2),
        written_down("spectator_frames_per_move", statistics.median(frames), ""),
        Figure("player_p99_with_spectators", p99_watched / p99_alone, "", "<= 1.5, or + 2 ms", holds=holds),
        *median_of("player_p99_ms_alone", alone, "ms"),
        *median_of("player_p99_ms_with_spectators", watched, "ms"),
    ]


async def _measure_cost() -> tuple[list[float], list[float]]:
    """For each run, the cost of a spectator and move over an echo, and the frames that a spectator got for a move."""
    ratios: list[float] = []
    frames: list[float] = []
    for repeat in range(REPEATS):
        async with control("echo") as served, loading("echo", served, ROOMS) as load:
            echo_us = (await load.move()).server_us
        without_us, _ = await _race(spectators=0)
        watched_us, frames_per_move = await _race(spectators=SPECTATORS)
        ratios.append((watched_us - without_us) / SPECTATORS / echo_us)
        frames.append(frames_per_move / SPECTATORS)
        costs = f"{without_us:.1f} us, watched {watched_us:.1f} us, echo {echo_us:.1f} us"
        print(f"  {repeat + 1}: {costs}", file=sys.stderr)
    return ratios, frames


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


async def _measure_with_spectators() -> tuple[list[float], list[float]]:
    """For each run, the 99th percentile in ms of the two players' moves, without and with many spectators.

    The spectators are in a process of their own, so that their reading is not in the time of the moves.
    """
    alone: list[float] = []
    watched: list[float] = []
    async with serving() as served:
        for repeat in range(REPEATS):
            async with loading("race", served, 1, pace=PACE_SECONDS) as load:
                alone.append((await load.move()).p99_ms)
            async with loading("race", served, 1, pace=PACE_SECONDS) as load:
                code = (await load.move(1)).code
                async with loading("spectators", served, 1, spectators=SPECTATOR_COUNT, stalled=1, code=code):
                    watched.append((await load.move()).p99_ms)
            print(f"  {repeat + 1}: {alone[-1]:.1f} ms alone, {watched[-1]:.1f} ms watched", file=sys.stderr)
    return alone, watched
