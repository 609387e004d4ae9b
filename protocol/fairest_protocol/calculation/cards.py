"""Playing cards, in the one text form that memory, wire and records share.

A card is two characters: its rank (``A 2 3 4 5 6 7 8 9 T J Q K``) and its suit (``C D H S``). The second
deck of a two-deck game is written with small suit letters, so every physical card has a text of its own.
Suits never matter in Calculation; they make the cards of a deal tell-able apart.
"""

from functools import cache
from typing import Final, NewType

Card = NewType("Card", str)

RANK_LETTERS: Final = "A23456789TJQK"
SUIT_LETTERS: Final = ("CDHS", "cdhs")
"""Suit letters of the first and of the second deck."""


@cache
def full_deck(decks: int) -> tuple[Card, ...]:
    """The unshuffled cards in canonical order: deck by deck, clubs to spades, ace to king.

    The shuffle of every deal starts from this order, so it is part of the protocol. All deals of a process are made of
    the same cards.
    """
    return tuple(Card(rank + suit) for suits in SUIT_LETTERS[:decks] for suit in suits for rank in RANK_LETTERS)


_RANKS: Final = {card: RANK_LETTERS.index(card[0]) + 1 for card in full_deck(2)}


def is_card(text: str) -> bool:
    """Whether the text names a card of one of the two decks."""
    return text in _RANKS


def rank(card: Card) -> int:
    """The rank of a card, ace = 1 to king = 13."""
    return _RANKS[card]


def rank_name(number: int) -> str:
    """How a rank from 1 to 13 is written for people: ``A``, ``2`` ... ``10``, ``J``, ``Q``, ``K``."""
    return "10" if number == 10 else RANK_LETTERS[number - 1]
