"""The page knows the rules of a move: the same moves are legal, and lead to the same board."""

import random

import pytest
from pydantic_core import to_jsonable_python

from fairest_protocol.calculation.moves import REDEAL
from tests.support.page_modules import ask_page
from tests.support.random_boards import play_on, random_board, random_race

BOARDS = 300
RACES = 12


def test_the_same_moves_are_legal() -> None:
    boards = [random_board(seed) for seed in range(BOARDS)]
    answers = ask_page({"ask": "legal", "board": to_jsonable_python(board)} for board in boards)
    for board, moves in zip(boards, answers, strict=True):
        assert sorted(moves) == sorted(map(str, board.legal_moves()))


@pytest.mark.long
def test_each_move_leads_to_the_same_board() -> None:
    questions, expected = [], []
    for seed in range(RACES):
        chance = random.Random(seed)
        before = random_race(chance)
        for after in play_on(before, chance):
            old, new = before.racers[0].board, after.racers[0]
            assert new.last_move is not None
            turns = new.last_move.takes_turned or new.last_move is REDEAL
            moved = {"board": to_jsonable_python(old), "move": str(new.last_move)}
            questions.append(
                {"ask": "play", **moved, "next": str(new.board.turned) if turns and new.board.turned else None}
            )
            expected.append(to_jsonable_python(new.board))
            before = after
    assert ask_page(questions) == expected
