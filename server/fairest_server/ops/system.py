"""Differences of operating systems: Windows lacks uvloop, Unix sockets, shared ports, and signals of the event loop."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine

from fairest_server.settings import Settings


def describe_what_is_missing(settings: Settings) -> str | None:
    """Return a sentence about a setting that this system cannot serve, and the remedy; None if it can serve all."""
    if hasattr(asyncio, "open_unix_connection"):
        return None
    if settings.redis_url is None:
        return (
            "the embedded Redis needs Unix sockets, which this system lacks; join a server of others with --server "
            "ws://host:port, or give fairest-server a --redis-url"
        )
    if settings.workers > 1 or settings.ends_with_input:
        option = "--workers" if settings.workers > 1 else "--ends-with-input"
        return f"{option} needs a Unix; start one process for each port with --redis-url, without this option"
    return None


def run_event_loop(serving: Coroutine[None, None, None]) -> None:
    """Run a coroutine to its end, on uvloop where there is one."""
    try:
        import uvloop  # noqa: PLC0415 - Windows has none
    except ImportError:
        # The default loop of Windows cannot watch the sockets that this server accepts by itself.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(serving)
    else:
        uvloop.run(serving)


def on_signals(handle: Callable[[], None], *names: str) -> None:
    """Call `handle` in the running event loop at these signals, as far as the system knows them."""
    loop = asyncio.get_running_loop()
    for number in [signal.Signals[name] for name in names if hasattr(signal, name)]:
        try:
            loop.add_signal_handler(number, handle)
        except NotImplementedError:  # by the event loops of Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(handle))


def dies_with_terminal() -> bool:
    """Return whether the end of the terminal should end this process. `nohup` ignores SIGHUP for its program."""
    return hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN and has_terminal()


def has_terminal() -> bool:
    """Whether this process has a controlling terminal that is still there: a closed one ends its programs by SIGHUP."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
