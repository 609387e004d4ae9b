"""A room, phase by phase: commands decided and events evolved, without a server."""

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Leave, Play, Ready, Rematch
from fairest_protocol.messages.from_server import Accepted, Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room import events
from fairest_server.room.commands import Disconnect, ExpireDeadline, MarkRecorded, TakeSeat
from fairest_server.room.state import ABANDONED_SECONDS
from tests.support.races import Table, raced, start_next_round

SEATS = (0, 1)


def code(verdict: object) -> str:
    assert isinstance(verdict, Refused)
    return verdict.code


def assert_phase(table: Table, phase: Phase) -> None:
    assert table.state.phase is phase


def round_of(table: Table) -> bytes:
    assert table.state.round is not None
    return table.state.round.round_id


@pytest.fixture
def table() -> Table:
    return Table(1)


@pytest.fixture
def racing(table: Table) -> Table:
    table.start()
    return table


def test_a_room_waits_for_its_second_player(table: Table) -> None:
    assert table.state.phase is Phase.WAITING


def test_a_round_is_opened_before_anybody_is_ready(table: Table) -> None:
    table.seat_both()
    assert table.state.phase is Phase.READY
    assert isinstance(table.steps[-1].event, events.RoundOpened)


def test_phases_follow_one_another_to_the_race(table: Table) -> None:
    table.seat_both()
    entropies = table.get_ready(0, 1)
    assert_phase(table, Phase.DEALING)
    for seat, entropy in entropies.items():
        table.reveal(seat, entropy)
    assert_phase(table, Phase.COUNTDOWN)
    table.let_time_pass()
    assert_phase(table, Phase.RACING)


def test_a_full_room_refuses_a_third_player(table: Table) -> None:
    table.seat_both()
    assert code(table.submit(TakeSeat("player-2", "cyd", "link-2"))) is Refusal.ROOM_FULL


def test_a_player_with_a_seat_comes_back_to_it(racing: Table) -> None:
    racing.submit(Disconnect("link-1"))
    racing.submit(TakeSeat("player-1", "bob", "link-9", to="resume"))
    assert racing.state.seat(1).connection_id == "link-9"


def test_a_request_over_a_replaced_connection_is_refused(racing: Table) -> None:
    old = racing.request(1, Leave())
    racing.submit(TakeSeat("player-1", "bob", "link-9", to="resume"))
    assert code(racing.submit(old)) is Refusal.NOT_SEATED


def test_a_match_is_marked_archived_only_under_its_own_number(racing: Table) -> None:
    racing.play(0, "resign")
    assert racing.submit(MarkRecorded(2)) == ()
    assert racing.state.unrecorded_match


def test_losing_a_replaced_connection_changes_nothing(racing: Table) -> None:
    racing.submit(TakeSeat("player-1", "bob", "link-9", to="resume"))
    assert racing.submit(Disconnect("link-1")) == ()


def test_a_player_who_is_not_ready_in_time_loses_the_seat(table: Table) -> None:
    table.seat_both()
    table.get_ready(0)
    table.let_time_pass()
    assert table.state.phase is Phase.WAITING
    assert [bool(seat) for seat in table.state.seats] == [True, False]


def test_a_player_who_does_not_reveal_in_time_loses_the_round(table: Table) -> None:
    table.seat_both()
    table.deal(revealing=[0])
    table.let_time_pass()
    assert table.state.round is not None
    assert table.state.round.outcome is not None
    assert table.state.round.outcome.winner == 0
    assert table.state.round.outcome.scores[1].ending is Ending.NOT_REVEALED


def test_entropy_that_does_not_match_its_hash_is_refused(table: Table) -> None:
    table.seat_both()
    table.get_ready(0, 1)
    assert code(table.reveal(0, bytes(32))) is Refusal.WRONG_ENTROPY


def test_ready_for_a_round_that_was_called_off_is_refused(table: Table) -> None:
    table.seat_both()
    old = Ready(round=round_of(table), entropy_hash=bytes(32))
    table.submit(table.request(1, Leave()))
    table.seat_both()
    assert code(table.submit(table.request(0, old))) is Refusal.WRONG_ROUND


def test_an_entropy_hash_cannot_be_replaced(table: Table) -> None:
    table.seat_both()
    table.get_ready(0)
    assert (
        code(table.submit(table.request(0, Ready(round=round_of(table), entropy_hash=bytes(32)))))
        is Refusal.ALREADY_READY
    )


def test_leaving_before_both_are_ready_frees_the_seat(table: Table) -> None:
    table.seat_both()
    table.get_ready(0)
    table.submit(table.request(0, Leave()))
    assert table.state.phase is Phase.WAITING
    assert table.state.free_seat() == 0


@pytest.mark.parametrize("phase", [Phase.DEALING, Phase.COUNTDOWN, Phase.RACING])
def test_leaving_after_both_are_ready_is_resigning(table: Table, phase: Phase) -> None:
    table.seat_both()
    entropies = table.get_ready(0, 1)
    if phase is not Phase.DEALING:
        for seat, entropy in entropies.items():
            table.reveal(seat, entropy)
    if phase is Phase.RACING:
        table.let_time_pass()
    table.submit(table.request(1, Leave()))
    finished = next(step for step in table.steps if step.after.phase is Phase.FINISHED)
    assert finished.after.round is not None
    assert finished.after.round.outcome is not None
    assert finished.after.round.outcome.winner == 0
    assert table.state.free_seat() == 1


def test_a_move_before_the_start_is_refused(table: Table) -> None:
    table.seat_both()
    table.deal()
    assert code(table.submit(table.request(0, Play(number=1, move=MOVES["sa"])))) is Refusal.RACE_NOT_STARTED


def test_a_move_after_the_end_is_refused(racing: Table) -> None:
    racing.play(0, "resign")
    assert code(racing.play(1, "sa")) is Refusal.RACE_OVER


def test_a_move_after_stopping_is_refused(racing: Table) -> None:
    racing.play(0, "stop")
    assert code(racing.play(0, "sa")) is Refusal.SEAT_STOPPED


@pytest.mark.parametrize(
    ("number", "refusal"), [(1, Refusal.NUMBER_OLD), (2, Refusal.NUMBER_REPEATED), (4, Refusal.NUMBER_FUTURE)]
)
def test_a_wrong_number_is_refused_for_its_own_reason(racing: Table, number: int, refusal: Refusal) -> None:
    racing.play(0, "sa")
    racing.play(0, "sb")
    assert code(racing.submit(racing.request(0, Play(number=number, move=MOVES["sc"])))) is refusal


def test_the_last_move_sent_again_is_accepted_and_not_made_again(racing: Table) -> None:
    racing.play(0, "sa")
    length = len(racing.steps)
    assert racing.submit(racing.request(0, Play(number=1, move=MOVES["sa"]))) == Accepted(number=1)
    assert len(racing.steps) == length


def test_a_refused_move_does_not_use_its_number(racing: Table) -> None:
    assert code(racing.play(0, "ab")) is Refusal.PILE_TO_PILE
    racing.play(0, "sa")
    assert racing.state.race is not None
    assert racing.state.race.racers[0].moves == 1


def test_a_stuck_player_is_stopped_by_the_rules(racing: Table) -> None:
    for _ in range(48):
        racing.play(0, "sa")
        if racing.state.race and racing.state.race.racers[0].ending:
            break
    assert racing.state.race is not None
    top_fits = not racing.state.race.racers[0].board.is_stuck
    assert top_fits or racing.state.race.racers[0].ending is Ending.STUCK


def test_the_round_ends_at_its_limit(racing: Table) -> None:
    racing.let_time_pass()
    assert racing.state.phase is Phase.FINISHED
    assert racing.state.race is not None
    assert [racer.ending for racer in racing.state.race.racers] == [Ending.OUT_OF_TIME] * 2


def test_once_one_player_has_stopped_the_other_has_the_chase_time(racing: Table) -> None:
    racing.play(0, "stop")
    deadline = racing.state.next_deadline()
    assert deadline is not None
    assert deadline.at_ms == racing.now_ms + 180_000


def test_staying_away_longer_than_the_grace_period_stops_a_seat(racing: Table) -> None:
    racing.submit(Disconnect("link-0"))
    racing.let_time_pass()
    assert racing.state.race is not None
    assert racing.state.race.racers[0].ending is Ending.AWAY
    assert racing.state.race.racers[1].ending is None


def test_coming_back_in_time_stops_the_grace_period(racing: Table) -> None:
    racing.submit(Disconnect("link-0"))
    racing.submit(TakeSeat("player-0", "ann", "link-8", to="resume"))
    assert racing.state.clocks.away_until_ms == (None, None)


def test_a_deadline_that_has_not_passed_changes_nothing(racing: Table) -> None:
    assert racing.submit(ExpireDeadline(racing.now_ms)) == ()


def test_a_room_that_everybody_left_is_closed(table: Table) -> None:
    table.submit(table.request(0, Leave()))
    table.let_time_pass()
    assert table.state.phase is Phase.CLOSED
    assert table.state.next_deadline() is None
    assert table.now_ms >= 1_000_000 + ABANDONED_SECONDS * 1000


def test_a_closed_room_refuses_players(table: Table) -> None:
    table.submit(table.request(0, Leave()))
    table.let_time_pass()
    assert code(table.submit(TakeSeat("player-2", "cyd", "link-2"))) is Refusal.ROOM_CLOSED


def test_a_rematch_needs_both_players(racing: Table) -> None:
    racing.play(0, "resign")
    racing.record_match()
    racing.submit(racing.request(0, Rematch()))
    assert_phase(racing, Phase.FINISHED)
    racing.submit(racing.request(1, Rematch()))
    assert_phase(racing, Phase.READY)
    assert racing.state.matches == 2


def test_a_rematch_waits_for_the_record_of_the_match_before(racing: Table) -> None:
    racing.play(0, "resign")
    for seat in (0, 1):
        racing.submit(racing.request(seat, Rematch()))
    assert_phase(racing, Phase.FINISHED)
    racing.record_match()
    assert_phase(racing, Phase.READY)


def test_a_record_opens_no_rematch_that_one_player_alone_wants(racing: Table) -> None:
    racing.play(0, "resign")
    racing.submit(racing.request(0, Rematch()))
    racing.record_match()
    assert_phase(racing, Phase.FINISHED)


def test_a_rematch_is_refused_during_a_race(racing: Table) -> None:
    assert code(racing.submit(racing.request(0, Rematch()))) is Refusal.WRONG_PHASE


def test_a_player_whose_race_has_ended_asks_the_other_one_to_finish(racing: Table) -> None:
    racing.play(0, "stop")
    assert racing.submit(racing.request(0, AskFinish())) == (events.FinishAsked(seat=0),)


def test_a_second_request_to_finish_is_not_answered_and_not_logged(racing: Table) -> None:
    racing.play(0, "stop")
    racing.submit(racing.request(0, AskFinish()))
    assert racing.submit(racing.request(0, AskFinish())) == ()


def test_nobody_asks_the_other_player_to_finish_before_the_own_end(racing: Table) -> None:
    assert code(racing.submit(racing.request(0, AskFinish()))) is Refusal.WRONG_PHASE


def test_nobody_asks_to_finish_once_the_round_is_over(racing: Table) -> None:
    racing.play(0, "resign")
    assert code(racing.submit(racing.request(0, AskFinish()))) is Refusal.WRONG_PHASE


def test_nobody_asks_to_finish_in_the_countdown(table: Table) -> None:
    table.seat_both()
    table.deal()
    assert code(table.submit(table.request(1, AskFinish()))) is Refusal.WRONG_PHASE


def test_a_request_to_finish_changes_no_deadline_and_no_race(racing: Table) -> None:
    racing.play(0, "stop")
    race, deadline = racing.state.race, racing.state.next_deadline()
    racing.submit(racing.request(0, AskFinish()))
    assert (racing.state.race, racing.state.next_deadline()) == (race, deadline)


def test_a_player_may_ask_to_finish_again_in_the_next_round() -> None:
    table = best_of_three()
    table.play(0, "stop")
    table.submit(table.request(0, AskFinish()))
    table.play(1, "stop")
    start_next_round(table)
    table.play(0, "stop")
    assert table.submit(table.request(0, AskFinish())) == (events.FinishAsked(seat=0),)


def best_of_three() -> Table:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    return table


def test_the_next_round_of_a_match_opens_by_itself() -> None:
    table = best_of_three()
    table.play(0, "resign")
    assert not table.state.match_is_over
    table.let_time_pass()
    assert table.state.phase is Phase.READY
    assert table.state.round is not None
    assert table.state.round.number == 2


def test_a_match_of_three_is_over_after_two_wins() -> None:
    table = best_of_three()
    for _ in range(2):
        table.play(0, "resign")
        if not table.state.match_is_over:
            start_next_round(table)
    assert table.state.match_is_over
    assert [table.state.seat(seat).wins for seat in SEATS] == [0, 2]


def test_a_finished_match_waits_to_be_archived() -> None:
    table = raced(2)
    assert table.state.unrecorded_match
    table.record_match()
    assert not table.state.unrecorded_match
    assert table.submit(MarkRecorded(1)) == ()


def test_if_both_players_stay_away_the_race_ends_and_then_the_room_closes(racing: Table) -> None:
    racing.submit(Disconnect("link-0"))
    racing.submit(Disconnect("link-1"))
    for _ in range(20):
        if racing.state.phase is Phase.CLOSED:
            break
        racing.let_time_pass()
    assert racing.state.phase is Phase.CLOSED
