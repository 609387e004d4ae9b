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
from fairest_protocol.value import replace
from fairest_server.room.commands import (
    CloseRoom,
    Command,
    CreateRoom,
    MakeMove,
    MarkRecorded,
    PlayerRequest,
    ProcessLapsed,
    TakeSeat,
)
from fairest_server.room.decide import decide
from fairest_server.room.events import Attached, Detached, RoomClosed
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


def test_a_room_is_not_closed_while_its_cards_are_dealt() -> None:
    table = Table(1)
    table.seat_both()
    table.get_ready(0, 1)
    assert isinstance(table.submit(CloseRoom("bad names")), Refused)


def test_a_closed_room_is_not_closed_again() -> None:
    table = Table(1)
    closed_in(table)
    assert isinstance(table.submit(CloseRoom("bad names")), Refused)
