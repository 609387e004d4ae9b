"""The engine against a separate simulation of the game: careless policies, a small sample of each variant.

`make bench ONLY=engine_sanity` measures the win rates on large samples.
"""

import random
from math import sqrt

import pytest

from fairest_cli.bots.policies import Policy, choose_greedy, choose_random
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Ending, Score, start_race
from fairest_protocol.calculation.rules import Rules, choose_rules
from tests.support.long_tests import parametrize_with_long

GAMES = 400


def play(rules: Rules, policy: Policy, games: int, seed: int) -> list[Score]:
    chance = random.Random(seed)
    scores = []
    for _ in range(games):
        race = start_race(rules, make_deal(rules, chance.randbytes(32)), seats=1)
        while not race.is_over:
            race = race.play(0, policy(race.racers[0].board, chance))
        scores.append(race.outcome().scores[0])
    return scores


@parametrize_with_long(
    ("name", "piles", "redeals", "mean", "deviation"),
    [
        ("classic", 4, 0, 27.591, 6.01),
        ("easy", 5, 0, 29.860, 6.74),
        ("easy", 6, 0, 31.992, 7.29),
        ("broken", 4, 0, 28.409, 6.82),
        ("senior", 4, 0, 74.714, 10.09),
        ("reverse", 4, 0, 30.420, 7.04),
        ("redeal", 4, 1, 44.054, 6.07),
        ("redeal", 4, 2, 50.706, 2.52),
        ("betsy-ross", 1, 0, 19.803, 3.38),
        ("betsy-ross", 1, 1, 32.338, 4.27),
        ("betsy-ross", 1, 2, 43.253, 3.99),
        ("single", 1, 0, 21.179, 3.50),
    ],
    quick=1,
)
def test_greedy_play_places_as_many_cards_as_in_a_separate_simulation(
    name: str, piles: int, redeals: int, mean: float, deviation: float
) -> None:
    """Mean and standard deviation of 400,000 games written in C; four standard errors of our sample."""
    scores = play(choose_rules(name, piles, redeals), choose_greedy, GAMES, seed=7)
    assert sum(score.placed for score in scores) / GAMES == pytest.approx(mean, abs=4 * deviation / sqrt(GAMES))


def test_uniform_random_play_does_not_win() -> None:
    assert not [score for score in play(choose_rules("classic"), choose_random, 300, 7) if score.ending is Ending.WON]
