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
    # Reads what the process had written: a full pipe would stay open.
    ending = asyncio.ensure_future(process.communicate())
    cancelled = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as reason:
            cancelled = reason
    if cancelled is not None:
        raise cancelled
