"""The deal that both players get: a pure function of a seed and the rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fairest_protocol.calculation.cards import Card, full_deck, rank
from fairest_protocol.calculation.rules import Foundation, Redeal, RolledFoundations, Rules
from fairest_protocol.calculation.seal import (
    ENVELOPE_BYTES,
    draw_below,
    make_envelopes,
    make_salt,
    random_bytes,
    shuffle,
)
from fairest_protocol.value import Value


class Deal(Value):
    """Starters, markers, and for each pass the committed order of *all* stock cards.

    `orders[0]` is the stock of the first pass. After redeal n the cards of the waste are the stock again, in the order
    that they have in `orders[n]`; where the waste is turned over, `orders[n]` equals `orders[0]`. So cards come back
    in the same order for both players, no matter which of them redeals first and how their piles lie.
    """

    foundations: tuple[Foundation, ...]
    starters: tuple[Card, ...]
    markers: tuple[Card, ...]
    orders: tuple[tuple[Card, ...], ...]


@dataclass(frozen=True, slots=True)
class SealedDeal:
    """The deal of a round and its envelopes. Each salt, and the envelopes together, are computed on first use and kept.

    `step` is the step of a certified round, whose deal has a seed of its own; None for every other round.
    Reading a log to restore a race needs only a few salts, and computing all of them takes longer than the deal.
    """

    round_id: bytes
    deal: Deal
    seed: bytes
    _salts: list[list[bytes]] = field(compare=False, repr=False)
    """The cache of salts by sealed pass and position; empty bytes for a salt that is not computed yet."""
    step: int | None = field(default=None, kw_only=True)
    _envelopes: list[bytes] = field(default_factory=list, init=False, compare=False, repr=False)
    """The cache of envelopes: the bytes of each sealed pass. As objects of their own they would take 2 KiB more."""

    def salt(self, pass_number: int, position: int) -> bytes:
        """Return the salt of the envelope that holds the card at this position of this pass."""
        number = sealed_pass(pass_number, self._salts)
        salts = self._salts[number]
        salt = salts[position]
        if not salt:
            salt = salts[position] = make_salt(self.seed, number, position)
        return salt

    @property
    def envelopes(self) -> tuple[tuple[bytes, ...], ...]:
        """For each sealed pass and position, the hash that hides its card: for the deal, and again for the record."""
        if not self._envelopes:
            self._envelopes.extend([self._seal(number) for number in range(len(self._salts))])
        return tuple(
            tuple([sealed[at : at + ENVELOPE_BYTES] for at in range(0, len(sealed), ENVELOPE_BYTES)])
            for sealed in self._envelopes
        )

    def _seal(self, number: int) -> bytes:
        """Return the envelopes of one pass, one after the other."""
        salts = [self.salt(number, position) for position in range(len(self._salts[number]))]
        return make_envelopes(self.round_id, number, self.deal.orders[number], salts)


def make_deal(rules: Rules, seed: bytes) -> Deal:
    """Shuffle the whole deck, lay out starters and markers, and fix the order of every redeal.

    Starters and markers are the first cards of their ranks in the *unshuffled* deck, wherever the shuffle put them.
    Taking the first ones of the shuffled deck would leave the early stock short of their ranks
    (docs/decisions/0003-starters.md).
    """
    deck = shuffle(full_deck(rules.decks), random_bytes("shuffle", seed))
    unlaid = list(full_deck(rules.decks))
    if isinstance(rules.foundations, RolledFoundations):
        starters = deck[: rules.foundations.count]
        foundations = _roll_foundations(rules.foundations, starters, random_bytes("dice", seed))
    else:
        foundations = rules.foundations
        laid = foundations if rules.starters else ()
        starters = tuple(_take_first(unlaid, foundation.start) for foundation in laid)
    markers = tuple(_take_first(unlaid, number) for number in rules.markers)
    stock = tuple(card for card in deck if card not in starters and card not in markers)
    redeals = range(1, rules.redeals + 1)
    if rules.redeal is Redeal.RESHUFFLED:
        orders = tuple(shuffle(stock, random_bytes("redeal", seed, bytes([number]))) for number in redeals)
    else:
        orders = tuple(stock for _ in redeals)
    return Deal(foundations, starters, markers, (stock, *orders))


def seal_deal(rules: Rules, seed: bytes, round_id: bytes, step: int | None = None) -> SealedDeal:
    """Return the deal of a seed, with an envelope for each position of the stock and of each reshuffled redeal.

    `step` is that of a certified round, to whose `seed` it has led. A pass in which the waste was turned over has no
    envelopes of its own: the cards come back in the order of the stock, whose envelopes are open by then.
    """
    deal = make_deal(rules, seed)
    sealed = deal.orders if rules.redeal is Redeal.RESHUFFLED else deal.orders[:1]
    return SealedDeal(round_id, deal, seed, [[b""] * len(order) for order in sealed], step=step)


def sealed_pass(pass_number: int, envelopes: Sequence[object]) -> int:
    """Return the pass whose envelopes hold the cards of `pass_number`: itself, or 0 where the waste is turned over.

    `envelopes` has one item for each sealed pass.
    """
    return pass_number if pass_number < len(envelopes) else 0


def _take_first(deck: list[Card], wanted: int) -> Card:
    return deck.pop(next(index for index, card in enumerate(deck) if rank(card) == wanted))


def _roll_foundations(
    rolled: RolledFoundations, starters: tuple[Card, ...], dice: Iterator[int]
) -> tuple[Foundation, ...]:
    """Roll the steps; roll all of them again while two foundations need the same cards in the same order."""
    while True:
        foundations = tuple(
            Foundation(rank(starter), draw_below(rolled.sides, dice) + 1, rolled.length) for starter in starters
        )
        if len(set(foundations)) == len(foundations):
            return foundations
