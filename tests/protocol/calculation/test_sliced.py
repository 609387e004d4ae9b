"""Long work in slices: what it returns, and how much of it each slice does."""

import pytest

from fairest_protocol.calculation.sliced import COLLECTED_IN_SLICE, collecting, finish


@pytest.mark.parametrize("count", [0, 1, COLLECTED_IN_SLICE, 2 * COLLECTED_IN_SLICE + 1])
def test_all_items_are_collected_in_their_order(count: int) -> None:
    assert finish(collecting(iter(range(count)))) == list(range(count))


def test_a_slice_makes_sixteen_items() -> None:
    numbers = iter(range(100))
    next(collecting(numbers))
    assert next(numbers) == COLLECTED_IN_SLICE == 16
