"""The output of `fairest rules` about a variant, and of `fairest deal` about one deal of it. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from fairest_cli.text.board_text import card_name
from fairest_protocol.calculation.cards import Card, rank_name
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS
from fairest_protocol.calculation.rules import VARIANTS, Foundation, Redeal, RolledFoundations, Rules, Variant, span

CARDS_PER_LINE: Final = 16
REDEALS: Final = {Redeal.RESHUFFLED: "reshuffled", Redeal.TURNED_OVER: "turned over"}


def describe_variants() -> Iterator[str]:
    """Yield a line for each variant."""
    for name, variant in VARIANTS.items():
        yield f"{name:<11} {variant.title:<26} {describe_counts(variant.rules)}"


def describe_variant(variant: Variant, rules: Rules, seed: bytes | None) -> Iterator[str]:
    """Yield the reference card of a variant, to print or to keep on the screen.

    Where the deal decides the sequences, they are those of `seed`; without one the card says how they come about.
    """
    yield f"{variant.title} ({rules.name})"
    if variant.also:
        yield f"  also called {', '.join(variant.also)}"
    how = f", {REDEALS[rules.redeal]}" if rules.redeals else ""
    yield f"  {describe_counts(rules)}{how}; {rules.goal} cards to place"
    yield f"  may be played with {span(variant.piles, 'waste pile')} and {span(variant.redeals, 'redeal')}"
    if not isinstance(rules.foundations, RolledFoundations):
        yield from _sequences(rules.foundations)
    elif seed is not None:
        yield from _sequences(make_deal(rules, seed).foundations)
    else:
        yield from _describe_rolled(rules.foundations)
    if not rules.starters:
        yield "  the foundations start empty"
    if rules.markers:
        yield f"  out of play: {' '.join(map(rank_name, rules.markers))}"
    yield from _moves(rules)
    yield f"  source: {variant.source}"


def describe_deal(rules: Rules, seed: bytes) -> Iterator[str]:
    """Yield everything that the seed decides, to check a deal or to lay it out with real cards."""
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
    """Return the numbers of stock cards, waste piles and redeals in words."""
    piles, redeals = (range(number, number + 1) for number in (rules.piles, rules.redeals))
    return f"{rules.stock} stock cards, {span(piles, 'waste pile')}, {span(redeals, 'redeal')}"


def _describe_rolled(rolled: RolledFoundations) -> Iterator[str]:
    yield f"  starters: the first {rolled.count} cards of the shuffled deck"
    yield f"  steps: a die for each, +1 to +{rolled.sides}; --seed shows those of one deal"


def _moves(rules: Rules) -> Iterator[str]:
    """Yield the notation of the moves that exist under these rules."""
    foundation, pile = FOUNDATION_DIGITS[rules.foundation_count - 1], PILE_LETTERS[rules.piles - 1]
    piles = "sa" if rules.piles == 1 else f"sa-s{pile}"
    redeal = "; redeal" if rules.redeals else ""
    yield f"  moves: s1-s{foundation} and {piles} the turned card, a1-{pile}{foundation} the top of a pile{redeal}"


def _sequences(foundations: Sequence[Foundation]) -> Iterator[str]:
    for number, foundation in enumerate(foundations, 1):
        yield f"  {number}  by {foundation.step:+d}  {' '.join(map(rank_name, foundation.sequence()))}"


def _rows(cards: Sequence[Card]) -> Iterator[str]:
    for start in range(0, len(cards), CARDS_PER_LINE):
        yield "  " + " ".join(cards[start : start + CARDS_PER_LINE])
