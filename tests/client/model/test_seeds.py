"""Seeds that are typed, and the seed of the day."""

from datetime import date

from fairest_cli.model.seeds import daily_seed, read_seed
from fairest_protocol.calculation.rules import choose_rules

DAY = date(2026, 11, 24)


def test_the_training_deal_of_a_day_is_the_same_for_everybody() -> None:
    assert daily_seed(choose_rules("classic"), DAY) == "daily 2026-11-24 classic"


def test_each_day_has_another_training_deal() -> None:
    first, second = (read_seed(daily_seed(choose_rules("classic"), date(2026, 11, day))) for day in (24, 25))
    assert first != second


def test_each_variant_has_a_training_deal_of_its_own() -> None:
    assert daily_seed(choose_rules("easy"), DAY) != daily_seed(choose_rules("classic"), DAY)


def test_the_number_of_piles_does_not_change_the_training_deal() -> None:
    assert daily_seed(choose_rules("classic", piles=5), DAY) == daily_seed(choose_rules("classic"), DAY)
