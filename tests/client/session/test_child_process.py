"""A child process is gone when its end returns, even if the task that ends it is cancelled again and again."""

import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from fairest_cli.session.child_process import kill_and_wait
from tests.support.waiting import PATIENCE_SECONDS

SLEEPER = "import time; print('x' * 300_000, flush=True); time.sleep(60)"


async def start() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", SLEEPER, stdin=PIPE, stdout=PIPE)


async def test_a_process_with_a_full_pipe_ends() -> None:
    # With this limit the reader stops after the first of what the process writes, and the rest fills the pipe.
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SLEEPER, stdin=PIPE, stdout=PIPE, limit=1)
    assert process.stdout is not None
    await process.stdout.readexactly(1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await kill_and_wait(process)
    assert process.returncode == -9


async def test_a_process_that_has_ended_is_not_killed_again() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "", stdin=PIPE, stdout=PIPE)
    await process.wait()
    await kill_and_wait(process)
    assert process.returncode == 0


async def test_a_task_that_is_cancelled_three_times_leaves_no_process() -> None:
    process = await start()
    ending = asyncio.create_task(kill_and_wait(process))
    for _ in range(3):
        await asyncio.sleep(0)
        ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert process.returncode == -9


def test_a_program_that_ends_meanwhile_leaves_no_process() -> None:
    started: list[asyncio.subprocess.Process] = []

    async def end_while_it_ends() -> None:
        started.append(await start())
        ending = asyncio.create_task(kill_and_wait(started[0]))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.sleep(0)
        # All tasks are cancelled now.

    asyncio.run(end_while_it_ends())
    assert started[0].returncode == -9
