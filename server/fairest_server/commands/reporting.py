"""Lines on standard error: the progress of a long command, and the sentence with which one fails."""

import sys
import time
from collections.abc import Callable
from typing import Final, NoReturn

PROGRESS_SECONDS: Final = 1.0


def make_progress() -> Callable[[str], None]:
    """Return a function that prints a line of progress, at most one in `PROGRESS_SECONDS`; it drops the others."""
    shown_at = time.monotonic()

    def show(line: str) -> None:
        nonlocal shown_at
        if time.monotonic() - shown_at > PROGRESS_SECONDS:
            shown_at = time.monotonic()
            print(f"{line} ...", file=sys.stderr, flush=True)

    return show


def fail(sentence: str) -> NoReturn:
    """Print why a command has failed, and end with exit code 1."""
    print(f"fairest-server: {sentence}", file=sys.stderr)
    raise SystemExit(1)
