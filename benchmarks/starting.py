"""The time from a cold start to the first handshake, and from a kill -9 to the return of a thousand rooms."""

import asyncio
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE

from websockets.asyncio.client import connect

from benchmarks.figure import Figure, median_of
from benchmarks.under_load import Processes, control, loading, start_servers
from tests.support.processes import SERVER_COMMAND, redis_process, serving_fleet

STARTS = 7
RETURNS = 5
ROOMS = 1_000
MOVES = 24
"""Half of the stock: a thousand races in their middle."""


def measure_starting() -> list[Figure]:
    """Several cold starts on the embedded Redis, and returns of two thousand players."""
    starts = [asyncio.run(_start_cold()) for _ in range(STARTS)]
    bares, alone, shared = zip(*(asyncio.run(_return(repeat)) for repeat in range(RETURNS)), strict=True)
    return [
        *median_of("cold_start_s", starts, "s", "<= 1.5", lambda seconds: seconds <= 1.5),
        *median_of("resume_1000_rooms_s", alone, "s", "<= 2", lambda seconds: seconds <= 2),
        *median_of("resume_1000_rooms_s_processes_2", shared, "s"),
        *median_of("echo_connects_2000_s", bares, "s", "(control)"),
    ]


async def _return(repeat: int) -> tuple[float, float, float]:
    """Return the seconds of a return to a bare server, to one process and to two, measured one after the other."""
    bare, alone, shared = await _connect_bare(), await _resume(), await _resume(processes=2)
    print(f"  {repeat + 1}: {bare:.2f} s bare, {alone:.2f} s, {shared:.2f} s to two processes", file=sys.stderr)
    return bare, alone, shared


async def _start_cold() -> float:
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        since = time.monotonic()
        command = [*SERVER_COMMAND, "--port", "0", "--data-dir", folder]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with connect(url, proxy=None):
            seconds = time.monotonic() - since
        process.terminate()
        await process.wait()
    return seconds


async def _connect_bare() -> float:
    """Return the seconds that the same connections take on a bare server, from the first to the last handshake."""
    async with control("echo") as served, loading("echo", served, ROOMS) as load:
        return await load.resume()


async def _resume(processes: int = 1) -> float:
    """Return the seconds from the first player that reconnects to new processes until the last one is caught up."""
    with redis_process("--appendonly", "yes") as redis:
        async with serving_fleet(redis.url) as fleet:
            port = await start_servers(fleet, processes)
            # The CPU time of processes that are about to be killed is not measured.
            async with loading("race", Processes((), redis.pid, port), ROOMS) as load:
                await load.move(MOVES)
                await fleet.kill_all()
                await start_servers(fleet, processes, port=port)
                return await load.resume()
