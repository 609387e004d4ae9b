"""The client's own clock, by which it holds the server to the times that it was promised."""

import time
from typing import Final

# CLOCK_BOOTTIME goes on while the machine sleeps. CLOCK_MONOTONIC does so on macOS, and `monotonic` on Windows.
_CLOCK_ID: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def _elapsed_seconds() -> float:
    return time.monotonic() if _CLOCK_ID is None else time.clock_gettime(_CLOCK_ID)


_STARTED_AT: Final = time.time() - _elapsed_seconds()


def now_ms() -> int:
    """Return the milliseconds since 1970: by this machine's clock when the program started, and counted from there.

    It never goes back and never jumps, also if somebody sets the machine's clock; it goes on while the machine sleeps.
    """
    return int((_STARTED_AT + _elapsed_seconds()) * 1000)


class OwnClock:
    """The same time as an object, with a way to wait for a moment."""

    def now_ms(self) -> int:
        """Return the milliseconds since 1970, as the function does."""
        return now_ms()

    def wait_until(self, at_ms: int) -> None:
        """Sleep until it is `at_ms`."""
        time.sleep(max(0, at_ms - now_ms()) / 1000)
