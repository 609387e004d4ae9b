"""The memory of a server for a connection that does nothing, and for a room whose race has run to its end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.figure import Figure
from benchmarks.under_load import Processes, loading, resident_kib, serving

PAIRS = 1_000
ROOMS = 500
FIRST = 50
"""Pairs that come and go before the first measurement, so that objects made once are not counted."""


def measure_memory() -> list[Figure]:
    """The resident memory of a process that has served other clients before."""
    connection_kib, room_kib, left_kib = asyncio.run(_measure())
    return [
        Figure("idle_connection_kib", connection_kib, "KiB", "<= 25", holds=connection_kib <= 25),
        Figure("room_kib", room_kib, "KiB", "<= 60", holds=room_kib <= 60),
        Figure("memory_left_kib", left_kib, "KiB", "(after all have gone)", holds=True),
    ]


async def _measure() -> tuple[float, float, float]:
    async with _used_server() as (served, server):
        start = resident_kib(server)
        async with loading("idle", served, PAIRS) as load:
            await load.rest(1)
            idle = resident_kib(server)
    async with _used_server() as (served, server):
        before = resident_kib(server)
        async with loading("race", served, ROOMS) as load:
            await load.move()
            await load.rest(1)
            after = resident_kib(server)
        await asyncio.sleep(2)
        left = resident_kib(server)
    return (idle - start) / (2 * PAIRS), (after - before) / ROOMS, left - before


@asynccontextmanager
async def _used_server() -> AsyncIterator[tuple[Processes, int]]:
    """Run a server that has served some races already; yield it and its process id."""
    async with serving() as served:
        async with loading("race", served, FIRST) as load:
            await load.move()
        yield served, served.servers[0]
