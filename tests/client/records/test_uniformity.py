"""The test of whether decks are uniform: right probabilities, no alarm for fair decks, one for chosen ones."""

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from fairest_cli.records.uniformity import RankTable, Uniformity, upper_chi_square
from fairest_protocol.calculation.cards import rank
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.rules import VARIANTS, choose_rules

CLASSIC = choose_rules("classic")


@pytest.mark.parametrize(
    ("statistic", "freedom", "wanted"),
    # From tables of the distribution: the upper 5, 1 and 0.1 percent.
    [
        (3.841, 1, 0.05),
        (18.307, 10, 0.05),
        (135.807, 100, 0.01),
        (149.449, 100, 0.001),
        (0.0, 5, 1.0),
        (124.342, 100, 0.05),
    ],
)
def test_the_probability_of_chi_square_is_that_of_the_tables(statistic: float, freedom: int, wanted: float) -> None:
    assert upper_chi_square(statistic, freedom) == pytest.approx(wanted, rel=2e-3)


@pytest.mark.parametrize("statistic", [0.01, 0.5, 1.0, 7.0, 90.0, 700.0])
def test_the_probability_of_chi_square_is_that_of_its_closed_forms(statistic: float) -> None:
    x = statistic / 2
    first, second, fourth = math.erfc(math.sqrt(x)), math.exp(-x), math.exp(-x) * (1 + x)
    third = first + math.exp(-x) * 2 * math.sqrt(x / math.pi)
    found = [upper_chi_square(statistic, freedom) for freedom in (1, 2, 3, 4)]
    assert found == pytest.approx([first, second, third, fourth], rel=1e-12)


def test_a_very_large_statistic_has_a_probability_near_zero() -> None:
    assert 0 <= upper_chi_square(5_000, 564) < 1e-100


@pytest.mark.parametrize("name", VARIANTS)
def test_fair_decks_of_every_variant_raise_no_alarm(name: str) -> None:
    table, chance = RankTable(choose_rules(name)), random.Random(1)
    for _ in range(300):
        table.add(chance.randbytes(32))
    assert table.judge().p_value > 0.001


def test_p_values_of_fair_decks_are_spread_evenly() -> None:
    """A scale that is wrong would push them to one end."""
    chance, values = random.Random(2), []
    for _ in range(200):
        table = RankTable(CLASSIC)
        for _ in range(5):
            table.add(chance.randbytes(32))
        values.append(table.judge().p_value)
    assert 0.4 < sum(values) / len(values) < 0.6


def test_too_few_decks_say_nothing_and_how_many_are_needed() -> None:
    table = RankTable(CLASSIC)
    table.add(bytes(32))
    assert table.judge() == Uniformity(1, needed=4, groups=0, chi_square=0.0, freedom=0, p_value=1.0)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_decks_that_are_needed_are_enough_and_one_less_is_not(name: str) -> None:
    table, chance = RankTable(choose_rules(name)), random.Random(6)
    needed = table_of(table, chance, 1).judge().needed
    before, enough = table_of(table, chance, needed - 1).judge(), table_of(table, chance, needed).judge()
    assert (before.groups, bool(enough.groups)) == (0, True)


def table_of(table: RankTable, chance: random.Random, decks: int) -> RankTable:
    """Return the table, with decks added until it has this many."""
    while table.decks < decks:
        table.add(chance.randbytes(32))
    return table


def compare(decks: Sequence[Sequence[int]], groups: int) -> tuple[float, int]:
    """Return chi-square and its degrees of freedom, of the ranks of these decks in so many groups of positions."""
    width, ranks = len(decks[0]) // groups, Counter(decks[0])
    chi_square = 0.0
    for number, count in ranks.items():
        expected = count * len(decks) / groups
        for group in range(groups):
            counted = sum(deck[group * width : (group + 1) * width].count(number) for deck in decks)
            chi_square += (counted - expected) ** 2 / expected
    return chi_square * (1 - 1 / len(decks[0])), (groups - 1) * (len(ranks) - 1)


# The stock has 48 cards; of four ranks it has three.
@pytest.mark.parametrize(
    ("decks", "tried"), [(4, [2]), (6, [3]), (7, [4]), (10, [4, 6]), (11, [4, 6]), (79, [4, 24]), (80, [4, 48])]
)
def test_the_ranks_are_compared_in_four_groups_and_in_as_many_as_the_decks_allow(decks: int, tried: list[int]) -> None:
    chance, table = random.Random(decks), RankTable(CLASSIC)
    seeds = [chance.randbytes(32) for _ in range(decks)]
    for seed in seeds:
        table.add(seed)
    dealt = [[rank(card) for card in make_deal(CLASSIC, seed).orders[0]] for seed in seeds]
    found = [(*compare(dealt, groups), groups) for groups in tried]
    p_value, (chi_square, freedom, groups) = min((upper_chi_square(*each[:2]), each) for each in found)
    result = table.judge()
    assert (result.freedom, result.groups) == (freedom, groups)
    assert (result.chi_square, result.p_value) == pytest.approx((chi_square, min(1.0, p_value * len(tried))))


def test_a_server_that_drops_three_of_five_decks_is_seen_in_the_decks_that_are_left() -> None:
    """It keeps two of five: those with the lowest ranks in the first twelve cards."""
    table, chance = RankTable(CLASSIC), random.Random(4)
    for _ in range(60):
        seeds = [chance.randbytes(32) for _ in range(5)]
        for seed in sorted(seeds, key=lambda each: sum(map(rank, make_deal(CLASSIC, each).orders[0][:12])))[:2]:
            table.add(seed)
    assert table.judge().p_value < 1e-6
