"""Lines typed by a person or written to a pipe, without holding up the event loop."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import Final

READ_BYTES: Final = 4096


async def typed_lines() -> AsyncIterator[str]:
    """Standard input line by line until it ends.

    A thread reads the file descriptor itself: a thread that waits inside `sys.stdin` would hold its lock and keep the
    interpreter from ending.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    reader = threading.Thread(target=_read, args=(sys.stdin.fileno(), loop, lines), daemon=True)
    reader.start()
    while (line := await lines.get()) is not None:
        yield line


def _read(descriptor: int, loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[str | None]") -> None:
    rest = b""
    while True:
        try:
            chunk = os.read(descriptor, READ_BYTES)
        except OSError:
            chunk = b""
        *whole, rest = (rest + chunk).split(b"\n")
        if not chunk and rest:
            whole.append(rest)
        try:
            for line in whole:
                loop.call_soon_threadsafe(lines.put_nowait, line.decode(errors="replace").strip())
            if not chunk:
                loop.call_soon_threadsafe(lines.put_nowait, None)
                return
        except RuntimeError:
            # The loop is closed: the race ended before the typing did.
            return
