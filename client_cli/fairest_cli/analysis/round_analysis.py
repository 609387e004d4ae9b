"""The analysis of one round of a record: its mistakes, its deal, and how the chances of both players went."""

import math
from collections.abc import Callable
from typing import Final

from fairest_cli.analysis.judging import SUSPECTS, Effort, JudgedMove, better_line, judge, look_closely, recorded_moves
from fairest_cli.bots.levels import Level, decide
from fairest_protocol.calculation.deal import Deal, make_deal
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending, Outcome, start_race
from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.solver import Solution, solve, solve_race
from fairest_protocol.value import Value, replace

CONFIDENCE: Final = 1.96
"""The half width of an interval of 95 %, in standard deviations."""

Progress = Callable[[int, int], None]
"""Called with the number of parts done, and of all parts."""


class Mistake(Value):
    """A move that cost much, the better line, and whether the deal could be won before and after the move.

    "Could" is said of a player who knows the order of the stock.
    """

    judged: JudgedMove
    better: tuple[Move, ...]
    before: Solution
    after: Solution


class Difficulty(Value):
    """How many of `games` games on a deal the club rival won, and the interval of 95 % of its win rate."""

    wins: int
    games: int
    low: float
    high: float


class RoundAnalysis(Value):
    """The analysis of a round, counted from 0. `moves` and `mistakes` hold a list for each seat that was analysed."""

    round_number: int
    outcome: Outcome | None
    moves: dict[int, tuple[JudgedMove, ...]]
    mistakes: dict[int, tuple[Mistake, ...]]
    solution: Solution
    difficulty: Difficulty | None


def analyse_round(
    record: Record, number: int, seats: tuple[int, ...], effort: Effort, on_progress: Progress
) -> RoundAnalysis:
    """Analyse the round with this number, from 0, for these seats. It takes some seconds for each seat.

    The same record gives the same analysis for the same effort. Raises `BadRecord`.
    """
    rules, played = record.rules, record.rounds[number]
    seed = int.from_bytes(played.round_id[:4], "big")
    events = [each for each in recorded_moves(record, number) if each[1].seat in seats]
    parts = _Parts(on_progress, 1 + len(events) + SUSPECTS * len(seats) + effort.club_games)
    deal = make_deal(rules, played.seed)
    solution = solve(rules, deal)
    parts.count()
    moves: dict[int, list[JudgedMove]] = {seat: [] for seat in seats}
    for event_number, event, before in events:
        moves[event.seat].append(judge(rules, event_number, event, before, seed, effort.roll_outs))
        parts.count()
    mistakes = {}
    for seat in seats:
        worst = look_closely(rules, moves[seat], seed, effort.close_look, parts.count)
        mistakes[seat] = tuple(_explain(rules, judged) for judged in worst)
    games = effort.club_games
    difficulty = measure_difficulty(rules, deal, seed, games, parts.count) if games else None
    parts.finish()
    judged_moves = {seat: tuple(judged) for seat, judged in moves.items()}
    return RoundAnalysis(number, played.outcome, judged_moves, mistakes, solution, difficulty)


def measure_difficulty(
    rules: Rules, deal: Deal, seed: int, games: int, on_game: Callable[[], None] = lambda: None
) -> Difficulty:
    """Let the club rival play a deal `games` times with different seeds. A game takes some tenths of a second."""
    wins = 0
    for game in range(games):
        race, move_number = start_race(rules, deal, seats=1), 0
        while not race.is_over:
            decision = decide(Level.CLUB, race.racers[0].board, rules, seed + 1_000_003 * game + 1_009 * move_number)
            race, move_number = race.play(0, decision.move), move_number + 1
        wins += race.racers[0].ending is Ending.WON
        on_game()
    return Difficulty(wins, games, *wilson_interval(wins, games))


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """Return the interval of 95 % of a rate of which `wins` of `games` were seen (E. B. Wilson, 1927)."""
    share, square = wins / games, CONFIDENCE**2
    middle = share + square / (2 * games)
    spread = CONFIDENCE * math.sqrt(share * (1 - share) / games + square / (4 * games**2))
    return max(0.0, (middle - spread) / (1 + square / games)), min(1.0, (middle + spread) / (1 + square / games))


def _explain(rules: Rules, judged: JudgedMove) -> Mistake:
    alone = replace(judged.before, racers=(judged.before.racers[judged.seat],))
    return Mistake(judged, better_line(rules, judged), solve_race(alone, 0), solve_race(alone.play(0, judged.move), 0))


class _Parts:
    """Counts the parts of an analysis that are done."""

    def __init__(self, on_progress: Progress, total: int) -> None:
        self._on_progress = on_progress
        self._total = total
        self._done = 0

    def count(self) -> None:
        """One more part is done."""
        self._done += 1
        self._on_progress(self._done, self._total)

    def finish(self) -> None:
        """All parts are done: there may have been fewer moves to look at than were counted."""
        self._on_progress(self._total, self._total)
