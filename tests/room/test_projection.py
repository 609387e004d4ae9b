"""Steps of a log as entries of the wire."""

import pytest

from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import decode_from_server
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fast_encoding import decode_entry
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.from_server import Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.catchup import catching_up, make_catchup
from fairest_server.room.commands import ApplyPauses, Pause
from fairest_server.room.projection import COUNTED_IN_SLICE, StepHistory, project
from fairest_server.room.view import ORIGIN, scene, view
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


def test_an_entry_that_everybody_may_see_at_once_belongs_to_no_seat() -> None:
    shown = [entry for step in raced(3).steps for entry in project(step).entries]
    assert {entry.seat for entry in shown if entry.opens_at is None} == {-1}


def test_a_history_goes_on_with_the_steps_that_it_is_extended_by() -> None:
    steps = raced(3).steps
    history = StepHistory(steps[:20])
    history.extend(steps[20:])
    assert history.steps == steps


def test_a_scene_is_folded_of_the_steps_from_the_opening_of_its_round() -> None:
    history = StepHistory(raced(3).steps)
    opened = next(place for place, step in enumerate(history.steps) if isinstance(step.event, events.RoundOpened))
    assert (history.newest_start(), history.length_of_scene) == (opened, len(history.steps) - opened)


def test_a_race_whose_start_was_moved_past_its_end_by_a_clock_ahead_took_no_time() -> None:
    """In a Cluster, the log and the pauses may be on two nodes."""
    table = Table(1)
    table.start()
    table.submit(ApplyPauses((Pause(table.now_ms, table.now_ms + 10_000),)))
    table.play(0, "resign")
    *_, finished = last_entries(table)
    assert isinstance(finished, entries.RoundFinished) and finished.duration_ms == 0


@pytest.mark.parametrize("seat", [0, 1])
def test_a_snapshot_of_a_round_just_opened_shows_how_long_an_absent_player_keeps_the_seat(seat: int) -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    table.disconnect(seat)
    table.let_time_pass()
    assert isinstance(table.steps[-1].event, events.RoundOpened)
    snapshot = decode_from_server(make_catchup("a-b", StepHistory(table.steps), None, ORIGIN, 0).text)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.scene == scene(table.state, view(table.steps, None))
