"""Playing cards, in one text form that is used in memory, on the wire and in records.

A card is two characters: its rank (``A 2 3 4 5 6 7 8 9 T J Q K``) and its suit (``C D H S``). The second deck of a
two-deck game is written with small suit letters, so every physical card has a text of its own. Suits never matter in
Calculation; they only tell the cards of a deal apart.
"""

from functools import cache
from typing import Final, NewType

Card = NewType("Card", str)

RANK_LETTERS: Final = "A23456789TJQK"
SUIT_LETTERS: Final = ("CDHS", "cdhs")
"""Suit letters of the first and of the second deck."""


@cache
def full_deck(decks: int) -> tuple[Card, ...]:
    """Return the unshuffled cards in canonical order: deck by deck, clubs to spades, ace to king.

    The shuffle of every deal starts from this order, so it is part of the protocol. The result is cached, so all deals
    of a process share the same card objects.
    """
    return tuple(Card(rank + suit) for suits in SUIT_LETTERS[:decks] for suit in suits for rank in RANK_LETTERS)


_RANKS: Final = {card: RANK_LETTERS.index(card[0]) + 1 for card in full_deck(2)}


def is_card(text: str) -> bool:
    """Return whether the text names a card of one of the two decks."""
    return text in _RANKS


def rank(card: Card) -> int:
    """Return the rank of a card, from 1 (ace) to 13 (king). Raises KeyError if the text is not a card."""
    return _RANKS[card]


def rank_name(number: int) -> str:
    """Return a rank from 1 to 13 as people write it: ``A``, ``2`` ... ``10``, ``J``, ``Q``, ``K``."""
    return "10" if number == 10 else RANK_LETTERS[number - 1]
