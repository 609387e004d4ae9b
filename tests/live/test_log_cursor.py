"""Where a room stands in its log: gaps, logs that lost their tail, and what arrives during an append."""

from fairest_protocol.calculation.moves import MOVES
from fairest_server.live.log_cursor import LogCursor
from fairest_server.room.events import Played
from fairest_server.room.steps import LogEntry, LogSlice

MOVE = Played(0, MOVES["sa"])


def entry(index: int, tag: str) -> LogEntry:
    return LogEntry(index, tag, 1_000, MOVE)


def cursor_at(index: int, tag: str) -> LogCursor:
    cursor = LogCursor()
    cursor.index, cursor.tag = index, tag
    return cursor


def test_entries_behind_the_last_one_are_new() -> None:
    log_slice = LogSlice("t3", [entry(4, "t4"), entry(5, "t4")])
    assert cursor_at(3, "t3").new_entries(log_slice) == log_slice.entries


def test_entries_that_were_taken_before_are_left_out() -> None:
    log_slice = LogSlice("t2", [entry(3, "t3"), entry(4, "t4")])
    assert cursor_at(3, "t3").new_entries(log_slice) == [entry(4, "t4")]


def test_a_slice_behind_a_missing_entry_is_a_gap() -> None:
    assert cursor_at(3, "t3").new_entries(LogSlice("t4", [entry(5, "t5")])) is None


def test_a_slice_that_follows_another_entry_of_the_same_index_is_a_gap() -> None:
    """The log has lost its tail and grown again: index 3 is there, under another tag."""
    assert cursor_at(3, "t3").new_entries(LogSlice("another", [entry(4, "t4")])) is None


def test_a_slice_that_holds_our_last_entry_under_another_tag_is_a_gap() -> None:
    assert cursor_at(3, "t3").new_entries(LogSlice("t2", [entry(3, "another"), entry(4, "t4")])) is None


def test_an_empty_log_is_read_from_its_first_entry() -> None:
    assert LogCursor().start_reading() == 0


def test_a_log_is_read_from_our_last_entry_on() -> None:
    assert cursor_at(7, "t7").start_reading() == 6


def test_a_read_that_finds_our_last_entry_is_of_the_same_log() -> None:
    cursor = cursor_at(3, "t3")
    cursor.start_reading()
    assert cursor.holds_last_entry([entry(3, "t3"), entry(4, "t4")])


def test_a_read_that_begins_within_an_append_finds_our_last_entry_behind_others_of_it() -> None:
    cursor = cursor_at(3, "t3")
    cursor.start_reading()
    assert cursor.holds_last_entry([entry(2, "t3"), entry(3, "t3"), entry(4, "t4")])


def test_a_read_that_finds_nothing_is_of_a_log_that_was_lost() -> None:
    cursor = cursor_at(3, "t3")
    cursor.start_reading()
    assert not cursor.holds_last_entry([])


def test_a_read_that_finds_our_index_under_another_tag_is_of_a_log_that_went_back() -> None:
    cursor = cursor_at(3, "t3")
    cursor.start_reading()
    assert not cursor.holds_last_entry([entry(3, "another")])


def test_a_read_is_compared_with_where_it_began() -> None:
    """The room went on while its log was read: by then its last entry is another one."""
    cursor = cursor_at(3, "t3")
    cursor.start_reading()
    cursor.index, cursor.tag = 4, "t4"
    assert cursor.holds_last_entry([entry(3, "t3"), entry(4, "t4")])


def test_a_room_without_a_log_takes_any_first_entry() -> None:
    cursor = LogCursor()
    cursor.start_reading()
    assert cursor.holds_last_entry([])


def test_buffered_slices_come_back_in_order_and_once() -> None:
    cursor, slices = LogCursor(), [LogSlice("", [entry(1, "t1")]), LogSlice("t1", [entry(2, "t2")])]
    for log_slice in slices:
        cursor.buffer(log_slice)
    assert (cursor.take_buffered(), cursor.take_buffered()) == (slices, [])


def test_a_new_cursor_is_certain_and_nothing_was_read_for_it() -> None:
    cursor = LogCursor()
    assert (cursor.end, cursor.is_uncertain, cursor.just_read) == ((0, ""), False, False)


def test_a_read_of_a_log_of_which_nothing_was_taken_finds_whatever_it_holds() -> None:
    cursor = LogCursor()
    cursor.start_reading()
    assert cursor.holds_last_entry([entry(1, "t1")])


def test_a_read_that_finds_our_last_entry_without_a_tag_under_another_one_is_of_another_log() -> None:
    cursor = cursor_at(3, "")
    cursor.start_reading()
    assert not cursor.holds_last_entry([entry(3, "another")])
