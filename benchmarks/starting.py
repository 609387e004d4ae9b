"""How long it takes until a server serves: from nothing to the first handshake; a thousand rooms after a kill -9."""

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
    greets, alone, shared = zip(*(asyncio.run(_return(repeat)) for repeat in range(RETURNS)), strict=True)
    return [
        *median_of("cold_start_s", starts, "s", "<= 1.5", lambda seconds: seconds <= 1.5),
        *median_of("resume_1000_rooms_s", alone, "s", "<= 2", lambda seconds: seconds <= 2),
        *median_of("resume_1000_rooms_s_processes_2", shared, "s"),
        *median_of("echo_connects_2000_s", greets, "s", "(control)"),
    ]


async def _return(repeat: int) -> tuple[float, float, float]:
    """Seconds to a bare server, to one process, and to two, one after the other."""
    greet, alone, shared = await _greet(), await _resume(), await _resume(processes=2)
    print(f"  {repeat + 1}: {greet:.2f} s bare, {alone:.2f} s, {shared:.2f} s to two processes", file=sys.stderr)
    return greet, alone, shared


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
