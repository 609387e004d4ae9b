"""The choice between moves by roll-outs: the same sampled orders of the stock for every candidate.

A budget counts roll-outs, never time, so a search gives the same answer for the same seed on every machine. A search
is advanced in parts of a few milliseconds, so it can move between processes, and can be given up between two parts.
"""

import random
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

from fairest_cli.bots.layout_tables import tables_of
from fairest_cli.bots.position import Position, distinct_moves, read_position
from fairest_cli.bots.rollout import roll_out
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import REDEAL, Move
from fairest_protocol.calculation.rules import Foundation, Rules

CHECK_EVERY: Final = 16
"""Sampled orders between two looks for candidates that have no chance any more."""
HOPELESS: Final = 2.0
"""About three standard errors: a candidate behind by this over the root of its roll-outs is dropped early.

It saves a quarter of the roll-outs of an expert; at 1.0 it would cost wins (docs/decisions/0066-rivals.md).
"""
CERTAIN: Final = 32
"""Roll-outs after which a search is over if every candidate has won all of its own."""
PLACED_WEIGHT: Final = 0.3
"""Value of a game that places all cards but one, against 1.3 for a win: it tells apart positions that never win."""


@dataclass(slots=True)
class Candidate:
    """A move under consideration, the position after it, and the outcomes of its roll-outs so far."""

    move: Move
    position: Position
    roll_outs: int = 0
    wins: int = 0
    placed: int = 0

    @property
    def chance_to_win(self) -> float:
        """The share of roll-outs that were won."""
        return self.wins / self.roll_outs if self.roll_outs else 0.0

    @property
    def value(self) -> float:
        """Mean of the roll-outs: 1 for a win, and `PLACED_WEIGHT` times the share of the cards that were placed."""
        if not self.roll_outs:
            return 0.0
        return (self.wins + PLACED_WEIGHT * self.placed / self.position.goal) / self.roll_outs


@dataclass(slots=True)
class Search:
    """A search under way. `live` are the candidates still compared, the best first once a round is over.

    Sequential halving: each round spends an equal part of the budget on the live candidates, then drops the worse half;
    a candidate that is far behind goes earlier.
    Without `halves` all candidates get the same number of roll-outs.
    """

    layout: tuple[Foundation, ...]
    seed: int
    live: list[Candidate]
    rounds: list[int]
    """For each round still to come, the number of sampled orders; the first one is under way."""
    least: int = 2
    """The fewest candidates that are worth a roll-out: a choice has two, an evaluation is wanted for one as well."""
    dropped: list[Candidate] = field(default_factory=list)
    sampled: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the budget is spent, or too few candidates are left."""
        return not self.rounds or len(self.live) < self.least

    @property
    def best(self) -> Candidate:
        """The candidate with the highest value; of equal ones, the first."""
        return self.live[0]

    @property
    def lead(self) -> float:
        """How much more the best move is worth than the second best; 1 if there is only one."""
        others = self.live[1:] or self.dropped
        return self.best.value - max(other.value for other in others) if others else 1.0

    def advance(self, roll_outs: int) -> None:
        """Make about this number of roll-outs, fewer at the end of the budget."""
        tables = tables_of(self.layout)
        tables.trim()
        while roll_outs > 0 and not self.is_done:
            chance = random.Random(self.seed + self.sampled)
            order = _draw_order(self.live[0].position, chance)
            shuffle_seed = chance.getrandbits(32)
            for candidate in self.live:
                position = candidate.position
                if position.redeals:
                    chance = random.Random(shuffle_seed)
                placed = roll_out(tables, position, order, chance)
                candidate.roll_outs += 1
                candidate.placed += placed
                candidate.wins += placed == position.goal
            self.sampled += 1
            self.rounds[0] -= 1
            roll_outs -= len(self.live)
            if self.rounds[0] <= 0:
                self._end_round()
            elif self.least > 1 and self.sampled % CHECK_EVERY == 0:
                self._drop_hopeless()

    def finish(self) -> None:
        """Spend the whole budget."""
        while not self.is_done:
            self.advance(self.rounds[0] * len(self.live))

    def _drop_hopeless(self) -> None:
        count = self.live[0].roll_outs
        if count >= CERTAIN and all(candidate.wins == count for candidate in self.live):
            self.rounds.clear()
            return
        self.live.sort(key=lambda candidate: -candidate.value)
        enough = self.live[0].value - HOPELESS / sqrt(count)
        self.dropped = [candidate for candidate in self.live if candidate.value < enough] + self.dropped
        self.live = [candidate for candidate in self.live if candidate.value >= enough]

    def _end_round(self) -> None:
        self.rounds.pop(0)
        self.live.sort(key=lambda candidate: -candidate.value)
        if self.rounds:
            kept = (len(self.live) + 1) // 2
            self.dropped = self.live[kept:] + self.dropped
            self.live = self.live[:kept]


def start_search(board: Board, rules: Rules, seed: int, budget: int, *, may_decline: bool = False) -> Search:
    """Return a search for the move to play on a board that has a legal move of a card, or a redeal.

    `budget` is the number of roll-outs for each candidate on average. A card that fits a foundation is played, so only
    the choice between such moves is searched, and often there is none; with `may_decline`, a move to a pile is a
    candidate beside them.
    """
    position = read_position(board, rules)
    moves = distinct_moves(board)
    if not may_decline:
        moves = [move for move in moves if move.places] or moves
    # A redeal can wait until nothing else is possible: it takes the cards in the piles away from the foundations.
    moves = [move for move in moves if move is not REDEAL] or moves
    candidates = [Candidate(move, position.after(move)) for move in moves]
    count, rounds = len(candidates), []
    left, total = count, budget * count
    while left > 1:
        rounds.append(left)
        left = (left + 1) // 2
    samples = [max(1, total // (len(rounds) * live)) for live in rounds]
    return Search(board.layout, seed, candidates, samples)


def start_evaluation(board: Board, rules: Rules, seed: int, budget: int) -> Search:
    """Return a search that makes `budget` roll-outs for each distinct legal move, declined placements included."""
    position = read_position(board, rules)
    candidates = [Candidate(move, position.after(move)) for move in distinct_moves(board)]
    return Search(board.layout, seed, candidates, [budget], least=1)


def _draw_order(position: Position, chance: random.Random) -> list[int]:
    """Return the unseen cards in a random order."""
    draw = chance.random
    keyed = [(draw(), rank) for rank, count in enumerate(position.unseen) for _ in range(count)]
    keyed.sort()
    return [rank for _, rank in keyed]
