"""Long computations in slices: pure work that can pause, so that others are served in between."""

from collections.abc import Generator, Iterable
from itertools import islice
from typing import Final, TypeVar

_Result = TypeVar("_Result")

Sliced = Generator[None, None, _Result]
"""A computation that yields now and then, after 0.2 ms of work or less, and returns its result at the end."""

COLLECTED_IN_SLICE: Final = 16
"""To end the slice after each item would take a tenth of the time of a record's line."""


def collecting(items: Iterable[_Result]) -> Sliced[list[_Result]]:
    """Return these items, of which each takes 10 us or less: a few in each slice."""
    collected: list[_Result] = []
    making = iter(items)
    while some := list(islice(making, COLLECTED_IN_SLICE)):
        collected += some
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
