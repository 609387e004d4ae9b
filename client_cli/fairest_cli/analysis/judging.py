"""The worth of each move of a recorded race, beside the best one that its player could have made.

A move is judged by what its player saw, not by the order of the stock: a move that only this deal punished was no
mistake. The seeds follow from the round and the move, so everybody who analyses a record gets the same figures.
"""

import random
from collections.abc import Callable, Iterator
from typing import Final

from fairest_cli.bots.evaluation import evaluate
from fairest_cli.bots.linear_policy import choose_by_score
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Race
from fairest_protocol.calculation.record import Record, RecordedMove
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value, replace

SUSPECTS: Final = 8
"""How many moves of a seat get the close look."""
MISTAKES: Final = 3
"""How many moves of a seat are named."""
LEAST_COST: Final = 0.02
"""A move that costs less is not named: with 400 roll-outs, a difference of two in a hundred may be chance."""
BETTER_MOVES: Final = 6
"""How many moves of the better line are given."""


class Effort(Value):
    """How much an analysis computes.

    `roll_outs` is for each candidate when all moves are looked at, and `close_look` for the moves that then seem worst.
    The club rival plays `club_games` games to measure how hard the deal is.
    """

    roll_outs: int = 60
    close_look: int = 400
    club_games: int = 20


class JudgedMove(Value):
    """A move, the race before it, and the chances to win after it and after the best move.

    `number` counts the events of the round, from 1. A chance is the share of sampled games that a simple player wins.
    """

    number: int
    seat: int
    at_ms: int
    move: Move
    best: Move
    chance: float
    best_chance: float
    before: Race

    @property
    def cost(self) -> float:
        """How much of the chance to win the move gave away."""
        return self.best_chance - self.chance

    @property
    def board(self) -> Board:
        """The board of the player when it made the move."""
        return self.before.racers[self.seat].board


def recorded_moves(record: Record, round_number: int) -> Iterator[tuple[int, RecordedMove, Race]]:
    """Yield each move of a card of a round, counted from 0, with its event's number and the race before it."""
    before: Race | None = None
    for number, (event, after) in enumerate(record.steps(round_number)):
        if before is not None and isinstance(event, RecordedMove) and (event.move.takes_turned or event.move.places):
            yield number, event, before
        before = after


def judge(rules: Rules, number: int, event: RecordedMove, before: Race, seed: int, budget: int) -> JudgedMove:
    """Return what a move was worth, by `budget` roll-outs for each candidate."""
    board = before.racers[event.seat].board
    chances = evaluate(board, rules, seed + number, budget)
    best = next(iter(chances))
    # A move to a second empty pile is not evaluated: it is the same as the one to the first.
    played = event.move if event.move in chances else _twin(board, event.move, chances)
    if chances[played] >= chances[best]:
        best = event.move
    return JudgedMove(number, event.seat, event.at_ms, event.move, best, chances[played], max(chances.values()), before)


def look_closely(
    rules: Rules, moves: list[JudgedMove], seed: int, budget: int, on_judged: Callable[[], None]
) -> list[JudgedMove]:
    """Judge the moves of one seat that seem worst again, and return those that cost most, the worst first."""
    suspects = sorted(moves, key=lambda judged: -judged.cost)[:SUSPECTS]
    again = []
    for judged in suspects:
        event = RecordedMove(judged.at_ms, judged.seat, judged.move)
        again.append(judge(rules, judged.number, event, judged.before, seed + 1, budget))
        on_judged()
    worst = sorted(again, key=lambda judged: (-judged.cost, judged.number))
    return [judged for judged in worst[:MISTAKES] if judged.cost >= LEAST_COST]


def better_line(rules: Rules, judged: JudgedMove) -> tuple[Move, ...]:
    """Return the better move, and how the game may have gone on after it: the simple player's moves on this deal."""
    race = replace(judged.before, racers=(judged.before.racers[judged.seat],))
    line = [judged.best]
    while len(line) <= BETTER_MOVES:
        race = race.play(0, line[-1])
        racer = race.racers[0]
        if racer.ending:
            break
        board = racer.board
        line.append(choose_by_score(board, rules, random.Random(0), 0.0)[0])
    return tuple(line[:BETTER_MOVES])


def _twin(board: Board, move: Move, chances: dict[Move, float]) -> Move:
    """Return the evaluated move to an empty pile that is the same as `move`."""
    return next(
        other
        for other in chances
        if not other.places and other.takes_turned and not board.piles[other.target] and move.takes_turned
    )
