"""The test of whether decks are uniform: right probabilities, no alarm for fair decks, one for chosen ones."""

import random

import pytest

from fairest_cli.records.uniformity import RankTable, upper_chi_square
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
    for _ in range(60):
        table = RankTable(CLASSIC)
        for _ in range(20):
            table.add(chance.randbytes(32))
        values.append(table.judge().p_value)
    assert 0.35 < sum(values) / len(values) < 0.65


def test_too_few_decks_say_nothing_and_how_many_are_needed() -> None:
    table = RankTable(CLASSIC)
    table.add(bytes(32))
    result = table.judge()
    assert (result.groups, result.p_value, result.needed) == (0, 1.0, 4)


def test_more_decks_compare_more_groups_of_positions() -> None:
    table, chance, groups = RankTable(CLASSIC), random.Random(3), set()
    for _ in range(90):
        table.add(chance.randbytes(32))
        groups.add(table.judge().groups)
    assert {4, CLASSIC.stock} <= groups


def test_a_server_that_drops_three_of_five_decks_is_seen_in_the_decks_that_are_left() -> None:
    """It keeps two of five: those with the lowest ranks in the first twelve cards."""
    table, chance = RankTable(CLASSIC), random.Random(4)
    for _ in range(60):
        seeds = [chance.randbytes(32) for _ in range(5)]
        for seed in sorted(seeds, key=lambda each: sum(map(rank, make_deal(CLASSIC, each).orders[0][:12])))[:2]:
            table.add(seed)
    assert table.judge().p_value < 1e-6
