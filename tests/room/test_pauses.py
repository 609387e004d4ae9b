"""Clocks stand still while no server runs, and a lapsed process loses its connections: both are plain events."""

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import ApplyPauses, Pause, ProcessLapsed, TakeSeat
from fairest_server.room.view import scene, view
from tests.support.races import Table
from tests.support.records import unsigned_record


@pytest.fixture
def table() -> Table:
    made = Table(1)
    made.start()
    return made


def pause(table: Table, seconds: int) -> Pause:
    """Let time pass without a server, and return that pause."""
    start_ms = table.now_ms
    table.now_ms += seconds * 1000
    return Pause(start_ms, table.now_ms)


def test_every_deadline_is_later_by_the_length_of_the_pause(table: Table) -> None:
    before = table.state.next_deadline()
    assert before is not None
    table.submit(ApplyPauses((pause(table, 60),)))
    after = table.state.next_deadline()
    assert after is not None
    assert after.at_ms == before.at_ms + 60_000


def test_a_player_who_was_away_has_as_much_grace_left_as_before(table: Table) -> None:
    table.disconnect(0)
    until_ms = table.state.clocks.away_until_ms[0]
    assert until_ms is not None
    table.submit(ApplyPauses((pause(table, 3600),)))
    assert table.state.clocks.away_until_ms[0] == until_ms + 3_600_000


def test_a_pause_counts_once(table: Table) -> None:
    long = pause(table, 60)
    table.submit(ApplyPauses((long,)))
    assert table.submit(ApplyPauses((long,))) == ()


def test_a_pause_before_the_room_was_created_does_not_count(table: Table) -> None:
    assert table.submit(ApplyPauses((Pause(0, 1000),))) == ()


def test_of_a_pause_that_began_before_the_room_only_the_rest_counts() -> None:
    table = Table(1)
    made_ms = table.state.clocks.paused_until_ms
    idle_ms = table.state.clocks.idle_until_ms
    table.submit(ApplyPauses((Pause(0, made_ms + 5_000),)))
    assert table.state.clocks.idle_until_ms == (None if idle_ms is None else idle_ms + 5_000)


def test_a_viewer_sees_the_new_deadline(table: Table) -> None:
    table.submit(ApplyPauses((pause(table, 60),)))
    for viewer in (0, 1, None):
        deadline = table.state.next_deadline()
        assert deadline is not None
        assert scene(table.state, view(table.steps, viewer)).until_ms == deadline.at_ms


def test_the_duration_of_a_race_does_not_include_pauses(table: Table) -> None:
    table.play(0, "sa")
    table.submit(ApplyPauses((pause(table, 3600),)))
    table.play(0, "resign")
    seen = scene(table.state, view(table.steps, 0))
    assert seen.duration_ms is not None
    assert seen.duration_ms < 60_000
    record = unsigned_record(table)
    times = [event.at_ms or 0 for event in record.rounds[0].events]
    assert times == sorted(times)
    assert times[-1] < 60_000


def test_a_move_stored_during_a_pause_is_recorded_at_its_start(table: Table) -> None:
    """Redis froze after the last heartbeat, and stored a move after that, before the next heartbeat."""
    began = table.now_ms
    table.now_ms += 60_000
    table.play(0, "sa")
    table.submit(ApplyPauses((Pause(began, table.now_ms + 1),)))
    table.play(0, "sb")
    table.play(0, "resign")
    record = unsigned_record(table)
    times = [event.at_ms or 0 for event in record.rounds[0].events]
    assert times == sorted(times)
    assert times[-1] < 60_000


def test_a_race_that_began_within_a_pause_counts_as_begun_at_its_end(table: Table) -> None:
    """After the last heartbeat the race started and a move was made, and only then all servers stopped."""
    last_heartbeat_ms = table.now_ms - 900
    table.play(0, "sa")
    table.now_ms += 10_000
    until_ms = table.now_ms + 1_000
    table.submit(ApplyPauses((Pause(last_heartbeat_ms, until_ms),)))
    table.now_ms = until_ms - 900
    table.play(0, "resign")
    record = unsigned_record(table)
    assert [event.at_ms for event in record.rounds[0].events] == [0, 100]


def test_recorded_times_never_go_back_even_if_pauses_are_timed_by_a_clock_ahead(table: Table) -> None:
    """In a Cluster, the log and the pauses may be on two nodes."""
    table.play(0, "sa")
    table.submit(ApplyPauses((Pause(table.now_ms, table.now_ms + 10_000),)))
    table.play(0, "resign")
    record = unsigned_record(table)
    times = [event.at_ms or 0 for event in record.rounds[0].events]
    assert times == sorted(times)


def test_a_pause_before_the_race_leaves_the_recorded_times_alone() -> None:
    table = Table(1)
    table.seat_both()
    table.submit(ApplyPauses((pause(table, 60),)))
    table.deal()
    table.let_time_pass()
    table.play(0, "resign")
    record = unsigned_record(table)
    assert [event.at_ms for event in record.rounds[0].events] == [1000]


def test_a_pause_in_a_second_round_is_subtracted_from_that_round(table: Table) -> None:
    table.play(0, "resign")
    table.rematch()
    table.deal()
    table.let_time_pass()
    table.play(0, "sa")
    table.submit(ApplyPauses((pause(table, 3600),)))
    table.play(0, "resign")
    record = unsigned_record(table)
    assert (record.rounds[0].events[-1].at_ms or 0) < 60_000


def test_a_closed_room_ignores_pauses() -> None:
    table = Table(1)
    table.disconnect(0)
    table.let_time_pass()
    table.let_time_pass()
    assert table.state.phase is Phase.CLOSED
    assert not table.state.lacks_pause(table.now_ms + 10_000)
    assert table.submit(ApplyPauses((pause(table, 60),))) == ()


def test_a_lapsed_process_loses_only_its_own_connections() -> None:
    table = Table(1, RoomOptions())
    table.submit(TakeSeat("player-1", "bob", "other-7"))
    table.submit(ProcessLapsed(frozenset({"link-0"})))
    assert [seat.connection_id for seat in table.state.seats if seat] == [None, "other-7"]


def test_a_player_who_has_resumed_since_keeps_the_seat_although_the_process_had_lapsed() -> None:
    table = Table(1, RoomOptions())
    table.submit(TakeSeat("player-0", "ann", "link-9", "resume"))
    assert table.submit(ProcessLapsed(frozenset({"link-0"}))) == ()


def test_a_pause_after_a_race_leaves_its_start_alone(table: Table) -> None:
    table.play(0, "resign")
    started_at_ms = table.state.clocks.started_at_ms
    table.submit(ApplyPauses((pause(table, 60),)))
    assert table.state.clocks.started_at_ms == started_at_ms
