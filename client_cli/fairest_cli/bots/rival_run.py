"""The run of a rival on a deal, made without a race: the ghost of a player who has no run of their own yet. Pure."""

import random

from fairest_cli.bots.levels import PROFILES, Level, decide
from fairest_cli.bots.pace import human_seconds
from fairest_cli.model.run import Run
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import Rules


def rival_run(level: Level, rules: Rules, seed: bytes) -> Run:
    """Return the run of a level on a deal, at its pace: the same one for the same arguments.

    It takes as long as the level's thinking about all of its moves: none for a learner, some seconds for `strong`.
    """
    race = start_race(rules, make_deal(rules, seed), seats=1)
    chance = random.Random(f"{level} {seed.hex()}")
    moves: list[tuple[int, Move]] = []
    at_ms = 0
    while not race.is_over:
        decision = decide(level, race.racers[0].board, rules, chance.getrandbits(63))
        at_ms += round(1000 * human_seconds(PROFILES[level].pace_seconds, decision.lead, chance))
        moves.append((at_ms, decision.move))
        race = race.play(0, decision.move)
    return Run(rules, seed, tuple(moves))
