"""Whether the analysis of a race names a random move that was put into a good game."""

import itertools
import random
import sys
from collections.abc import Iterator
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

RULES = choose_rules("classic")
LEVEL = Level.STRONG
"""The level of the good games. An expert's take ten times as long."""
RACES = 100
PROCESSES = 2
EFFORT = Effort()
BLUNDER = 0.05
MOST_DRAWN = 500


def measure_blunders() -> list[Figure]:
    """In how many games of the strong rival the analysis names a random move that was put in, and how many cost much.

    A blunder is a random move after which the chance to win is lower by `BLUNDER` or more, judged by other roll-outs
    than those of the analysis. Most random moves are none: they place a card one move later, or in a game long decided.
    """
    with Pool(PROCESSES) as pool:
        drawn = []
        for number, (is_named, moves_drawn) in enumerate(pool.imap_unordered(_is_named, range(RACES)), 1):
            drawn.append((is_named, moves_drawn))
            print(f"  {number} races, {sum(each for each, _ in drawn)} named", file=sys.stderr)
    named, moves = (sum(column) for column in zip(*drawn, strict=True))
    return [
        Figure("blunders_named", 100 * named / RACES, "%", ">= 80", named >= 0.8 * RACES),
        written_down("random_moves_that_are_blunders", 100 * RACES / moves, "%"),
    ]


def _is_named(number: int) -> tuple[bool, int]:
    """Return whether the blunder in this game is named, and how many random moves were drawn to find one."""
    chance = random.Random(number)
    seed = chance.getrandbits(32)
    race = start_race(RULES, make_deal(RULES, chance.randbytes(32)), seats=1)
    before = [each for _, each in _play_on(race, seed)]
    for drawn in range(1, MOST_DRAWN + 1):  # noqa: B007 (returned)
        at = chance.randrange(len(before))
        board = before[at].racers[0].board
        chances = evaluate(board, RULES, seed + 2, EFFORT.close_look)
        move = chance.choice(list(chances))
        if max(chances.values()) - chances[move] >= BLUNDER:
            break
    else:
        raise AssertionError("a game has a move that would be a blunder")
    events = [
        *itertools.islice(_play_on(race, seed), at),
        (move, before[at]),
        *_play_on(before[at].play(0, move), seed),
    ]
    judged = [
        judge(RULES, count, RecordedMove(0, 0, played), on, seed, EFFORT.roll_outs)
        for count, (played, on) in enumerate(events)
    ]
    named = look_closely(RULES, judged, seed, EFFORT.close_look, lambda: None)
    return any(each.number == at for each in named), drawn


def _play_on(race: Race, seed: int) -> Iterator[tuple[Move, Race]]:
    """Yield the moves of the level from here to the end of the game, each with the race before it."""
    while not race.is_over:
        move = decide(LEVEL, race.racers[0].board, RULES, seed + race.racers[0].moves).move
        yield move, race
        race = race.play(0, move)
