"""Moves and their one text form, used on the wire, in records and at the prompt: source, then destination.

``s`` is the turned stock card, ``a``-``h`` are waste piles, ``1``-``8`` foundations: ``s2``, ``sa``, ``b4``; and the
words ``redeal``, ``stop``, ``resign``.
"""

from typing import Final

from fairest_protocol.value import Value

PILE_LETTERS: Final = "abcdefgh"
FOUNDATION_DIGITS: Final = "12345678"


class Move(Value):
    """One move. `source` is a pile and `target` a foundation or pile, counted from 0; unused ones are -1.

    `takes_turned`: the turned stock card goes somewhere; `places`: a card goes to a foundation. From pile to pile is a
    thing people try, so it has a form; the rules refuse it. Each move is one object, so `is` tells moves apart.
    """

    text: str
    source: int = -1
    target: int = -1
    takes_turned: bool = False
    places: bool = False

    def __str__(self) -> str:
        return self.text


def _all_moves() -> list[Move]:
    piles, foundations = list(enumerate(PILE_LETTERS)), list(enumerate(FOUNDATION_DIGITS))
    return [
        *(Move(f"s{digit}", target=to, takes_turned=True, places=True) for to, digit in foundations),
        *(Move(f"s{letter}", target=to, takes_turned=True) for to, letter in piles),
        *(Move(letter + digit, source, to, places=True) for source, letter in piles for to, digit in foundations),
        *(Move(letter + onto, source, to) for source, letter in piles for to, onto in piles),
        *map(Move, ("redeal", "stop", "resign")),
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
