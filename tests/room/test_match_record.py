"""A room's log as the records of its matches."""

import pytest

from fairest_protocol.calculation.match_rules import MAX_CALLED_OFF
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedStop
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.from_client import Leave
from fairest_protocol.messages.options import RoomOptions
from fairest_server.room import events
from fairest_server.room.match_record import MatchFold, record_last_match, record_matches
from tests.support.races import Table, race_match, raced
from tests.support.records import unsigned_record

ROOM = "quiet-amber-otter"


@pytest.fixture
def racing() -> Table:
    table = Table(1)
    table.start()
    return table


def since_start(table: Table) -> int:
    """How long after the start of the race the last event happened."""
    started_at_ms = table.state.clocks.started_at_ms
    assert started_at_ms is not None
    return table.steps[-1].at_ms - started_at_ms


def rematch(table: Table) -> None:
    table.rematch()
    table.deal()
    table.let_time_pass()


def test_a_move_is_recorded_with_its_seat_and_its_time(racing: Table) -> None:
    racing.play(0, "sa")
    moved = RecordedMove(since_start(racing), 0, MOVES["sa"])
    racing.play(1, "resign")
    resigned = RecordedMove(since_start(racing), 1, MOVES["resign"])
    (record,) = record_matches(ROOM, racing.steps)
    assert record.rounds[0].events == (moved, resigned)


def test_seats_stopped_by_the_clock_are_recorded(racing: Table) -> None:
    racing.let_time_pass()
    (record,) = record_matches(ROOM, racing.steps)
    assert record.rounds[0].events == (RecordedStop(since_start(racing), (0, 1), Ending.OUT_OF_TIME),)


def test_a_seat_stopped_for_its_absence_is_recorded(racing: Table) -> None:
    racing.disconnect(1)
    racing.let_time_pass()
    away = RecordedStop(since_start(racing), (1,), Ending.AWAY)
    racing.play(0, "stop")
    (record,) = record_matches(ROOM, racing.steps)
    assert record.rounds[0].events == (away, RecordedMove(since_start(racing), 0, MOVES["stop"]))


def record_of_stop_before_start() -> Record:
    """Return the record of a match in which seat 0 was away too long in the countdown."""
    table = Table(1, RoomOptions(countdown_seconds=10, grace_seconds=1))
    table.seat_both()
    table.deal()
    table.disconnect(0)
    table.let_time_pass()
    table.let_time_pass()
    table.play(1, "stop")
    (record,) = record_matches(ROOM, table.steps)
    return record


def test_a_seat_stopped_before_the_start_is_recorded_without_a_time() -> None:
    record = record_of_stop_before_start()
    assert record.rounds[0].events[0] == RecordedStop(None, (0,), Ending.AWAY)


def test_a_seat_stopped_before_the_start_has_turned_no_card() -> None:
    outcome = record_of_stop_before_start().rounds[0].outcome
    assert outcome is not None
    assert [score.cards_turned for score in outcome.scores] == [0, 1]


def test_a_stop_before_the_deal_is_in_the_result_alone() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0, 1)
    table.submit(table.request(1, Leave()))
    (record,) = record_matches(ROOM, table.steps)
    assert record.rounds[0].events == ()
    assert record.rounds[0].outcome is not None
    assert record.rounds[0].outcome.winner == 0


def test_a_rematch_has_a_record_of_its_own(racing: Table) -> None:
    racing.play(0, "resign")
    rematch(racing)
    racing.play(1, "resign")
    opened = [step.event.round for step in racing.steps if isinstance(step.event, events.RoundOpened)]
    records = record_matches(ROOM, racing.steps)
    assert [[played.round_id for played in record.rounds] for record in records] == [[each] for each in opened]
    assert [record.match_id for record in records] == [each.hex() for each in opened]


def test_the_last_record_is_that_of_the_last_match(racing: Table) -> None:
    racing.play(0, "resign")
    rematch(racing)
    racing.play(1, "resign")
    assert record_last_match(ROOM, racing.steps) == record_matches(ROOM, racing.steps)[1]


def test_a_rematch_under_way_leaves_the_record_of_the_match_before(racing: Table) -> None:
    racing.play(0, "resign")
    before = record_last_match(ROOM, racing.steps)
    rematch(racing)
    racing.play(1, "sa")
    assert before is not None
    assert record_matches(ROOM, racing.steps) == [before]


def test_a_match_that_has_rounds_left_has_no_record() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    assert record_matches(ROOM, table.steps) == []


def test_a_match_that_a_player_leaves_between_rounds_is_recorded_as_far_as_it_went() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    table.submit(table.request(0, Leave()))
    (record,) = record_matches(ROOM, table.steps)
    assert len(record.rounds) == 1
    assert record.finished_at_ms == table.steps[-1].at_ms


def test_a_match_is_finished_when_its_last_round_is(racing: Table) -> None:
    racing.play(0, "resign")
    finished_at_ms = racing.steps[-1].at_ms
    racing.disconnect(0)
    (record,) = record_matches(ROOM, racing.steps)
    assert record.finished_at_ms == finished_at_ms


def test_names_hashes_and_entropies_are_recorded_in_the_order_of_the_seats() -> None:
    (record,) = record_matches(ROOM, raced(2).steps)
    (played,) = record.rounds
    hashes = [commit_entropy(played.round_id, seat, entropy or b"") for seat, entropy in enumerate(played.entropies)]
    assert record.names == ("ann", "bob")
    assert list(played.entropy_hashes) == hashes


def test_a_round_of_which_one_entropy_was_shown_is_recorded_with_that_one() -> None:
    table = Table(1)
    table.seat_both()
    entropies = table.get_ready(0, 1)
    table.reveal(1, entropies[1])
    table.let_time_pass()
    (record,) = record_matches(ROOM, table.steps)
    assert record.rounds[0].entropies == (None, entropies[1])


def test_an_empty_log_has_no_records() -> None:
    assert record_matches(ROOM, []) == []


def test_the_record_of_a_match_holds_all_its_rounds() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    race_match(table)
    record = unsigned_record(table)
    assert len([played for played in record.rounds if played.is_dealt]) >= 2
    for number in range(len(record.rounds)):
        *_, (_, race) = record.steps(number)
        assert race.outcome() == record.rounds[number].outcome


def test_a_round_that_was_called_off_is_part_of_the_next_record() -> None:
    table = Table(1)
    table.seat_both()
    table.submit(table.request(1, Leave()))
    table.start()
    table.play(0, "resign")
    record = unsigned_record(table)
    assert [played.is_dealt for played in record.rounds] == [False, True]


def test_a_match_of_which_no_round_was_raced_has_no_record() -> None:
    table = Table(1)
    table.seat_both()
    table.submit(table.request(1, Leave()))
    assert record_matches(ROOM, table.steps) == []


def test_there_is_no_record_before_a_match_is_over(racing: Table) -> None:
    assert record_last_match(ROOM, racing.steps) is None


def test_a_record_lists_the_newest_of_the_rounds_that_were_called_off_before_its_match() -> None:
    table = Table(1)
    for _ in range(MAX_CALLED_OFF + 1):
        table.seat_both()
        table.submit(table.request(1, Leave()))
    called_off = [step.event.round for step in table.steps if isinstance(step.event, events.RoundOpened)]
    table.start()
    table.let_time_pass()
    (record,) = record_matches(ROOM, table.steps)
    assert [played.round_id for played in record.rounds[:-1]] == called_off[1:]


def folded(table: Table) -> MatchFold:
    matches = MatchFold()
    for step in table.steps:
        matches.add(step)
    return matches


def finished_twice() -> Table:
    """Return a room in which a second match is over before the first one has a stored record."""
    table = Table(1)
    table.start()
    table.play(0, "resign")
    table.submit(table.request(1, Leave()))
    table.start()
    table.play(0, "resign")
    return table


def unstored(matches: MatchFold) -> list[Record]:
    return list(matches.recording(ROOM, only_unstored=True))


def test_a_room_without_a_log_has_no_match_to_record() -> None:
    assert MatchFold().unrecorded_match == 0


def test_every_match_is_to_be_recorded_until_the_room_knows_its_record() -> None:
    matches = folded(finished_twice())
    assert len(unstored(matches)) == 2
    assert unstored(matches) == list(matches.recording(ROOM))


def test_a_match_whose_record_the_room_knows_is_not_to_be_recorded_again() -> None:
    table = finished_twice()
    table.record_match()
    matches = folded(table)
    assert (unstored(matches), len(list(matches.recording(ROOM)))) == ([], 2)


def test_matches_whose_records_are_stored_are_forgotten_with_their_players() -> None:
    matches = folded(finished_twice())
    matches.forget_stored()
    assert (list(matches.recording(ROOM)), matches.players) == ([], {})


def test_the_match_after_those_that_were_forgotten_is_to_be_recorded() -> None:
    table = finished_twice()
    table.record_match()
    matches, known = folded(table), len(table.steps)
    matches.forget_stored()
    rematch(table)
    table.play(1, "resign")
    for step in table.steps[known:]:
        matches.add(step)
    assert unstored(matches) == unstored(folded(table))


def test_the_players_of_a_match_are_known_in_the_order_of_its_seats() -> None:
    table = raced(2)
    (record,) = record_matches(ROOM, table.steps)
    assert folded(table).players == {record.match_id: ("player-0", "player-1")}


def test_a_match_that_was_decided_here_is_not_read() -> None:
    assert folded(raced(2)).partly_read == set()


@pytest.mark.parametrize("place", [0.1, 0.5, 0.99])
def test_a_match_of_which_one_step_was_read_is_read(place: float) -> None:
    steps = raced(2).steps
    matches, read = MatchFold(), int(place * len(steps))
    for number, step in enumerate(steps):
        (matches.add_read if number == read else matches.add)(step)
    assert matches.partly_read == {record.match_id for record in matches.recording(ROOM)}


def test_a_match_after_one_that_was_read_is_not_read() -> None:
    matches = MatchFold()
    steps = finished_twice().steps
    opened = next(number for number, step in enumerate(steps) if isinstance(step.event, events.RoundOpened))
    for number, step in enumerate(steps):
        (matches.add_read if number == opened else matches.add)(step)
    first, _ = matches.recording(ROOM)
    assert matches.partly_read == {first.match_id}


def test_a_match_behind_a_round_that_was_called_off_and_read_is_read() -> None:
    table = Table(1)
    table.seat_both()
    table.submit(table.request(1, Leave()))
    known = len(table.steps)
    table.start()
    table.play(0, "resign")
    matches = MatchFold()
    for number, step in enumerate(table.steps):
        (matches.add_read if number == known - 1 else matches.add)(step)
    (record,) = matches.recording(ROOM)
    assert (len(record.rounds), matches.partly_read) == (2, {record.match_id})
