"""Certified deals: how many first steps are proved, what a step costs, and what passing deals over does to the odds."""

import random
import sys
import time

from benchmarks.bots import wilson_interval
from benchmarks.figure import Figure, written_down
from fairest_cli.bots.levels import Level, decide
from fairest_protocol.calculation.certified import STEP_NODES, check_certifiable
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, BadRules, Rules, choose_rules
from fairest_protocol.calculation.solver import LineSearch

CLASSIC_DEALS = 2_000
OTHER_DEALS = 100
RACED_DEALS = 100
"""Of the classic deals, this many at most of either kind are raced by the bot."""


def measure_certified() -> list[Figure]:
    """The share of first steps that are proved, their CPU time, and the bot's win rates on both kinds of deals."""
    figures = []
    for name, variant in VARIANTS.items():
        try:
            check_certifiable(variant.rules)
        except BadRules:
            continue
        is_classic, label = name == "classic", name.replace("-", "_")
        proved, passed_over, times = _search_many(variant.rules, CLASSIC_DEALS if is_classic else OTHER_DEALS)
        count = len(times)
        low, high = (100 * each for each in wilson_interval(len(proved), count))
        print(f"  {name}: {len(proved)} of {count} first steps proved [{low:.1f}, {high:.1f}] %", file=sys.stderr)
        figures.append(written_down(f"certified_first_step_{label}", 100 * len(proved) / count, "%"))
        figures.append(written_down(f"certified_step_p50_ms_{label}", 1000 * times[count // 2], "ms"))
        figures.append(written_down(f"certified_step_p99_ms_{label}", 1000 * times[int(0.99 * count)], "ms"))
        if is_classic:
            figures.append(written_down("certified_step_mean_ms_classic", 1000 * sum(times) / count, "ms"))
            figures += [_win_rate("proved", proved), _win_rate("passed_over", passed_over)]
    return figures


def _search_many(rules: Rules, deals: int) -> tuple[list[bytes], list[bytes], list[float]]:
    """Search the first steps of as many rounds; return the seeds proved, those passed over, and the CPU seconds."""
    chance = random.Random(f"certified {rules.name}")
    proved, passed_over, times = list[bytes](), list[bytes](), list[float]()
    for _ in range(deals):
        seed = chance.randbytes(32)
        began = time.process_time()
        line = LineSearch(start_race(rules, make_deal(rules, seed), seats=1), 0, STEP_NODES).find()
        times.append(time.process_time() - began)
        (passed_over if line is None else proved).append(seed)
    return proved, passed_over, sorted(times)


def _win_rate(kind: str, seeds: list[bytes]) -> Figure:
    """Return the win rate of the club bot on classic deals of one kind."""
    rules, raced = choose_rules("classic"), seeds[:RACED_DEALS]
    wins = sum(_is_won(rules, seed) for seed in raced)
    low, high = (100 * each for each in wilson_interval(wins, len(raced)))
    print(f"  {kind}: club wins {wins} of {len(raced)} deals [{low:.1f}, {high:.1f}] %", file=sys.stderr)
    return written_down(f"certified_club_wins_{kind}", 100 * wins / len(raced), "%")


def _is_won(rules: Rules, seed: bytes) -> bool:
    race, chance = start_race(rules, make_deal(rules, seed), seats=1), random.Random(seed)
    while not race.is_over:
        race = race.play(0, decide(Level.CLUB, race.racers[0].board, rules, chance.getrandbits(63)).move)
    return race.racers[0].board.is_won
