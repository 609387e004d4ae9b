"""A board as the bots calculate with it: plain numbers that are cheap to copy and to change.

A rank is a number from 0 (ace) to 12 (king); `NO_CARD` stands for the top of an empty pile. The foundations are one
integer, the key, with four bits for the count of each, so the state of all foundations is one look-up in a dictionary.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Final

from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, full_deck, rank
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.rules import Redeal, Rules

RANKS: Final = 13
NO_CARD: Final = 13
BITS: Final = 4
"""Bits of a foundation's count in the key: a count is at most 13."""


@dataclass(slots=True)
class Position:
    """The part of a board that matters for its future. `unseen` counts the cards of each rank in the stock.

    `turned` is None where no card is turned. `keeps_order` says that a redeal turns the waste over, so its order is
    known; otherwise a redeal shuffles it.
    """

    key: int
    placed: int
    goal: int
    piles: list[list[int]]
    turned: int | None
    unseen: list[int]
    redeals: int
    keeps_order: bool

    def after(self, move: Move) -> "Position":
        """Return the position after a legal move of a card, before the next card is turned; a redeal changes nothing.

        A redeal changes nothing because every roll-out begins with it once the stock is empty.
        """
        piles = [pile.copy() for pile in self.piles]
        key, placed, turned = self.key, self.placed, self.turned
        if move.places:
            key, placed = key + (1 << BITS * move.target), placed + 1
            if not move.takes_turned:
                piles[move.source].pop()
        elif move is not REDEAL:
            assert turned is not None, "a card is turned"
            piles[move.target].append(turned)
        if move.takes_turned:
            turned = None
        return Position(key, placed, self.goal, piles, turned, self.unseen, self.redeals, self.keeps_order)


def read_position(board: Board, rules: Rules) -> Position:
    """Return the position of a board. It depends on nothing but what the board's player sees."""
    piles = [[rank(card) - 1 for card in pile] for pile in board.piles]
    unseen = Counter(_stock_ranks(rules.decks))
    unseen.subtract(number - 1 for number in rules.markers)
    for stack in (*board.foundations, *board.piles, () if board.turned is None else (board.turned,)):
        unseen.subtract(rank(card) - 1 for card in stack)
    return Position(
        key=sum(len(cards) << BITS * number for number, cards in enumerate(board.foundations)),
        placed=board.placed,
        goal=board.goal,
        piles=piles,
        turned=None if board.turned is None else rank(board.turned) - 1,
        unseen=[unseen[number] for number in range(RANKS)],
        redeals=board.redeals,
        keeps_order=rules.redeal is Redeal.TURNED_OVER,
    )


def distinct_moves(board: Board) -> list[Move]:
    """Return the legal moves of a board, without those to a second empty pile, which lead to the same game."""
    empty = [number for number, pile in enumerate(board.piles) if not pile]
    skipped = set(empty[1:])
    return [move for move in board.legal_moves() if move.places or move is REDEAL or move.target not in skipped]


@cache
def _stock_ranks(decks: int) -> tuple[int, ...]:
    return tuple(rank(card) - 1 for card in _all_cards(decks))


def _all_cards(decks: int) -> tuple[Card, ...]:
    return full_deck(decks)
