"""Lines of standard input, from a prompt, a keyboard or a pipe, read without blocking the event loop."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Final

READ_BYTES: Final = 4096


def terminal_kind() -> str:
    """Return the kind of the terminal: TERM, or on Windows, which does not set it, the system's name."""
    return os.environ.get("TERM", "windows" if sys.platform == "win32" else "")


def can_draw() -> bool:
    """Return whether standard input and output are a terminal that can draw: one on which a cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and terminal_kind() not in ("dumb", "")


def typed_lines() -> AsyncIterator[str]:
    """Yield the lines of standard input until it ends."""
    return StandardInput().lines()


class StandardInput:
    """The lines of standard input, for one reader after the other: no line is lost between two.

    A daemon thread reads a file descriptor. A thread that waits inside `sys.stdin` would hold its lock, and the
    interpreter could not end; one of an executor would hold up the end of the event loop until a line is typed.
    """

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_read = False

    async def lines(self) -> AsyncIterator[str]:
        """Yield the lines that no reader has had, until the input ends. Safe to cancel."""
        if not self._is_read:
            self._is_read = True
            arguments = os.dup(sys.stdin.fileno()), asyncio.get_running_loop(), self._lines
            threading.Thread(target=_read, args=arguments, daemon=True).start()
        while (line := await self._lines.get()) is not None:
            yield line
        # The input has ended for the next reader, too.
        self._lines.put_nowait(None)


@contextmanager
def reading_lines(*, has_prompt: bool = True) -> Iterator[Callable[[], AsyncIterator[str]]]:
    """Return a function that yields the typed lines, while standard output goes above the prompt.

    Without a terminal that can draw, or without `has_prompt`, the lines of standard input are yielded as they come.
    """
    if not (has_prompt and can_draw()):
        yield StandardInput().lines
        return
    # The library of the prompt takes an eighth of the time in which the program starts: it is loaded where it is used.
    from fairest_cli.text.prompt import Prompt

    prompt = Prompt()
    with prompt.printing():
        yield prompt.lines


def _read(descriptor: int, loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[str | None]") -> None:
    """Read lines from a descriptor of our own, and close it at the end of the input or of the event loop."""
    with open(descriptor, "rb", buffering=0) as typed:
        rest = b""
        while True:
            try:
                chunk = typed.read(READ_BYTES) or b""
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
                # The event loop is closed: the race has ended before the input.
                return
