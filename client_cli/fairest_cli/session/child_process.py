"""The end of a child process, which leaves nothing behind however often the task that ends it is cancelled."""

import asyncio
from contextlib import suppress


async def kill_and_wait(process: asyncio.subprocess.Process) -> None:
    """Kill `process` if it runs, and return once it has ended and its pipes are closed.

    Safe to cancel, also repeatedly: the cancellation is raised after the end, which a killed process does not put off.
    """
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
    cancelled = None
    # No task of its own waits: a program that ends cancels all tasks, also those that are shielded.
    while process.returncode is None or (process.stdout is not None and not process.stdout.at_eof()):
        try:
            if process.stdout is not None:
                # First: a process counts as ended once its pipes are closed, and a full one is closed when it is read.
                await process.stdout.read()
            await process.wait()
        except asyncio.CancelledError as reason:
            cancelled = reason
    if cancelled is not None:
        raise cancelled
