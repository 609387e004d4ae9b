"""Moves and results in words: one wording for a race, practice, a replay and the history."""

import pytest

from fairest_cli.model.practice import start_practice
from fairest_cli.text.move_text import (
    describe_advice,
    describe_move,
    describe_result,
    describe_stop,
    describe_winner,
    describe_wins,
)
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.rules import choose_rules

SIX = Card("6S")


def outcome(winner: int | None, first: int, second: int) -> Outcome:
    scores = tuple(Score(placed, 52, 0, 48, Ending.STUCK) for placed in (first, second))
    return Outcome(winner, scores)


@pytest.mark.parametrize(
    ("move", "card", "words"),
    [
        ("sa", SIX, "house lays 6 of spades on pile a"),
        ("s2", SIX, "house plays 6 of spades to foundation 2"),
        ("b4", SIX, "house plays 6 of spades to foundation 4"),
        ("redeal", None, "house deals the waste again"),
        ("stop", None, "house stops"),
        ("resign", None, "house resigns"),
        ("sa", None, "house lays a card on pile a"),
        ("b4", None, "house plays the top of pile b to foundation 4"),
    ],
)
def test_a_move_is_a_sentence(move: str, card: Card | None, words: str) -> None:
    assert describe_move("house", MOVES[move], card) == words


def test_the_guest_is_spoken_to() -> None:
    assert describe_move("you", MOVES["sa"], SIX) == "you lay 6 of spades on pile a"


def test_a_hostile_name_is_cleaned() -> None:
    assert describe_move("\x1b[2J", MOVES["stop"], None) == "?[2J stops"


def test_advice_names_what_to_type() -> None:
    board = start_practice(choose_rules("classic"), "abc").board
    assert describe_advice(board, MOVES["sa"]) == "lay 7 of spades on pile a (sa)"


def test_a_stop_says_whose_and_why() -> None:
    assert describe_stop(["ann", "bob"], Ending.OUT_OF_TIME) == "ann and bob ran out of time"


@pytest.mark.parametrize(
    ("winner", "first", "second", "words"),
    [
        (0, 31, 18, "ann wins, 31 to 18"),
        (1, 18, 31, "you win, 31 to 18"),
        (0, 18, 31, "ann wins, 18 to 31"),
        (None, 20, 20, "a draw, 20 to 20"),
    ],
)
def test_the_number_of_the_winner_comes_first(winner: int | None, first: int, second: int, words: str) -> None:
    assert describe_winner(outcome(winner, first, second), ["ann", "you"]) == words


def test_a_result_that_is_past_was_won() -> None:
    assert describe_winner(outcome(1, 18, 31), ["ann", "you"], is_past=True) == "you won, 31 to 18"


def test_the_score_of_the_winner_comes_first() -> None:
    first, winner, *_, loser, _ = describe_result(outcome(1, 18, 31), ["ann", "bob"])
    assert (first, "bob" in winner, "ann" in loser) == ("bob wins, 31 to 18.", True, True)


@pytest.mark.parametrize(
    ("wins", "words"),
    [((1, 2), "bob won, 2 rounds to 1"), ((1, 0), "ann won, 1 round to 0"), ((2, 2), "a draw, 2 rounds each")],
)
def test_a_match_names_the_rounds_of_the_winner_first(wins: tuple[int, int], words: str) -> None:
    assert describe_wins(wins, ["ann", "bob"]) == words
