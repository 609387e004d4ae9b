"""When a slice of the log goes on where a reader's log ends."""

import pytest

from fairest_server.room.events import MatchPublished
from fairest_server.room.steps import LogEntry, LogSlice

ENTRIES = tuple(LogEntry(index, f"tag{index}", 0, MatchPublished()) for index in (5, 6, 7))
SLICE = LogSlice("tag4", ENTRIES)


def test_a_slice_without_entries_continues_any_log() -> None:
    assert LogSlice("", ()).continues(3, "tag3")


def test_a_slice_continues_the_log_that_ends_right_before_it() -> None:
    assert SLICE.continues(4, "tag4")


@pytest.mark.parametrize("index", [5, 6, 7])
def test_a_slice_continues_the_log_that_ends_with_one_of_its_entries(index: int) -> None:
    assert SLICE.continues(index, f"tag{index}")


def test_a_slice_of_older_entries_continues_a_log() -> None:
    assert SLICE.continues(8, "tag8")


@pytest.mark.parametrize("index", [4, 5, 6, 7])
def test_a_slice_does_not_continue_a_log_that_has_another_entry_there(index: int) -> None:
    assert not SLICE.continues(index, "other")


@pytest.mark.parametrize("index", [2, 3])
def test_a_slice_does_not_continue_a_log_that_lacks_entries_before_it(index: int) -> None:
    assert not SLICE.continues(index, "tag4")
