"""The times that rivals take for a move."""

import random
from statistics import mean

from fairest_cli.bots.pace import HARD_LEAD, human_seconds


def mean_seconds(lead: float) -> float:
    chance = random.Random(1)
    return mean(human_seconds(2.0, lead, chance) for _ in range(4000))


def test_a_hard_choice_takes_more_than_three_times_as_long_as_a_forced_move() -> None:
    assert mean_seconds(0.0) > 3 * mean_seconds(1.0)


def test_the_closer_the_best_two_moves_the_longer_it_takes() -> None:
    times = [mean_seconds(share * HARD_LEAD) for share in (0, 0.25, 0.5, 0.75, 1)]
    assert times == sorted(times, reverse=True)


def test_a_lead_below_zero_is_a_hard_choice_and_not_an_endless_one() -> None:
    assert mean_seconds(-1.0) == mean_seconds(0.0)


def test_no_two_moves_take_the_same_time() -> None:
    chance = random.Random(1)
    assert human_seconds(2.0, 1.0, chance) != human_seconds(2.0, 1.0, chance)
