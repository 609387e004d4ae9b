"""Whether the decks that a server dealt look uniform: the chi-square test of the rank at each position. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from fairest_protocol.calculation.cards import Card, rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.rules import RolledFoundations, Rules
from fairest_protocol.value import Value, replace

LEAST_EXPECTED: Final = 5
"""Below this expected count the statistic of a cell is not near enough to its distribution."""
FEW_GROUPS: Final = 4


class Uniformity(Value):
    """The result for one variant. `groups` is the number of groups of positions that were compared.

    It is 0 if there are fewer decks than `needed`; then `p_value` is 1.

    The ranks are compared in a few groups, and in as many as the number of decks allows; this is the comparison that
    uniform decks explain worse. `p_value` is a bound of the probability that they do so, for one of the two.
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
        self._in_deck = Counter(map(rank, _deck(rules, bytes(32))))
        self._counts = [Counter[int]() for _ in range(self._in_deck.total())]
        self.decks = 0

    def add(self, seed: bytes) -> None:
        """Count the deck of a seed."""
        self.decks += 1
        for position, card in enumerate(_deck(self._rules, seed)):
            self._counts[position][rank(card)] += 1

    def judge(self) -> Uniformity:
        """Compare the counts with those of uniform decks."""
        least, positions = min(self._in_deck.values()), len(self._counts)
        needed = math.ceil(2 * LEAST_EXPECTED / least)
        sizes = [size for size in range(2, positions + 1) if positions % size == 0]
        fine = [groups for groups in sizes if self.decks * least / groups >= LEAST_EXPECTED]
        if not fine:
            return Uniformity(self.decks, needed)
        # Many groups show where single cards lie, few show a tilt of the whole deck, with fewer decks.
        tried = {max(fine), min((groups for groups in fine if groups >= FEW_GROUPS), default=max(fine))}
        found = min((self._compare(groups, needed) for groups in tried), key=lambda each: each.p_value)
        # The lesser of two p-values is below p with at most twice that probability, independent or not.
        return replace(found, p_value=min(1.0, len(tried) * found.p_value))

    def _compare(self, groups: int, needed: int) -> Uniformity:
        """Compare the counts of each rank in so many groups of positions."""
        positions = len(self._counts)
        width = positions // groups
        statistic = 0.0
        for group in range(groups):
            rows = self._counts[group * width : (group + 1) * width]
            for number, in_deck in self._in_deck.items():
                expected = self.decks * in_deck / groups
                statistic += (sum(row[number] for row in rows) - expected) ** 2 / expected
        # A deck draws without putting back: its counts vary less than those of independent draws, by this factor.
        statistic *= (positions - 1) / positions
        freedom = (groups - 1) * (len(self._in_deck) - 1)
        return Uniformity(self.decks, needed, groups, statistic, freedom, upper_chi_square(statistic, freedom))


def _deck(rules: Rules, seed: bytes) -> Sequence[Card]:
    """Return the cards whose order is drawn: the stock, and in front of it starters that are the first cards drawn."""
    deal = make_deal(rules, seed)
    drawn = deal.starters if isinstance(rules.foundations, RolledFoundations) else ()
    return (*drawn, *deal.orders[0])


def upper_chi_square(statistic: float, freedom: int) -> float:
    """Return the probability that chi-square with so many degrees of freedom is at least `statistic`.

    For a whole number of degrees this is a finite sum of positive terms, so it is as exact near 0 as near 1 (Abramowitz
    and Stegun, 26.4.4 and 26.4.5).
    """
    if statistic <= 0:
        return 1.0
    x = statistic / 2
    tail = math.erfc(math.sqrt(x)) if freedom % 2 else 0.0
    powers = (freedom % 2 / 2 + step for step in range(freedom // 2))
    return math.fsum((tail, *(math.exp(power * math.log(x) - x - math.lgamma(power + 1)) for power in powers)))
