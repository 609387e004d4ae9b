"""The levels of the rivals: how each of them decides, how much it thinks, and its pace."""

import random
from enum import StrEnum
from typing import Final

from fairest_cli.bots.linear_policy import choose_by_score
from fairest_cli.bots.policies import choose_greedy
from fairest_cli.bots.search import Search, start_search
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value


class Level(StrEnum):
    """A rival by its strength, the weakest first. docs/rivals.md has the measured win rates."""

    CARELESS = "careless"
    LEARNER = "learner"
    CLUB = "club"
    STRONG = "strong"
    EXPERT = "expert"


class LevelProfile(Value):
    """The character of a level: a sentence for people, its thinking, and its pace.

    `budget` is the number of roll-outs for each candidate, 0 for a level that does not look ahead. `may_decline`: it
    considers to keep a card from a foundation that needs it. `pace_seconds` is the mean time that it takes for a move
    in a race, as a person of this strength may.
    """

    character: str
    budget: int
    pace_seconds: float
    may_decline: bool = False


PROFILES: Final = {
    Level.CARELESS: LevelProfile("plays every card that fits, and drops the others anywhere", 0, 1.8),
    Level.LEARNER: LevelProfile("keeps its piles in some order, and overlooks things", 0, 3.0),
    Level.CLUB: LevelProfile("tries out a few ways in which the stock may go on", 22, 2.6),
    Level.STRONG: LevelProfile("counts the cards still to come, and takes care where it matters", 50, 2.3),
    Level.EXPERT: LevelProfile("weighs hundreds of games for every card", 200, 2.0, may_decline=True),
}

DEFAULT_LEVEL: Final = Level.LEARNER
"""The level for a newcomer: it is beaten by a person who has understood the game, and wins one classic deal in ten."""
STRONGEST: Final = Level.EXPERT

CARELESSNESS: Final = 4.5
"""Temperature of the learner's choice of a pile, in units of the score; it sets its win rate to 10 % in classic."""


class Decision(Value):
    """A move, and how much more it is worth than the second best: the smaller, the harder the choice was.

    `lead` is 1 where there was only one sensible move.
    """

    move: Move
    lead: float


def decide_at_once(level: Level, board: Board, rules: Rules, seed: int) -> Decision | None:
    """Return the decision of a level that does not look ahead, in less than a millisecond; None for other levels."""
    chance = random.Random(seed)
    if level is Level.CARELESS:
        return Decision(choose_greedy(board, chance), 1.0)
    if level is Level.LEARNER:
        return Decision(*choose_by_score(board, rules, chance, CARELESSNESS))
    return None


def open_decision(level: Level, board: Board, rules: Rules, seed: int) -> Search:
    """Return the search by which a level that looks ahead decides. It depends on nothing else than these values."""
    profile = PROFILES[level]
    return start_search(board, rules, seed, profile.budget, may_decline=profile.may_decline)


def decide(level: Level, board: Board, rules: Rules, seed: int) -> Decision:
    """Return the decision of any level on a board with a legal move of a card or a redeal.

    A pure function. It takes up to half a second for an expert: where that would delay others, use `Thinker`.
    """
    at_once = decide_at_once(level, board, rules, seed)
    if at_once is not None:
        return at_once
    search = open_decision(level, board, rules, seed)
    search.finish()
    return Decision(search.best.move, search.lead)
