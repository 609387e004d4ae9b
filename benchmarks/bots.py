"""Win rates, thinking times and Elo of the levels of the bots, on deals that no tuning has used.

`python -m benchmarks.bots --levels club --variants classic broken --deals 100` plays less than `make bench ONLY=bots`.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from multiprocessing import Pool

from benchmarks.figure import Figure, written_down
from fairest_cli.bots.levels import PROFILES, Level, decide
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS, choose_rules

PROCESSES = 2
SEED = 30
DEALS = {Level.CARELESS: 1000, Level.LEARNER: 1000, Level.CLUB: 1000, Level.STRONG: 300, Level.EXPERT: 300}
"""Deals of classic for each level."""
VARIANT_DEALS = {Level.CARELESS: 300, Level.LEARNER: 300, Level.CLUB: 100, Level.STRONG: 60, Level.EXPERT: 30}
"""Deals of each other variant for each level."""
GOALS = {
    Level.CARELESS: (0.0, 1.0),
    Level.LEARNER: (7.0, 13.0),
    Level.CLUB: (44.0, 56.0),
    Level.STRONG: (65.0, 100.0),
    Level.EXPERT: (78.0, 100.0),
}
"""Lowest and highest win rate of each level in classic, in percent."""
MOST_MS = {Level.STRONG: 50.0, Level.EXPERT: 500.0}
"""The 95th percentile that the thinking time of a move may reach, on one core."""
RACES = 100
"""Races of each pair of levels."""


@dataclass(frozen=True)
class Game:
    """One game of a level. `thinking_ms` has the processor time of each decision in which there was a choice."""

    is_won: bool
    placed: int
    moves: int
    thinking_ms: tuple[float, ...]


@dataclass
class Sample:
    """All games of a level with a variant."""

    level: Level
    variant: str
    games: list[Game] = field(default_factory=list)

    @property
    def wins(self) -> int:
        return sum(game.is_won for game in self.games)

    def figures(self) -> Iterator[Figure]:
        name, share = f"bot_{self.level}_{self.variant}", self.wins / len(self.games)
        low, high = wilson_interval(self.wins, len(self.games))
        if self.variant == "classic":
            least, most = GOALS[self.level]
            yield Figure(f"{name}_wins", 100 * share, "%", f"{least:g} to {most:g}", least <= 100 * share <= most)
        else:
            yield written_down(f"{name}_wins", 100 * share, "%")
        yield written_down(f"{name}_wins_low", 100 * low, "%")
        yield written_down(f"{name}_wins_high", 100 * high, "%")
        yield written_down(f"{name}_placed", statistics.mean(game.placed for game in self.games), "cards")
        times = sorted(ms for game in self.games for ms in game.thinking_ms)
        if times:
            p50, p95 = (times[len(times) * percent // 100] for percent in (50, 95))
            yield written_down(f"{name}_thinking_p50", p50, "ms")
            limit = MOST_MS.get(self.level) if self.variant == "classic" else None
            goal = f"<= {limit:g}" if limit else "(written down)"
            yield Figure(f"{name}_thinking_p95", p95, "ms", goal, limit is None or p95 <= limit)


def measure_bots() -> list[Figure]:
    """Win rates of all levels in all variants, their thinking times, and Elo by races in classic."""
    figures: list[Figure] = []
    classic = [play_sample(level, "classic", DEALS[level]) for level in Level]
    for sample in classic:
        figures += sample.figures()
    figures += elo_figures(classic)
    for variant in VARIANTS:
        for level in Level if variant != "classic" else ():
            figures += play_sample(level, variant, VARIANT_DEALS[level]).figures()
    return figures


def play_sample(level: Level, variant: str, deals: int) -> Sample:
    """Play the first `deals` deals of the benchmark, and print the progress on standard error."""
    sample = Sample(level, variant)
    began = time.monotonic()
    with Pool(PROCESSES) as pool:
        for game in pool.imap(_play, [(level, variant, number) for number in range(deals)]):
            sample.games.append(game)
            count = len(sample.games)
            if count % max(1, deals // 20) == 0 or count == deals:
                low, high = wilson_interval(sample.wins, count)
                print(
                    f"  {level} {variant}: {count} of {deals} deals, {sample.wins / count:.1%} won"
                    f" [{low:.1%}, {high:.1%}], {time.monotonic() - began:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return sample


def _play(job: tuple[Level, str, int]) -> Game:
    level, variant, number = job
    rules = choose_rules(variant)
    deal_chance = random.Random(f"{SEED} {variant} {number}")
    race = start_race(rules, make_deal(rules, deal_chance.randbytes(32)), seats=1)
    chance, moves, times = random.Random(f"{SEED} {level} {number}"), 0, []
    while not race.is_over:
        board = race.racers[0].board
        began = time.thread_time()
        decision = decide(level, board, rules, chance.getrandbits(63))
        if decision.lead != 1.0 and PROFILES[level].budget:
            times.append(1000 * (time.thread_time() - began))
        race = race.play(0, decision.move)
        moves += 1
    board = race.racers[0].board
    return Game(board.is_won, board.placed, moves, tuple(times))


def elo_figures(samples: Sequence[Sample]) -> Iterator[Figure]:
    """Elo of the levels by `RACES` races of each pair, the weakest level at 0; each in the order of the levels.

    A level sees only its own board, so its game on a deal is the same against every opponent: the races are put
    together from the games. The seats move in turns: of two that place all cards, the one with fewer moves wins, and
    equal ones draw.
    """
    races = min(RACES, *(len(sample.games) for sample in samples))
    points: dict[tuple[int, int], float] = {}
    for first, second in combinations(range(len(samples)), 2):
        pairs = list(zip(samples[first].games, samples[second].games, strict=False))[:races]
        points[first, second] = sum(race_points(one, other) for one, other in pairs)
        points[second, first] = races - points[first, second]
        name = f"bot_points_{samples[second].level}_against_{samples[first].level}"
        yield written_down(name, points[second, first], f"of {races}")
    ratings = fit_elo(points, len(samples))
    for sample, rating in zip(samples, ratings, strict=True):
        yield written_down(f"bot_{sample.level}_elo", rating - ratings[0], "Elo")
    in_order = all(weaker < stronger for weaker, stronger in pairwise(ratings))
    yield Figure("bot_levels_in_order", float(in_order), "", "1", in_order)


def race_points(one: Game, other: Game) -> float:
    """Return 1, 0.5 or 0 for the first of two games on one deal."""
    mine, theirs = ((game.is_won, -game.moves if game.is_won else game.placed) for game in (one, other))
    return 0.5 if mine == theirs else float(mine > theirs)


def fit_elo(points: dict[tuple[int, int], float], players: int) -> list[float]:
    """Return the Elo ratings that fit these points best (Bradley-Terry), with one draw of each pair added."""
    ratings = [0.0] * players
    for _ in range(5000):
        for me in range(players):
            gradient = weight = 0.0
            for other in range(players):
                if other != me:
                    games = points[me, other] + points[other, me] + 1
                    expected = 1 / (1 + 10 ** ((ratings[other] - ratings[me]) / 400))
                    gradient += points[me, other] + 0.5 - games * expected
                    weight += games * expected * (1 - expected)
            ratings[me] += 400 / math.log(10) * gradient / weight / 2
    return ratings


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """Return the 95 % interval of a win rate."""
    z, share = 1.96, wins / games
    middle = share + z * z / (2 * games)
    spread = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return (middle - spread) / (1 + z * z / games), (middle + spread) / (1 + z * z / games)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", nargs="+", type=Level, default=list(Level), choices=list(Level))
    parser.add_argument("--variants", nargs="+", default=["classic"], choices=list(VARIANTS))
    parser.add_argument("--deals", type=int, default=100)
    chosen = parser.parse_args()
    samples = [play_sample(level, variant, chosen.deals) for variant in chosen.variants for level in chosen.levels]
    for figure in [figure for sample in samples for figure in sample.figures()]:
        print(f"{figure.figure:<44} {figure.value:>10.3f} {figure.unit:<8} goal {figure.goal}")
    if len(chosen.levels) > 1 and len(chosen.variants) == 1:
        for figure in elo_figures(samples):
            print(f"{figure.figure:<44} {figure.value:>10.3f} {figure.unit}")


if __name__ == "__main__":
    main()
