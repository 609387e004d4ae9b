"""Win rates of careless policies over many games of every variant, beside the rates that others have published."""

import random
import sys
from dataclasses import dataclass
from multiprocessing import Pool

from benchmarks.figure import Figure, within
from fairest_cli.bots.policies import Policy, choose_greedy, choose_random
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import Ending, start_race
from fairest_protocol.calculation.rules import Rules, choose_rules

CHUNK = 500
PROCESSES = 2


@dataclass(frozen=True)
class Sample:
    """A number of games by these rules, and their published win rate in percent."""

    rules: Rules
    games: int
    wins: float
    tolerance: float
    policy: Policy = choose_greedy


SAMPLES = {
    "random_wins": Sample(choose_rules("classic"), 40_000, 0.0, 0.005, policy=choose_random),
    "greedy_wins": Sample(choose_rules("classic"), 120_000, 0.34, 0.06),
    "greedy_wins_easy_5_piles": Sample(choose_rules("easy", piles=5), 20_000, 1.0, 0.5),
    "greedy_wins_easy_6_piles": Sample(choose_rules("easy", piles=6), 20_000, 2.0, 0.5),
    "greedy_wins_broken": Sample(choose_rules("broken"), 20_000, 0.6, 0.5),
    "greedy_wins_senior_4_piles": Sample(choose_rules("senior"), 10_000, 1.4, 0.5),
    "greedy_wins_reverse": Sample(choose_rules("reverse"), 20_000, 1.3, 0.5),
    "greedy_wins_1_redeal": Sample(choose_rules("redeal"), 60_000, 20.0, 2.0),
    "greedy_wins_2_redeals": Sample(choose_rules("redeal", redeals=2), 10_000, 68.5, 2.0),
    "greedy_wins_betsy_ross_0_redeals": Sample(choose_rules("betsy-ross", redeals=0), 10_000, 0.0, 2.0),
    "greedy_wins_betsy_ross_1_redeal": Sample(choose_rules("betsy-ross", redeals=1), 10_000, 0.6, 2.0),
    "greedy_wins_betsy_ross_2_redeals": Sample(choose_rules("betsy-ross"), 10_000, 29.0, 2.0),
    "greedy_wins_single": Sample(choose_rules("single"), 20_000, 0.0, 0.005),
}


def measure_engine_sanity() -> list[Figure]:
    """Win rates of greedy play and of uniform random play; mean cards placed of greedy play in classic.

    The goals are figures published for these games. Two of ours fall short of them, and agree with a separate
    simulation of the same policies in C, 400,000 games each: cards placed in classic (27.59; published 28.55), and
    wins with two redeals (73.7 %; published 68.5). docs/decisions/0003-starters.md
    says what was tried to explain them.
    """
    figures = []
    for name, sample in SAMPLES.items():
        print(f"  {name}, {sample.games} games ...", file=sys.stderr)
        wins, placed = _play(sample)
        figures.append(within(name, 100 * wins, "%", sample.wins, sample.tolerance))
        if name == "greedy_wins":
            figures.append(within("greedy_cards_placed", placed, "cards", 28.55, 0.1))
            figures.append(within("greedy_cards_placed_in_c", placed, "cards", 27.59, 0.1))
        if name == "greedy_wins_2_redeals":
            figures.append(within("greedy_wins_2_redeals_in_c", 100 * wins, "%", 73.7, 2.0))
    return figures


def _play(sample: Sample) -> tuple[float, float]:
    with Pool(PROCESSES) as pool:
        chunks = pool.starmap(_play_chunk, [(sample, seed) for seed in range(sample.games // CHUNK)])
    wins, placed = (sum(column) for column in zip(*chunks, strict=True))
    return wins / sample.games, placed / sample.games


def _play_chunk(sample: Sample, seed: int) -> tuple[int, int]:
    chance, policy, rules = random.Random(seed), sample.policy, sample.rules
    wins = placed = 0
    for _ in range(CHUNK):
        race = start_race(rules, make_deal(rules, chance.randbytes(32)), seats=1)
        while not race.is_over:
            race = race.play(0, policy(race.racers[0].board, chance))
        score = race.outcome().scores[0]
        wins += score.ending is Ending.WON
        placed += score.placed
    return wins, placed
