"""Whether the decks that a server dealt look uniform: the chi-square test of the rank at each position. Pure."""

import math
from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.cards import Card, rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.rules import RolledFoundations, Rules
from fairest_protocol.value import Value, replace

LEAST_EXPECTED: Final = 5.0
"""Below this expected count the statistic of a cell is not near enough to its distribution."""
FEW_GROUPS: Final = 4
RANKS: Final = 13


class Uniformity(Value):
    """The result for one variant. `groups` is the number of groups of positions that were compared.

    It is 0 if there are fewer decks than `needed`; then `p_value` is 1.

    The ranks are compared in a few groups, and in as many as the number of decks allows; this is the comparison that
    uniform decks explain worse. `p_value` is the probability that they do so, for one of the two.
    """

    decks: int
    needed: int
    groups: int = 0
    chi_square: float = 0.0
    freedom: int = 0
    p_value: float = 1.0


class RankTable:
    """Counts of the ranks at each position, over decks of one variant."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._in_deck = [0] * RANKS
        for card in _deck(rules, bytes(32)):
            self._in_deck[rank(card) - 1] += 1
        self._positions = sum(self._in_deck)
        self._counts = [[0] * RANKS for _ in range(self._positions)]
        self.decks = 0

    def add(self, seed: bytes) -> None:
        """Count the deck of a seed."""
        self.decks += 1
        for position, card in enumerate(_deck(self._rules, seed)):
            self._counts[position][rank(card) - 1] += 1

    def judge(self) -> Uniformity:
        """Compare the counts with those of uniform decks."""
        least = min(count for count in self._in_deck if count)
        needed = math.ceil(2 * LEAST_EXPECTED / least)
        sizes = [size for size in range(2, self._positions + 1) if self._positions % size == 0]
        fine = [groups for groups in sizes if self.decks * least / groups >= LEAST_EXPECTED]
        if not fine:
            return Uniformity(self.decks, needed)
        # Many groups show where single cards lie, few show a tilt of the whole deck, with fewer decks.
        tried = sorted({max(fine), min((groups for groups in fine if groups >= FEW_GROUPS), default=max(fine))})
        found = min((self._compare(groups) for groups in tried), key=lambda each: each.p_value)
        return replace(found, needed=needed, p_value=_least_of(len(tried), found.p_value))

    def _compare(self, groups: int) -> Uniformity:
        """Compare the counts of each rank in so many groups of positions."""
        width = self._positions // groups
        statistic = 0.0
        for group in range(groups):
            rows = self._counts[group * width : (group + 1) * width]
            for number, in_deck in enumerate(self._in_deck):
                if in_deck:
                    expected = self.decks * in_deck / groups
                    statistic += (sum(row[number] for row in rows) - expected) ** 2 / expected
        # A deck draws without putting back: its counts vary less than those of independent draws, by this factor.
        statistic *= (self._positions - 1) / self._positions
        freedom = (groups - 1) * (sum(map(bool, self._in_deck)) - 1)
        return Uniformity(self.decks, 0, groups, statistic, freedom, upper_chi_square(statistic, freedom))


def _deck(rules: Rules, seed: bytes) -> Sequence[Card]:
    """Return the cards whose order is drawn: the stock, and in front of it starters that are the first cards drawn."""
    deal = make_deal(rules, seed)
    drawn = deal.starters if isinstance(rules.foundations, RolledFoundations) else ()
    return (*drawn, *deal.orders[0])


def _least_of(count: int, p_value: float) -> float:
    """Return the probability that the least of `count` independent p-values is at most `p_value`."""
    return 1.0 if p_value >= 1 else -math.expm1(count * math.log1p(-p_value))


def upper_chi_square(statistic: float, freedom: int) -> float:
    """Return the probability that chi-square with so many degrees of freedom is at least `statistic`."""
    half, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    scale = math.exp(half * math.log(x) - x - math.lgamma(half))
    return 1.0 - scale * _series(half, x) if x < half + 1 else scale * _fraction(half, x)


def _series(half: float, x: float) -> float:
    """Return the series of the lower incomplete gamma function, without its scale."""
    term = total = 1 / half
    divisor = half
    while term > total * 1e-15:
        divisor += 1
        term *= x / divisor
        total += term
    return total


def _fraction(half: float, x: float) -> float:
    """Return the continued fraction of the upper incomplete gamma function, without its scale (Lentz's method)."""
    tiny = 1e-300
    b = x + 1 - half
    c, d = 1 / tiny, 1 / b
    value = d
    for step in range(1, 10_000):
        a = -step * (step - half)
        b += 2
        d = 1 / (a * d + b or tiny)
        c = b + a / c or tiny
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
