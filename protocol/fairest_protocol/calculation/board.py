"""One player's board, and the rules of a move.

A board holds only what its player may see: of the stock, that is the turned card and the number of cards left. So
server, client, spectator and replay all use this one class. A caller that knows the next card passes it to `play`.
"""

from collections.abc import Iterator
from enum import StrEnum

from fairest_protocol.calculation.cards import Card, rank
from fairest_protocol.calculation.deal import Deal
from fairest_protocol.calculation.moves import (
    REDEAL,
    RESIGN,
    STOP,
    Move,
    pile_to_foundation,
    stock_to_foundation,
    stock_to_pile,
)
from fairest_protocol.calculation.rules import Foundation, Rules
from fairest_protocol.value import message_dataclass, replace

Stacks = tuple[tuple[Card, ...], ...]
"""The cards of all foundations or of all waste piles: one tuple of cards for each, bottom card first."""


class Illegal(StrEnum):
    """Why the rules refuse a move."""

    NOTHING_TURNED = "nothing_turned"
    NO_SUCH_FOUNDATION = "no_such_foundation"
    NO_SUCH_PILE = "no_such_pile"
    FOUNDATION_COMPLETE = "foundation_complete"
    RANK_NOT_NEEDED = "rank_not_needed"
    PILE_EMPTY = "pile_empty"
    PILE_TO_PILE = "pile_to_pile"
    CARD_STILL_TURNED = "card_still_turned"
    NO_REDEAL_LEFT = "no_redeal_left"


@message_dataclass
class Board:
    """Foundations and waste piles, bottom card first; the turned card; the count of cards face down in the stock.

    `direct` counts stock cards played straight to a foundation. A board with cards in the stock and none turned is
    waiting to be told the next one: `turn`.
    """

    layout: tuple[Foundation, ...]
    foundations: Stacks
    piles: Stacks
    turned: Card | None
    stock: int
    redeals: int
    direct: int = 0

    @property
    def placed(self) -> int:
        """The number of cards on foundations, starters included."""
        return sum(map(len, self.foundations))

    @property
    def goal(self) -> int:
        """The number of cards on foundations when all of them are complete."""
        return sum(foundation.length for foundation in self.layout)

    @property
    def is_won(self) -> bool:
        """Whether every foundation is complete."""
        return self.placed == self.goal

    @property
    def stock_is_over(self) -> bool:
        """Whether no card is turned, the stock is empty, and no redeal is possible."""
        return self.turned is None and not self.stock and not (self.redeals and any(self.piles))

    @property
    def is_stuck(self) -> bool:
        """Whether the game is not won and no legal move is left."""
        # A turned card may always go to a pile. Checked first, because a card is turned on nearly every call.
        if self.turned is not None or not self.stock_is_over or self.is_won:
            return False
        needed = set(self.next_ranks())
        return not any(pile and rank(pile[-1]) in needed for pile in self.piles)

    def next_ranks(self) -> tuple[int | None, ...]:
        """Return the rank that each foundation needs next, None for a complete one."""
        return tuple(
            foundation.next_rank(len(cards)) for foundation, cards in zip(self.layout, self.foundations, strict=True)
        )

    def refusal(self, move: Move) -> Illegal | None:
        """Return why the rules forbid this move on this board, or None if the move is legal.

        Stopping and resigning are always legal here: they do not depend on the board.
        """
        if move.takes_turned:
            if self.turned is None:
                return Illegal.NOTHING_TURNED
            if move.places:
                return self._placing_refusal(self.turned, move.target)
            return None if move.target < len(self.piles) else Illegal.NO_SUCH_PILE
        if move.places:
            if move.source >= len(self.piles):
                return Illegal.NO_SUCH_PILE
            pile = self.piles[move.source]
            return self._placing_refusal(pile[-1], move.target) if pile else Illegal.PILE_EMPTY
        if move is REDEAL:
            return self._redeal_refusal()
        return None if move is STOP or move is RESIGN else Illegal.PILE_TO_PILE

    def play(self, move: Move, next_card: Card | None = None) -> "Board":
        """Return the board after a legal move of a card, or after a legal redeal.

        If the move takes the turned card, `next_card` is turned; with None no card is turned until `turn` is called.
        Raises IndexError or AssertionError for a move that `refusal` forbids: call `refusal` first.
        """
        if move is REDEAL:
            piles: Stacks = ((),) * len(self.piles)
            redealt = replace(self, piles=piles, stock=sum(map(len, self.piles)), redeals=self.redeals - 1)
            return redealt if next_card is None else redealt.turn(next_card)
        if not move.takes_turned:
            assert move.places, f"{move} moves no card"
            pile = self.piles[move.source]
            piles = (*self.piles[: move.source], pile[:-1], *self.piles[move.source + 1 :])
            foundations = _with_card(self.foundations, move.target, pile[-1])
            return Board(self.layout, foundations, piles, self.turned, self.stock, self.redeals, self.direct)
        assert self.turned is not None, "a card is turned"
        stock = self.stock if next_card is None else self.stock - 1
        if move.places:
            foundations = _with_card(self.foundations, move.target, self.turned)
            return Board(self.layout, foundations, self.piles, next_card, stock, self.redeals, self.direct + 1)
        piles = _with_card(self.piles, move.target, self.turned)
        return Board(self.layout, self.foundations, piles, next_card, stock, self.redeals, self.direct)

    def card_of(self, move: Move) -> Card | None:
        """Return the card that a legal move moves, or None for a move without a card."""
        if move.takes_turned:
            return self.turned
        return self.piles[move.source][-1] if move.places else None

    def turn(self, card: Card) -> "Board":
        """Return the board with `card`, the next one of the stock, turned."""
        return Board(self.layout, self.foundations, self.piles, card, self.stock - 1, self.redeals, self.direct)

    def legal_moves(self) -> Iterator[Move]:
        """Yield every legal move of a card, foundations first, then a redeal; never `stop` or `resign`."""
        needed = self.next_ranks()
        if self.turned is not None:
            number = rank(self.turned)
            yield from (stock_to_foundation(to) for to, wanted in enumerate(needed) if wanted == number)
        for source, pile in enumerate(self.piles):
            if pile:
                number = rank(pile[-1])
                yield from (pile_to_foundation(source, to) for to, wanted in enumerate(needed) if wanted == number)
        if self.turned is not None:
            yield from (stock_to_pile(to) for to in range(len(self.piles)))
        if self._redeal_refusal() is None:
            yield REDEAL

    def _placing_refusal(self, card: Card, target: int) -> Illegal | None:
        if target >= len(self.layout):
            return Illegal.NO_SUCH_FOUNDATION
        wanted = self.layout[target].next_rank(len(self.foundations[target]))
        if wanted is None:
            return Illegal.FOUNDATION_COMPLETE
        return None if wanted == rank(card) else Illegal.RANK_NOT_NEEDED

    def _redeal_refusal(self) -> Illegal | None:
        if not self.redeals:
            return Illegal.NO_REDEAL_LEFT
        if self.turned is not None or self.stock:
            return Illegal.CARD_STILL_TURNED
        # No race comes to an empty waste here: its other cards are on the foundations then, and the seat has won.
        return None if any(self.piles) else Illegal.PILE_EMPTY


def lay_out(rules: Rules, deal: Deal) -> Board:
    """Return the board before the first card is turned."""
    starters: Stacks = tuple((card,) for card in deal.starters)
    return Board(
        layout=deal.foundations,
        foundations=starters or ((),) * len(deal.foundations),
        piles=((),) * rules.piles,
        turned=None,
        stock=len(deal.orders[0]),
        redeals=rules.redeals,
    )


def _with_card(stacks: Stacks, target: int, card: Card) -> Stacks:
    return (*stacks[:target], (*stacks[target], card), *stacks[target + 1 :])
