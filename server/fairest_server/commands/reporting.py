"""The output of commands: tables, the progress of a long command, and the sentence with which one fails."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

PROGRESS_SECONDS: Final = 1.0


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, in columns; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def fit_table(rows: Sequence[Sequence[str]], columns: int, head: int) -> list[str]:
    """Return the lines of a table for a terminal of `columns` columns.

    If one would be longer, each row has two lines: its first `head` cells, and indented below them the others.
    """
    lines = format_table(rows)
    if max(map(len, lines)) <= columns:
        return lines
    firsts, seconds = format_table([row[:head] for row in rows]), format_table([row[head:] for row in rows])
    return [line for first, second in zip(firsts, seconds, strict=True) for line in (first, f"  {second}")]


def print_table(rows: Sequence[Sequence[str]], head: int = 0) -> None:
    """Print a table; with `head`, as `fit_table` does if the output is a terminal."""
    is_fitted = head and sys.stdout.isatty()
    lines = fit_table(rows, shutil.get_terminal_size().columns, head) if is_fitted else format_table(rows)
    print("\n".join(lines))


def without_full_stop(reason: Exception) -> str:
    """Return the text of an error for the middle of a sentence: some of redis-py's end with a full stop."""
    return str(reason).rstrip(".")


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
