"""Policies that do not think: functions from a board and a random source to a legal move."""

import random
from collections.abc import Callable

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move

Policy = Callable[[Board, random.Random], Move]


def choose_random(board: Board, chance: random.Random) -> Move:
    """Return any legal move, all equally likely."""
    return chance.choice(list(board.legal_moves()))


def choose_greedy(board: Board, chance: random.Random) -> Move:
    """Return a move to a foundation if there is one, from the waste first, to the shortest one; else any legal move."""
    moves = list(board.legal_moves())
    for from_stock in (False, True):
        fitting = [move for move in moves if move.places and move.takes_turned is from_stock]
        if fitting:
            return min(fitting, key=lambda move: len(board.foundations[move.target]))
    return chance.choice(moves)
