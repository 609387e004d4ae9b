"""Moves, in one text form that is used on the wire, in records and at the prompt: source, then target.

``s`` is the turned stock card, ``a``-``h`` are waste piles, ``1``-``8`` are foundations: ``s2``, ``sa``, ``b4``. Three
moves are words: ``redeal``, ``stop``, ``resign``.
"""

from typing import Final

from fairest_protocol.value import Value

PILE_LETTERS: Final = "abcdefgh"
FOUNDATION_DIGITS: Final = "12345678"


class Move(Value):
    """One move. `source` is a pile and `target` a foundation or a pile, counted from 0; an unused one is -1.

    `takes_turned`: the move takes the turned stock card. `places`: the move puts a card on a foundation. Moves from
    pile to pile exist because people try them, and the rules refuse them. There is one object for each move (`MOVES`),
    so moves are compared with `is`.
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
"""Every move, by its text."""

REDEAL: Final = MOVES["redeal"]
STOP: Final = MOVES["stop"]
RESIGN: Final = MOVES["resign"]


def stock_to_foundation(target: int) -> Move:
    """Return the move of the turned card to a foundation, counted from 0."""
    return MOVES["s" + FOUNDATION_DIGITS[target]]


def stock_to_pile(target: int) -> Move:
    """Return the move of the turned card to a waste pile, counted from 0."""
    return MOVES["s" + PILE_LETTERS[target]]


def pile_to_foundation(source: int, target: int) -> Move:
    """Return the move of the top card of a waste pile to a foundation, both counted from 0."""
    return MOVES[PILE_LETTERS[source] + FOUNDATION_DIGITS[target]]
