"""Clocks stand still while nobody serves, and a process that is gone takes its links with it: both as plain events."""

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Rematch
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room.commands import ApplyPauses, Pause, ProcessLapsed, TakeSeat
from fairest_server.room.match_record import record_last_match
from fairest_server.room.view import scene, view
from tests.support.races import Table


@pytest.fixture
def table() -> Table:
    made = Table(1)
    made.start()
    return made


def pause(table: Table, seconds: int) -> Pause:
    """From now on nobody is there for so long."""
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
    table.lose_link(0)
    until_ms = table.state.clocks.away_until_ms[0]
    assert until_ms is not None
    table.submit(ApplyPauses((pause(table, 3600),)))
    assert table.state.clocks.away_until_ms[0] == until_ms + 3_600_000


def test_a_pause_counts_once(table: Table) -> None:
    long = pause(table, 60)
    table.submit(ApplyPauses((long,)))
    assert table.submit(ApplyPauses((long,))) == ()


def test_pauses_before_the_room_was_made_do_not_count(table: Table) -> None:
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
        assert scene(table.state, view(table.steps, viewer)).deadline_ms == deadline.at_ms


def test_the_time_of_a_race_is_the_time_that_was_raced(table: Table) -> None:
    table.play(0, "sa")
    table.submit(ApplyPauses((pause(table, 3600),)))
    table.play(0, "resign")
    seen = scene(table.state, view(table.steps, 0))
    assert seen.duration_ms is not None
    assert seen.duration_ms < 60_000
    record = record_last_match("a-b", table.steps)
    assert record is not None
    times = [event.at_ms for event in record.rounds[0].events]
    assert times == sorted(times)
    assert times[-1] < 60_000


def test_a_move_taken_while_the_clock_stood_still_is_recorded_at_that_moment(table: Table) -> None:
    """Redis froze after the last beat and took a move when it thawed, before anybody beat again."""
    began = table.now_ms
    table.now_ms += 60_000
    table.play(0, "sa")
    table.submit(ApplyPauses((Pause(began, table.now_ms + 1),)))
    table.play(0, "sb")
    table.play(0, "resign")
    record = record_last_match("a-b", table.steps)
    assert record is not None
    times = [event.at_ms for event in record.rounds[0].events]
    assert times == sorted(times)
    assert times[-1] < 60_000


def test_a_race_that_began_after_the_last_beat_began_when_the_pause_was_over(table: Table) -> None:
    """Somebody beat, the race started, a move was made, and only then nobody was there."""
    last_beat_ms = table.now_ms - 900
    table.play(0, "sa")
    table.now_ms += 10_000
    until_ms = table.now_ms + 1_000
    table.submit(ApplyPauses((Pause(last_beat_ms, until_ms),)))
    table.now_ms = until_ms - 900
    table.play(0, "resign")
    record = record_last_match("a-b", table.steps)
    assert record is not None
    assert [event.at_ms for event in record.rounds[0].events] == [0, 100]


def test_no_time_goes_back_where_a_room_is_kept_by_a_clock_behind_that_of_the_pauses(table: Table) -> None:
    """They are kept by two nodes of a Cluster."""
    table.play(0, "sa")
    table.submit(ApplyPauses((Pause(table.now_ms, table.now_ms + 10_000),)))
    table.play(0, "resign")
    record = record_last_match("a-b", table.steps)
    assert record is not None
    times = [event.at_ms for event in record.rounds[0].events]
    assert times == sorted(times)


def test_a_pause_in_a_second_round_is_taken_out_of_that_round(table: Table) -> None:
    table.play(0, "resign")
    table.submit(table.request(0, Rematch()))
    table.submit(table.request(1, Rematch()))
    table.deal()
    table.let_time_pass()
    table.play(0, "sa")
    table.submit(ApplyPauses((pause(table, 3600),)))
    table.play(0, "resign")
    record = record_last_match("a-b", table.steps)
    assert record is not None
    assert record.rounds[0].events[-1].at_ms < 60_000


def test_a_closed_room_has_no_clocks_left() -> None:
    table = Table(1)
    table.lose_link(0)
    table.let_time_pass()
    table.let_time_pass()
    assert table.state.phase is Phase.CLOSED
    assert not table.state.lacks_pause(table.now_ms + 10_000)
    assert table.submit(ApplyPauses((pause(table, 60),))) == ()


def test_a_process_that_is_gone_takes_its_own_links_only() -> None:
    table = Table(1, RoomOptions())
    table.submit(TakeSeat("player-1", "bob", "other-7"))
    table.submit(ProcessLapsed("link"))
    assert [seat.connection_id for seat in table.state.seats if seat] == [None, "other-7"]


def test_a_process_is_known_by_its_whole_name() -> None:
    table = Table(1, RoomOptions())
    assert table.submit(ProcessLapsed("lin")) == ()
