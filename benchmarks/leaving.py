"""The latency of players while thousands of clients without a room close their connections at the same moment."""

import asyncio
import sys

from benchmarks.figure import Figure, median_of
from benchmarks.under_load import loading, serving

REPEATS = 3
ROOMS = 1_000
PACE_SECONDS = 6.0
"""Two thousand players make five hundred moves a second, so that no player waits behind others."""
LEAVING = 3_000
CALM_SECONDS = 3.0


def measure_leaving() -> list[Figure]:
    """The 99th percentile of the latency of players' moves, while no client leaves and while thousands do."""
    calm, leaving = zip(*(asyncio.run(_measure(repeat)) for repeat in range(REPEATS)), strict=True)
    return [
        *median_of("player_p99_ms_calm", calm, "ms", "(control)"),
        *median_of(f"player_p99_ms_while_{LEAVING}_leave", leaving, "ms"),
    ]


async def _measure(repeat: int) -> tuple[float, float]:
    async with serving() as served, loading("race", served, ROOMS, pace=PACE_SECONDS) as load:
        async with loading("idle", served, LEAVING // 2):
            await load.start()
            calm = await load.rest(CALM_SECONDS)
            # They leave when this context ends, while the players are still measured.
            rest = asyncio.create_task(load.rest(CALM_SECONDS))
        leaving = await rest
    print(f"  {repeat + 1}: {calm.p99_ms:.1f} ms calm, {leaving.p99_ms:.1f} ms while others leave", file=sys.stderr)
    return calm.p99_ms, leaving.p99_ms
