"""The rules and a deal on paper: what `fairest rules` and `fairest deal` print. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from client_cli.drawing import card_name
from protocol.calculation.cards import Card, rank_name
from protocol.calculation.deal import make_deal
from protocol.calculation.rules import VARIANTS, Foundation, Redeal, Rules, Thrown, Variant

CARDS_A_LINE = 16


def read_seed(text: str) -> bytes:
    """The seed that somebody typed: 64 hexadecimal digits as they are, any other text by its SHA-256."""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


def list_variants() -> Iterator[str]:
    """One line for each variant."""
    for name, variant in VARIANTS.items():
        rules = variant.rules
        yield f"{name:<11} {variant.title:<26} {_counts(rules)}"


def describe_variant(variant: Variant, rules: Rules, seed: bytes | None) -> Iterator[str]:
    """A variant with its sequences; those that only the deal decides need a seed."""
    yield f"{variant.title} ({rules.name})"
    if variant.also:
        yield f"also called: {', '.join(variant.also)}"
    yield _counts(rules)
    yield f"may be played with {_span(variant.piles, 'pile')} and {_span(variant.redeals, 'redeal')}"
    if isinstance(rules.foundations, Thrown) and seed is None:
        yield "starters are the first cards of the deal, steps are dice: add --seed to see those of one deal"
    else:
        foundations = rules.foundations if seed is None else make_deal(rules, seed).foundations
        assert not isinstance(foundations, Thrown)
        yield from _sequences(foundations)
    if rules.markers:
        yield f"out of play: {' '.join(map(rank_name, rules.markers))}"
    yield f"source: {variant.source}"


def describe_deal(rules: Rules, seed: bytes) -> Iterator[str]:
    """Everything that the seed decides, to check it or to lay it out with real cards."""
    deal = make_deal(rules, seed)
    yield f"{rules.name}, seed {seed.hex()}"
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


def _counts(rules: Rules) -> str:
    redeals = f", {_span(range(rules.redeals, rules.redeals + 1), 'redeal')}" if rules.redeals else ""
    how = " turned over" if rules.redeals and rules.redeal is Redeal.TURNED_OVER else ""
    return f"{rules.stock} in the stock, {rules.piles} waste pile{'s' * (rules.piles > 1)}{redeals}{how}"


def _span(allowed: range, what: str) -> str:
    low, high = allowed[0], allowed[-1]
    return f"{low} {what}{'s' * (low != 1)}" if low == high else f"{low} to {high} {what}s"


def _sequences(foundations: Sequence[Foundation]) -> Iterator[str]:
    for number, foundation in enumerate(foundations, 1):
        yield f"  {number}  by {foundation.step:+d}  {' '.join(map(rank_name, foundation.sequence()))}"


def _rows(cards: Sequence[Card]) -> Iterator[str]:
    for start in range(0, len(cards), CARDS_A_LINE):
        yield "  " + " ".join(cards[start : start + CARDS_A_LINE])
