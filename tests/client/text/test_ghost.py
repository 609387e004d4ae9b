"""A race against a ghost in lines."""

from fairest_cli.analysis.ghost import GHOST, summon
from fairest_cli.text.ghost import HELP, answer, describe_end
from fairest_protocol.calculation.solver import solve_race
from tests.support.records import make_record

RECORD = make_record(3)
RACE = summon(RECORD, 0, 1)


def test_a_move_is_made_and_both_counts_are_printed() -> None:
    ghost, lines = answer(RACE.at(20_000), "s a")
    assert list(lines)[1] == f"you: 4 of 52 cards; bob: {ghost.counts[GHOST]}"


def test_a_move_against_the_rules_changes_nothing() -> None:
    ghost, lines = answer(RACE, "a1")
    assert (ghost, list(lines)) == (RACE, ["This waste pile is empty."])


def test_no_move_is_taken_back() -> None:
    _, lines = answer(RACE, "undo")
    assert "is not a move or a word" in next(lines)


def test_help_is_printed_for_the_word_help() -> None:
    assert list(answer(RACE, "help")[1]) == [HELP]


def test_the_board_of_the_ghost_is_printed_on_request() -> None:
    assert next(answer(RACE.at(20_000), "ghost")[1]) == "bob, as far as your own turn goes:"


def test_the_end_names_the_winner() -> None:
    ghost = RACE
    for move in solve_race(RACE.race, 0).line:
        ghost, _ = answer(ghost, move.text)
    assert list(describe_end(ghost, 61_000))[:2] == ["1:01 The race is over.", "You win against bob."]
