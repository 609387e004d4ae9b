"""Answers to commands that are not in the phases of tests/room/test_room.py."""

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Leave, Rematch
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import replace
from fairest_server.room.commands import (
    CloseRoom,
    Command,
    CreateRoom,
    ExpireDeadline,
    MakeMove,
    MarkRecorded,
    PlayerRequest,
    ProcessLapsed,
    TakeSeat,
)
from fairest_server.room.decide import decide
from fairest_server.room.events import (
    Attached,
    Detached,
    MatchPublished,
    RoomClosed,
    RoundOpened,
    SeatFreed,
    SeatsStopped,
)
from fairest_server.room.projection import project
from fairest_server.room.refusing import refuse_for_now
from tests.support.races import Table
from tests.support.records import signed_record, text_of


@pytest.mark.parametrize(
    ("command", "to", "number"),
    [
        (MakeMove("link-0", 7, MOVES["sa"]), "play", 7),
        (PlayerRequest("link-0", Rematch()), "rematch", None),
        (PlayerRequest("link-0", AskFinish()), "ask_finish", None),
        (TakeSeat("player-0", "ann", "link-0", to="resume"), "resume", None),
        (CreateRoom(RoomOptions(), "player-0", "ann", "link-0"), "create", None),
    ],
)
def test_a_command_that_cannot_be_decided_now_may_be_tried_again(command: Command, to: str, number: int | None) -> None:
    refused = refuse_for_now(command)
    assert (refused.to, refused.code, refused.number) == (to, Refusal.TRY_AGAIN, number)


def test_a_room_with_rules_that_are_not_played_is_refused_in_a_sentence() -> None:
    table = Table(1)
    refused = decide(None, CreateRoom(RoomOptions(rules="senior", piles=9), "player-0", "ann", "a"), table.draw_round)
    assert isinstance(refused, Refused)
    assert refused.sentence == "Senior is played with 4 to 8 piles, not 9."


def test_a_repeated_create_comes_back_to_the_seat_that_the_first_one_took() -> None:
    again = CreateRoom(RoomOptions(), "player-0", "ann", "link-7", is_repeatable=True)
    assert Table(1).submit(again) == (Attached(seat=0, link="link-7"),)


def test_a_create_that_may_be_repeated_makes_a_room_as_any_other() -> None:
    table = Table(1)
    create = CreateRoom(RoomOptions(), "player-0", "ann", "link-0")
    made = decide(None, create, table.draw_round)
    assert decide(None, replace(create, is_repeatable=True), table.draw_round) == made


def test_a_seat_whose_process_has_lapsed_is_detached_as_lapsed() -> None:
    assert Table(1).submit(ProcessLapsed(frozenset({"link-0"}))) == (Detached(seat=0, link="link-0", lapsed=True),)


def test_a_room_without_a_match_to_archive_has_none_to_mark() -> None:
    assert Table(1).submit(MarkRecorded(0)) == ()


@pytest.mark.parametrize(
    ("number", "refusal", "next_number"),
    [(4, Refusal.NUMBER_FUTURE, 3), (2, Refusal.NUMBER_REPEATED, 3), (1, Refusal.NUMBER_OLD, 3)],
)
def test_a_wrong_number_is_answered_with_the_next_one(number: int, refusal: Refusal, next_number: int) -> None:
    table = Table(1)
    table.start()
    table.play(0, "sa")
    table.play(0, "sb")
    sentence = f"{SENTENCES[refusal]} The next number is {next_number}, not {number}."
    assert table.submit(MakeMove("link-0", number, MOVES["sc"])) == Refused(
        to="play", code=refusal, sentence=sentence, number=number
    )


def test_a_rematch_between_two_rounds_of_a_match_is_refused() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    refused = table.submit(table.request(0, Rematch()))
    assert isinstance(refused, Refused)
    assert (refused.to, refused.code) == ("rematch", Refusal.WRONG_PHASE)


def test_a_player_whose_race_has_ended_leaves_without_freeing_the_seat() -> None:
    table = Table(1)
    table.start()
    table.play(0, "stop")
    assert table.submit(table.request(0, Leave())) == (Detached(seat=0, link="link-0"),)


@pytest.mark.parametrize("silent", [0, 1])
def test_a_player_who_does_not_reveal_ends_the_round_for_both(silent: int) -> None:
    table = Table(1)
    table.seat_both()
    table.deal(revealing=[1 - silent])
    table.let_time_pass()
    assert table.state.round is not None and table.state.round.outcome is not None
    endings = [score.ending for score in table.state.round.outcome.scores]
    assert endings == [Ending.ROUND_OVER, Ending.NOT_REVEALED][:: 1 if silent else -1]


def closed_table() -> Table:
    table = Table(1)
    table.submit(CloseRoom("bad names"))
    return table


def dealing_table() -> Table:
    table = Table(1)
    table.seat_both()
    table.get_ready(0, 1)
    return table


def closed_in(table: Table) -> RoomClosed:
    table.submit(CloseRoom("bad names"))
    assert table.state.phase is Phase.CLOSED
    last = table.steps[-1].event
    assert isinstance(last, RoomClosed)
    return last


def test_the_operator_closes_a_waiting_room_with_a_reason() -> None:
    assert closed_in(Table(1)).reason == "bad names"


def test_closing_a_room_in_which_players_get_ready_calls_the_round_off() -> None:
    table = Table(1)
    table.seat_both()
    closed_in(table)
    assert any(b'"round_voided"' in entry.text for step in table.steps for entry in project(step).entries)


def test_closing_a_room_in_a_race_counts_the_cards_and_leaves_a_record() -> None:
    table = Table(1)
    table.start()
    table.play(0, MOVES["sa"])
    closed_in(table)
    record = signed_record(table)
    assert record.rounds[-1].outcome is not None
    assert {score.ending for score in record.rounds[-1].outcome.scores} == {Ending.OUT_OF_TIME}
    list(verify_record(text_of(record))[1])


def test_a_match_that_was_closed_is_still_found_by_the_sweep() -> None:
    table = Table(1)
    table.start()
    closed_in(table)
    assert table.state.unrecorded_match == 1
    assert table.state.next_check_ms() is not None


@pytest.mark.parametrize(
    ("table", "code", "sentence"),
    [
        (closed_table(), Refusal.ROOM_CLOSED, "This room is closed already."),
        (dealing_table(), Refusal.WRONG_PHASE, "The cards are being dealt; try again in a few seconds."),
    ],
    ids=["closed", "dealing"],
)
def test_the_operator_is_told_why_a_room_is_not_closed(table: Table, code: Refusal, sentence: str) -> None:
    assert table.submit(CloseRoom("bad names")) == Refused(to="close", code=code, sentence=sentence)


def test_closing_a_room_with_one_player_frees_that_seat() -> None:
    assert Table(1).submit(CloseRoom("bad names")) == (
        SeatFreed(seat=0, reason="closed"),
        RoomClosed(reason="bad names"),
    )


def test_a_rematch_in_a_room_that_the_other_player_has_left_is_refused() -> None:
    table = Table(1)
    table.start()
    table.play(0, "resign")
    table.submit(table.request(1, Leave()))
    refused = table.submit(table.request(0, Rematch()))
    assert isinstance(refused, Refused) and refused.code is Refusal.WRONG_PHASE


def test_a_move_in_a_room_that_waits_for_a_player_is_refused() -> None:
    refused = Table(1).submit(MakeMove("link-0", 1, MOVES["sa"]))
    assert isinstance(refused, Refused) and refused.code is Refusal.RACE_NOT_STARTED


def test_a_record_of_a_match_before_opens_no_round_in_a_room_that_waits_for_a_player() -> None:
    table = Table(1)
    table.start()
    table.play(0, "resign")
    for seat in (0, 1):
        table.submit(table.request(seat, Rematch()))
    table.submit(table.request(1, Leave()))
    assert table.record_match() == (MatchPublished(),)


Drawn = tuple[bytes | None, int, str]


def drawn_by(table: Table, command: Command) -> list[Drawn]:
    """Return the arguments of each round that is drawn for this command."""
    drawn: list[Drawn] = []

    def draw_round(match_id: bytes | None, number: int, terms: str) -> RoundOpened:
        drawn.append((match_id, number, terms))
        return table.draw_round(match_id, number, terms)

    decide(table.state, command, draw_round)
    return drawn


def test_a_second_player_opens_the_first_round_of_a_match() -> None:
    table = Table(1)
    assert drawn_by(table, TakeSeat("player-1", "bob", "link-1")) == [(None, 1, table.state.options.terms())]


def test_the_next_round_of_a_match_is_drawn_with_its_id_and_number() -> None:
    table = Table(1, RoomOptions(best_of=3))
    table.start()
    table.play(0, "resign")
    deadline = table.state.next_deadline()
    assert table.state.round is not None and deadline is not None
    drawn = drawn_by(table, ExpireDeadline(deadline.at_ms))
    assert drawn == [(table.state.round.match_id, 2, table.state.options.terms())]


def test_a_round_in_the_place_of_the_one_with_a_rival_is_the_first_of_a_match() -> None:
    table = Table(1)
    table.steps.clear()
    table.submit(CreateRoom(RoomOptions(listed=True), "player-0", "ann", "link-0", rival=RivalWish(20)))
    table.submit(TakeSeat("player-1", "bot-club-1", "link-1"))
    drawn = drawn_by(table, TakeSeat("player-9", "bea", "link-9"))
    assert drawn == [(None, 1, table.state.options.terms())]


def test_a_player_who_did_not_get_ready_is_freed_for_that() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0)
    assert table.let_time_pass() == (SeatFreed(seat=1, reason="not_ready"),)


def test_a_player_who_was_away_too_long_is_freed_for_that() -> None:
    table = Table(1)
    table.disconnect(0)
    assert table.let_time_pass() == (SeatFreed(seat=0, reason="away"),)


def test_closing_a_race_stops_only_the_seats_that_still_race() -> None:
    table = Table(1)
    table.start()
    table.play(0, "stop")
    closing = table.submit(CloseRoom("bad names"))
    assert isinstance(closing, tuple) and closing[0] == SeatsStopped(seats=(1,), ending=Ending.OUT_OF_TIME)
