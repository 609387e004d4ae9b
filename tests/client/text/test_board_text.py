"""Boards and changes as text: readable, narrow enough, and without control characters of others."""

import pytest

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.text.board_text import describe_board, ranks
from fairest_cli.text.move_text import describe_result
from fairest_cli.text.narration import as_json_lines, describe_time_left, describe_update
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import lay_out
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from fairest_protocol.messages.entries import Seated
from fairest_protocol.messages.from_server import Refused, View, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.scene import Scene

CLASSIC = choose_rules("classic")
RACE = start_race(CLASSIC, make_deal(CLASSIC, bytes(32)), seats=2)


def test_a_board_shows_what_each_foundation_needs_next() -> None:
    lines = list(describe_board(RACE.racers[0].board))
    assert [line.split("|")[0].split() for line in lines[:4]] == [
        ["1", "by", "+1", "needs", "2"],
        ["2", "by", "+2", "needs", "4"],
        ["3", "by", "+3", "needs", "6"],
        ["4", "by", "+4", "needs", "8"],
    ]


def test_a_board_shows_every_card_of_a_pile() -> None:
    race = RACE.play(0, MOVES["sb"]).play(0, MOVES["sb"])
    pile = race.racers[0].board.piles[1]
    line = list(describe_board(race.racers[0].board))[5]
    assert line.split("|")[0].split() == ["b", "2", "cards"]
    assert len(line.split("|")[1].split()) == len(pile)


def test_the_bars_of_all_rows_stand_in_one_column() -> None:
    over = start_race(choose_rules("redeal"), make_deal(choose_rules("redeal"), bytes(32)), seats=1)
    rows = list(describe_board(over.racers[0].board))
    for _ in range(48):
        over = over.play(0, MOVES["sa"])
    rows.extend(describe_board(over.racers[0].board))
    assert {row.index("|") for row in rows} == {24}


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_no_line_is_wider_than_a_small_terminal(name: str) -> None:
    rules = choose_rules(name)
    deep = start_race(rules, make_deal(rules, bytes(32)), seats=1)
    for _ in range(rules.stock):
        deep = deep.play(0, MOVES["sa"])
    assert max(map(len, describe_board(deep.racers[0].board))) <= 80


def test_a_pile_too_long_for_a_line_goes_on_below_in_its_column() -> None:
    deep = RACE
    for _ in range(48):
        deep = deep.play(0, MOVES["sa"])
    pile = list(describe_board(deep.racers[0].board))[4:-4]
    assert len(pile) == 2
    assert " ".join(line.split("| ")[1] for line in pile) == ranks(deep.racers[0].board.piles[0])


def test_eight_foundations_and_eight_piles_are_drawn_as_readily() -> None:
    rules = choose_rules("senior", piles=8)
    board = lay_out(rules, make_deal(rules, bytes(32)))
    assert [line.split()[0] for line in describe_board(board)] == [*"12345678", *"abcdefgh", "s"]


def test_a_foundation_shows_what_lies_and_in_brackets_what_follows() -> None:
    assert next(iter(describe_board(RACE.racers[0].board))).split("| ")[1] == "A (2 3 4 5 6 7 8 9 10 J Q K)"


def test_a_result_names_the_winner_and_both_counts() -> None:
    outcome = RACE.play(0, MOVES["resign"]).outcome()
    lines = list(describe_result(outcome, ["ann", "bob"]))
    assert lines[0] == "bob wins, 4 to 4."
    assert "4 of 52 cards" in lines[1]
    assert "still racing" in lines[1]
    assert "resigned" in lines[3]
    assert max(map(len, lines)) <= 79


def test_control_characters_of_others_never_reach_the_terminal() -> None:
    assert clean("a\x1b[2Jb\r\n\x9bc\u202e") == "a?[2Jb???c?"


def test_a_hostile_sentence_is_cleaned() -> None:
    refused = Refused(to="join", code=Refusal.ROOM_FULL, sentence="full\x1b]0;owned\x07")
    assert "\x1b" not in "".join(describe_update(KnownRoom(), Update(KnownRoom(), refused)))


def test_time_is_told_by_the_server_s_clock() -> None:
    model = KnownRoom(scene=Scene(options=RoomOptions(), until_ms=100_000), clock_ahead_ms=5_000)
    assert describe_time_left(model, now_ms=45_000) == "1:00 left."
    assert describe_time_left(model, now_ms=200_000) == "0:00 left."
    assert describe_time_left(KnownRoom(), now_ms=0) == "There is no time limit right now."


def test_json_leaves_the_token_out() -> None:
    welcome = Welcome(name="ann", token="A" * 43, key=bytes(32), now_ms=0, version="0.2.0")
    assert "AAAA" not in "".join(as_json_lines(KnownRoom(), Update(KnownRoom(), welcome)))


def test_news_are_told_in_sentences() -> None:
    model = KnownRoom(scene=Scene(options=RoomOptions()))
    view = View(tag="00000000", position=1, entries=(Seated(seat=1, name="bob"),))
    assert list(describe_update(model, Update(model, view))) == ["bob joins."]
