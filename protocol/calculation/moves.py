"""Moves and their one text form, used on the wire, in records and at the prompt: source, then destination.

``s`` is the turned stock card, ``a``-``h`` are waste piles, ``1``-``8`` foundations: ``s2``, ``sa``, ``b4``; and the
words ``redeal``, ``stop``, ``resign``.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

PILE_LETTERS: Final = "abcdefgh"
FOUNDATION_DIGITS: Final = "12345678"


class Kind(Enum):
    """What a move does. From pile to pile is a thing people try, so it has a form; the rules refuse it."""

    STOCK_TO_FOUNDATION = "stock to foundation"
    STOCK_TO_PILE = "stock to pile"
    PILE_TO_FOUNDATION = "pile to foundation"
    PILE_TO_PILE = "pile to pile"
    REDEAL = "redeal"
    STOP = "stop"
    RESIGN = "resign"


@dataclass(frozen=True, slots=True)
class Move:
    """One move. `source` is a pile and `target` a foundation or pile, counted from 0; unused ones are -1."""

    kind: Kind
    text: str
    source: int = -1
    target: int = -1

    def __str__(self) -> str:
        return self.text


def _all_moves() -> list[Move]:
    piles, foundations = list(enumerate(PILE_LETTERS)), list(enumerate(FOUNDATION_DIGITS))
    return [
        *(Move(Kind.STOCK_TO_FOUNDATION, f"s{digit}", target=to) for to, digit in foundations),
        *(Move(Kind.STOCK_TO_PILE, f"s{letter}", target=to) for to, letter in piles),
        *(
            Move(Kind.PILE_TO_FOUNDATION, letter + digit, source, to)
            for source, letter in piles
            for to, digit in foundations
        ),
        *(Move(Kind.PILE_TO_PILE, letter + onto, source, to) for source, letter in piles for to, onto in piles),
        Move(Kind.REDEAL, "redeal"),
        Move(Kind.STOP, "stop"),
        Move(Kind.RESIGN, "resign"),
    ]


MOVES: Final[dict[str, Move]] = {move.text: move for move in _all_moves()}
"""Every move there is, by its text."""

REDEAL: Final = MOVES["redeal"]
STOP: Final = MOVES["stop"]
RESIGN: Final = MOVES["resign"]


def stock_to_foundation(target: int) -> Move:
    """The turned card goes to this foundation, counted from 0."""
    return MOVES["s" + FOUNDATION_DIGITS[target]]


def stock_to_pile(target: int) -> Move:
    """The turned card goes onto this waste pile, counted from 0."""
    return MOVES["s" + PILE_LETTERS[target]]


def pile_to_foundation(source: int, target: int) -> Move:
    """The top of a waste pile goes to a foundation, both counted from 0."""
    return MOVES[PILE_LETTERS[source] + FOUNDATION_DIGITS[target]]
