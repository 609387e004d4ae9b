"""The terminal that the program runs in: signals that end the program, a terminal that disappears, the last lines."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final

from textual.driver import Driver

from fairest_cli.text.letters import as_ascii

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

FATAL_SIGNALS: Final = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
CHECK_SECONDS: Final = 2.0
"""Interval between two calls of `is_terminal_gone`."""


def on_fatal_signals(end: Callable[[signal.Signals], None]) -> None:
    """Call `end` in the running event loop when a signal asks the program to end, so that it restores the terminal."""
    loop = asyncio.get_running_loop()
    for number in FATAL_SIGNALS:
        try:
            loop.add_signal_handler(number, end, number)
        except NotImplementedError:  # by the event loops of Windows
            signal.signal(number, lambda caught, _: loop.call_soon_threadsafe(end, signal.Signals(caught)))


def on_lost_terminal(end: Callable[[signal.Signals], None]) -> None:
    """Call `end` with SIGHUP when the program is continued without its terminal. Call it once Textual has started.

    A terminal that disappears sends SIGHUP and SIGCONT. At SIGCONT Textual writes to the terminal from the handler,
    which waits for ever for a writer that has failed, so that the program would neither run nor end.
    """
    if not hasattr(signal, "SIGCONT"):  # Windows
        return
    loop, go_on = asyncio.get_running_loop(), signal.getsignal(signal.SIGCONT)

    def resume(number: int, frame: FrameType | None) -> None:
        if is_terminal_gone():
            loop.call_soon_threadsafe(end, signal.SIGHUP)
        elif callable(go_on):
            go_on(number, frame)

    signal.signal(signal.SIGCONT, resume)


def is_terminal_gone() -> bool:
    """Return whether the terminal no longer exists. On Windows the program ends with its terminal.

    No SIGHUP comes to a process that the terminal did not start, and Textual would go on reading for ever.
    """
    if termios is None:
        return False
    try:
        termios.tcgetattr(sys.__stdin__ or 0)
    except termios.error:
        return True
    return False


def ascii_driver(kind: type[Driver]) -> type[Driver]:
    """Return a driver that works as one of this kind, and writes ASCII in the place of everything else.

    Cards and curves are drawn in ASCII before; this is for frames, bars and dots of the widgets.
    """

    class AsciiDriver(kind):  # type: ignore[misc, valid-type]
        def write(self, data: str) -> None:
            super().write(as_ascii(data))

    return AsciiDriver


def print_last_words(lines: Sequence[str]) -> None:
    """Print `lines` to stderr, after the terminal is restored; do nothing if the terminal is gone."""
    try:
        print(*lines, sep="\n", end="\n" * bool(lines), file=sys.stderr, flush=True)
    except OSError:
        # The buffers still hold text that no terminal takes. Python would end with an exit code of its own when it
        # fails to flush them, so they are flushed to /dev/null.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is not None:
                os.dup2(nowhere, stream.fileno())
