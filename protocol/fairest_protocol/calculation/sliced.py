"""Long computations in slices: pure work that can pause, so that others are served in between."""

from collections.abc import Generator, Iterable
from typing import TypeVar

_Result = TypeVar("_Result")

Sliced = Generator[None, None, _Result]
"""A computation that yields now and then, after 0.2 ms of work or less, and returns its result at the end."""


def collecting(items: Iterable[_Result]) -> Sliced[list[_Result]]:
    """Return these items, each made in a slice of its own."""
    collected: list[_Result] = []
    for item in items:
        collected.append(item)
        yield
    return collected


def finish(work: Sliced[_Result]) -> _Result:
    """Do all of the work at once; return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: _Result = end.value
            return result
