"""Whether the analysis of a race names a random move that was put into a good game.

`python -m benchmarks.blunders --level expert --first 40 --races 20` plays some of the races and prints a line for each.
"""

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from multiprocessing import Pool

from benchmarks.figure import Figure, written_down
from fairest_cli.analysis.judging import Effort, judge, look_closely
from fairest_cli.bots.evaluation import evaluate
from fairest_cli.bots.levels import Level, decide
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.record import RecordedMove
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.value import Value

RULES = choose_rules("classic")
RACES = 100
LEVEL = Level.EXPERT
"""The level of the good games."""
PROCESSES = 2
EFFORT = Effort()
BLUNDER = 0.05
MOST_DRAWN = 500


class Excluded(StrEnum):
    """Why a random move that was drawn is not put into a game: it is not a blunder."""

    DECIDED = "the game was decided: no move could cost that much"
    AS_GOOD = "it was the best move, or as good"
    CHEAP = "it cost something, but less"


class Trial(Value):
    """One game with a blunder: what the blunder cost, whether it was named, and why moves drawn before were not taken.

    `rank` is its place among the moves that cost most, from 1, and 0 if it is not among those named.
    """

    number: int
    cost: float
    rank: int
    excluded: tuple[Excluded, ...]

    def __str__(self) -> str:
        named = f"named as number {self.rank}" if self.rank else "not named"
        return f"race {self.number}: cost {self.cost:.3f}, {named}, {len(self.excluded)} random moves passed over"


def measure_blunders() -> list[Figure]:
    """In how many games of an expert the analysis names a random move that was put in, and how many cost much.

    A blunder is a random move after which the chance to win is lower by `BLUNDER` or more, judged by other roll-outs
    than those of the analysis. Most random moves are none: the game was decided, or the move is as good as the best.
    """
    return figures_of(list(play_trials(LEVEL, range(RACES), PROCESSES)))


def play_trials(level: Level, numbers: range, processes: int) -> Iterator[Trial]:
    """Yield a trial for each number as it is done, and print it on standard error."""
    with Pool(processes) as pool:
        for trial in pool.imap_unordered(partial(_play_trial, level), numbers):
            print(f"  {trial}", file=sys.stderr, flush=True)
            yield trial


def figures_of(trials: list[Trial]) -> list[Figure]:
    """Return the figures of trials, and print on standard error which random moves were passed over, and why."""
    named = sum(trial.rank > 0 for trial in trials)
    excluded = Counter(reason for trial in trials for reason in trial.excluded)
    drawn = len(trials) + excluded.total()
    print(f"  of {drawn} random moves, {len(trials)} cost {BLUNDER} or more; passed over:", file=sys.stderr)
    for reason in Excluded:
        print(f"    {excluded[reason]:>6} {reason}", file=sys.stderr)
    return [
        Figure("blunders_named", 100 * named / len(trials), "%", ">= 80", named >= 0.8 * len(trials)),
        written_down("blunders_named_first", 100 * sum(trial.rank == 1 for trial in trials) / len(trials), "%"),
        written_down("random_moves_that_are_blunders", 100 * len(trials) / drawn, "%"),
        *(
            written_down(f"random_moves_{reason.name.lower()}", 100 * excluded[reason] / drawn, "%")
            for reason in Excluded
        ),
    ]


def _play_trial(level: Level, number: int) -> Trial:
    chance = random.Random(number)
    seed = chance.getrandbits(32)
    race = start_race(RULES, make_deal(RULES, chance.randbytes(32)), seats=1)
    before = [each for _, each in _play_on(level, race, seed)]
    excluded = []
    for _ in range(MOST_DRAWN):
        at = chance.randrange(len(before))
        chances = evaluate(before[at].racers[0].board, RULES, seed + 2, EFFORT.close_look)
        move = chance.choice(list(chances))
        best, cost = max(chances.values()), max(chances.values()) - chances[move]
        if cost >= BLUNDER:
            break
        excluded.append(Excluded.DECIDED if best < BLUNDER else Excluded.CHEAP if cost > 0 else Excluded.AS_GOOD)
    else:
        raise AssertionError(f"race {number}: a game has a move that would be a blunder")
    events = [
        *itertools.islice(_play_on(level, race, seed), at),
        (move, before[at]),
        *_play_on(level, before[at].play(0, move), seed),
    ]
    judged = [
        judge(RULES, count, RecordedMove(0, 0, played), on, seed, EFFORT.roll_outs)
        for count, (played, on) in enumerate(events)
    ]
    named = [each.number for each in look_closely(RULES, judged, seed, EFFORT.close_look, lambda: None)]
    return Trial(number, cost, named.index(at) + 1 if at in named else 0, tuple(excluded))


def _play_on(level: Level, race: Race, seed: int) -> Iterator[tuple[Move, Race]]:
    """Yield the moves of the level from here to the end of the game, each with the race before it."""
    while not race.is_over:
        move = decide(level, race.racers[0].board, RULES, seed + race.racers[0].moves).move
        yield move, race
        race = race.play(0, move)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", type=Level, default=LEVEL, choices=list(Level))
    parser.add_argument("--first", type=int, default=0, help="the number of the first race")
    parser.add_argument("--races", type=int, default=RACES)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    chosen = parser.parse_args()
    numbers = range(chosen.first, chosen.first + chosen.races)
    for figure in figures_of(list(play_trials(chosen.level, numbers, chosen.processes))):
        print(f"{figure.figure:<44} {figure.value:>10.3f} {figure.unit:<8} goal {figure.goal}")


if __name__ == "__main__":
    main()
