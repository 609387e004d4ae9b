"""The words that a player types to hear a part of the board."""

import pytest

from fairest_cli.text.questions import answer_question
from tests.support import staged
from tests.support.staged import StagedRoom


def answer(word: str, room: StagedRoom, viewer: int | None = 0) -> list[str]:
    lines = answer_question(word, room.model(viewer), room.table.now_ms)
    assert lines is not None
    return list(lines)


@pytest.mark.parametrize("word", ["", "board"])
def test_the_whole_board_is_shown_on_request(word: str) -> None:
    lines = answer(word, staged.racing())
    assert sum(line.startswith(f"  {mark}  ") for line in lines for mark in "1234abcds") == 9


def test_wanted_names_the_ranks_and_the_turned_card() -> None:
    assert answer("wanted", staged.racing()) == [
        "1 wants 3, 2 wants Q, 3 wants Q, 4 wants 3.",
        "Turned: K of spades.",
    ]


def test_piles_has_a_line_for_each_pile() -> None:
    assert answer("piles", staged.racing())[0] == "Pile a: 10 9 2 J 10 K A; on top A of spades."


def test_a_spectator_hears_of_both_boards_by_name() -> None:
    lines = answer("wanted", staged.racing(), None)
    assert lines[0::3] == ["ann:", "bob:"]


@pytest.mark.parametrize("word", ["wanted", "piles"])
def test_without_cards_a_question_about_them_says_so(word: str) -> None:
    assert answer(word, staged.waiting()) == ["There are no cards yet."]


def test_another_word_is_not_a_question() -> None:
    assert answer_question("wantd", staged.racing().model(), 0) is None
