"""How long it takes until a server serves: from nothing to the first handshake; a thousand rooms after a kill -9."""

import asyncio
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE

from websockets.asyncio.client import connect

from benchmarks.figure import Figure, written_down
from benchmarks.under_load import Processes, control, loading, start_servers
from tests.processes import redis_process, serving_fleet

STARTS = 7
ROOMS = 1_000
MOVES = 24
"""Half of the stock: a thousand races in their middle."""


def measure_starting() -> list[Figure]:
    """The median of several cold starts on the embedded Redis; one return of two thousand players."""
    starts = [asyncio.run(_start_cold()) for _ in range(STARTS)]
    cold = statistics.median(starts)
    resume, shared, greet = asyncio.run(_resume()), asyncio.run(_resume(processes=2)), asyncio.run(_greet())
    return [
        Figure("cold_start_s", cold, "s", "<= 1.5", holds=cold <= 1.5),
        written_down("cold_start_s_longest", max(starts), "s"),
        Figure("resume_1000_rooms_s", resume, "s", "<= 2", holds=resume <= 2),
        written_down("resume_1000_rooms_s_processes_2", shared, "s"),
        Figure("echo_connects_2000_s", greet, "s", "(control)", holds=True),
    ]


async def _start_cold() -> float:
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        since = time.monotonic()
        command = [sys.executable, "-m", "server", "--port", "0", "--data-dir", folder]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with connect(url, proxy=None):
            seconds = time.monotonic() - since
        process.terminate()
        await process.wait()
    return seconds


async def _greet() -> float:
    """The same connections to a bare server, which says nothing: from the first to the last handshake."""
    async with control("echo") as served, loading("echo", served, ROOMS) as load:
        return await load.resume()


async def _resume(processes: int = 1) -> float:
    """From the first of the players who come back to new processes to the last who has seen what it missed."""
    with redis_process("--appendonly", "yes") as redis:
        async with serving_fleet(redis.url) as fleet:
            port = await start_servers(fleet, processes)
            # Processes that are about to be killed are not weighed.
            async with loading("race", Processes((), redis.pid, port), ROOMS) as load:
                await load.move(MOVES)
                await fleet.kill_all()
                await start_servers(fleet, processes, port=port)
                return await load.resume()
