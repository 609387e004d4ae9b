"""Steps of a log as entries of the wire."""

import pytest

from fairest_protocol.messages import entries
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.catchup import catching_up
from fairest_server.room.projection import COUNTED_IN_SLICE, StepHistory, project
from fairest_server.room.view import ORIGIN
from tests.support.races import Table, race_match, raced


def last_entries(table: Table) -> list[Entry]:
    return [decode_entry(entry.text) for entry in project(table.steps[-1]).entries]


@pytest.mark.parametrize("seat", [0, 1])
def test_leaving_an_open_round_voids_it_and_opens_its_secret(seat: int) -> None:
    table = Table(1)
    table.seat_both()
    opened = table.state.round
    assert opened is not None
    table.submit(table.request(seat, Leave()))
    assert last_entries(table) == [
        entries.RoundVoided(round=opened.round_id, secret=opened.secret),
        entries.SeatFreed(seat=1 if seat else 0, reason="left"),
    ]


@pytest.mark.parametrize("seat", [0, 1])
def test_leaving_after_a_race_does_not_void_its_round(seat: int) -> None:
    table = raced(2)
    table.submit(table.request(seat, Leave()))
    assert last_entries(table) == [entries.SeatFreed(seat=1 if seat else 0, reason="left")]


def test_leaving_during_a_race_does_not_void_its_round() -> None:
    table = Table(1)
    table.start()
    table.submit(table.request(1, Leave()))
    assert last_entries(table) == [entries.SeatFreed(seat=1, reason="left")]


def test_leaving_a_room_without_a_round_voids_nothing() -> None:
    table = Table(1)
    table.submit(table.request(0, Leave()))
    assert last_entries(table) == [entries.SeatFreed(seat=0, reason="left")]


@pytest.mark.parametrize(("limit", "chase", "least"), [(1100, 130, 130), (100, 130, 100)])
def test_a_seat_that_misses_the_start_leaves_the_other_one_the_chase_time_from_then(
    limit: int, chase: int, least: int
) -> None:
    options = RoomOptions(limit_seconds=limit, chase_seconds=chase, grace_seconds=1, countdown_seconds=10)
    table = Table(1, options)
    table.seat_both()
    table.deal()
    starts_at_ms = table.state.clocks.phase_until_ms
    assert starts_at_ms is not None
    table.disconnect(0)
    table.let_time_pass()
    assert last_entries(table) == [entries.Stopped(seat=0, until_ms=starts_at_ms + least * 1000)]


def test_a_round_that_ends_before_its_race_took_no_time() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0, 1)
    table.let_time_pass()
    (finished,) = last_entries(table)
    assert isinstance(finished, entries.RoundFinished)
    assert finished.duration_ms == 0


def test_the_entries_of_a_log_are_counted_in_slices() -> None:
    steps = raced(3).steps
    sliced, whole = StepHistory(list(steps)), StepHistory(list(steps))
    assert sum(1 for _ in sliced.counting()) == -(-len(steps) // COUNTED_IN_SLICE)
    places = range(len(steps))
    assert [sliced.count(place) for place in places] == [whole.count(place) for place in places]


def test_the_first_message_to_a_viewer_counts_no_long_log_at_once() -> None:
    table = Table(3, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    history = StepHistory(table.steps)
    next(catching_up("a-room", history, None, ORIGIN, lambda: 0))
    assert len(list(history.counting())) >= len(history.steps) // COUNTED_IN_SLICE - 1
