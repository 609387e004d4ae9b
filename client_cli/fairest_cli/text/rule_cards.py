"""The rules and a deal on paper: what `fairest rules` and `fairest deal` print. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.text.board_text import card_name
from fairest_protocol.calculation.cards import Card, rank_name
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS
from fairest_protocol.calculation.rules import VARIANTS, Foundation, Redeal, RolledFoundations, Rules, Variant, span

CARDS_A_LINE: Final = 16
HOW: Final = {Redeal.RESHUFFLED: "reshuffled", Redeal.TURNED_OVER: "turned over"}


def read_seed(text: str) -> bytes:
    """The seed that somebody typed: 64 hexadecimal digits as they are, any other text by its SHA-256."""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


def describe_variants() -> Iterator[str]:
    """One line for each variant."""
    for name, variant in VARIANTS.items():
        yield f"{name:<11} {variant.title:<26} {describe_counts(variant.rules)}"


def describe_variant(variant: Variant, rules: Rules, seed: bytes | None) -> Iterator[str]:
    """A variant's reference card, to print or to keep on the screen.

    Sequences that only the deal decides need a seed; without one the card says where they come from.
    """
    yield f"{variant.title} ({rules.name})"
    if variant.also:
        yield f"  also called {', '.join(variant.also)}"
    how = f", {HOW[rules.redeal]}" if rules.redeals else ""
    yield f"  {describe_counts(rules)}{how}; {rules.goal} cards to place"
    yield f"  may be played with {span(variant.piles, 'waste pile')} and {span(variant.redeals, 'redeal')}"
    if not isinstance(rules.foundations, RolledFoundations):
        yield from _sequences(rules.foundations)
    elif seed is not None:
        yield from _sequences(make_deal(rules, seed).foundations)
    else:
        yield from _describe_thrown(rules.foundations)
    if not rules.starters:
        yield "  the foundations start empty"
    if rules.markers:
        yield f"  out of play: {' '.join(map(rank_name, rules.markers))}"
    yield from _moves(rules)
    yield f"  source: {variant.source}"


def describe_deal(rules: Rules, seed: bytes) -> Iterator[str]:
    """Everything that the seed decides, to check it or to lay it out with real cards."""
    deal = make_deal(rules, seed)
    yield f"{rules.name}: {describe_counts(rules)}"
    yield f"seed {seed.hex()}"
    yield from _sequences(deal.foundations)
    if deal.starters:
        yield f"starters: {' '.join(deal.starters)}"
    if deal.markers:
        yield f"out of play: {' '.join(deal.markers)}"
    for number, order in enumerate(deal.orders):
        if number == 0:
            yield f"stock, the first card to be turned is the {card_name(order[0])}:"
            yield from _rows(order)
        elif rules.redeal is Redeal.RESHUFFLED:
            yield f"redeal {number}, what is left of it in this order:"
            yield from _rows(order)
        else:
            yield f"redeal {number}: what is left of it, in the order of the stock"


def describe_counts(rules: Rules) -> str:
    """Stock, waste piles and redeals in words."""
    piles, redeals = (range(number, number + 1) for number in (rules.piles, rules.redeals))
    return f"{rules.stock} in the stock, {span(piles, 'waste pile')}, {span(redeals, 'redeal')}"


def _describe_thrown(thrown: RolledFoundations) -> Iterator[str]:
    yield f"  starters: the first {thrown.count} cards of the shuffled deck"
    yield f"  steps: a die for each, +1 to +{thrown.sides}; --seed shows those of one deal"


def _moves(rules: Rules) -> Iterator[str]:
    """Where from, then where to, as far as these rules have it."""
    foundation, pile = FOUNDATION_DIGITS[rules.foundation_count - 1], PILE_LETTERS[rules.piles - 1]
    piles = "sa" if rules.piles == 1 else f"sa-s{pile}"
    redeal = "; redeal" if rules.redeals else ""
    yield f"  moves: s1-s{foundation} and {piles} the turned card, a1-{pile}{foundation} the top of a pile{redeal}"


def _sequences(foundations: Sequence[Foundation]) -> Iterator[str]:
    for number, foundation in enumerate(foundations, 1):
        yield f"  {number}  by {foundation.step:+d}  {' '.join(map(rank_name, foundation.sequence()))}"


def _rows(cards: Sequence[Card]) -> Iterator[str]:
    for start in range(0, len(cards), CARDS_A_LINE):
        yield "  " + " ".join(cards[start : start + CARDS_A_LINE])
