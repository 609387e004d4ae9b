"""Searches on boards of every variant: their budget, their parts, their answers."""

import pickle

import pytest

from fairest_cli.bots.search import start_evaluation, start_search
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from tests.support.bot_boards import board_after

CLASSIC = choose_rules("classic")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_search_that_moved_between_processes_ends_as_one_that_did_not(variant: str) -> None:
    rules = VARIANTS[variant].rules
    board = board_after(rules, seed=1, moves=20)
    whole = start_search(board, rules, 5, 20)
    whole.finish()
    parted = start_search(board, rules, 5, 20)
    while not parted.is_done:
        parted.advance(7)
        parted = pickle.loads(pickle.dumps(parted))
    assert parted == whole


def test_a_search_spends_its_budget_of_roll_outs_and_no_more() -> None:
    board = _board_with_four_piles_to_choose()
    search = start_search(board, CLASSIC, 3, 50)
    search.finish()
    assert 100 < sum(candidate.roll_outs for candidate in search.live + search.dropped) <= 200


def test_the_candidates_that_did_well_get_most_of_the_budget() -> None:
    search = start_search(_board_with_four_piles_to_choose(), CLASSIC, 3, 50)
    search.finish()
    assert search.best.roll_outs > 2 * search.dropped[-1].roll_outs


def test_a_single_sensible_move_needs_no_roll_out() -> None:
    board = next(board for board in (board_after(CLASSIC, seed, 0) for seed in range(100)) if _fitting(board) == 1)
    assert start_search(board, CLASSIC, 3, 1000).is_done


def test_an_evaluation_looks_at_declined_placements_too() -> None:
    board = next(board for board in (board_after(CLASSIC, seed, 0) for seed in range(100)) if _fitting(board) == 1)
    search = start_evaluation(board, CLASSIC, 3, 10)
    search.finish()
    assert [candidate.roll_outs for candidate in search.live] == [10, 10]


def _board_with_four_piles_to_choose() -> Board:
    boards = (board_after(CLASSIC, seed, 24) for seed in range(100))
    return next(board for board in boards if all(board.piles) and board.turned and not _fitting(board))


def _fitting(board: Board) -> int:
    return sum(move.places for move in board.legal_moves())
