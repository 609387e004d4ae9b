"""The figures of this machine's player over all past matches: bests, streaks, near misses, win rates. Pure.

The unit is the round: each is a race on one deal. Rounds in which neither name is one of this machine's do not count.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from fairest_cli.records.history import PastMatch, PastRound
from fairest_protocol.calculation.race import Ending, Score
from fairest_protocol.value import Value, replace

LAST: Final = 10
"""The number of races that the sparkline shows."""

Result = Literal["won", "lost", "drawn"]


class Race(Value):
    """One race of this machine's player."""

    variant: str
    rival: str
    own: Score
    result: Result
    duration_ms: int


class Tally(Value):
    """The races against one rival, or at one variant."""

    name: str
    races: int
    won: int
    drawn: int

    @property
    def percent(self) -> int:
        """The share of races that were won, in percent."""
        return round(100 * self.won / self.races) if self.races else 0


class Best(Value):
    """The bests at one variant: the most cards placed, of how many, and the fastest race in which all were placed."""

    tally: Tally
    most_cards: int
    goal: int
    fastest_ms: int | None = None


class Statistics(Value):
    """All figures. `streak` is the number of newest races in a row with the same result, `streak_result`.

    `last` holds the newest races, the newest last; `variants` and `rivals` those with the most races first.
    """

    races: int
    won: int
    drawn: int
    near_misses: int
    streak: int
    streak_result: Result
    longest_won: int
    last: tuple[Race, ...]
    variants: tuple[Best, ...]
    rivals: tuple[Tally, ...]


def statistics_of(matches: Iterable[PastMatch]) -> Statistics:
    """Return the figures over `matches`, which come with the newest first."""
    races = [race for match in matches for race in _races_of(match)]
    variants = [_best(name, group) for name, group in _grouped(races, lambda race: race.variant)]
    rivals = [_tally(name, group) for name, group in _grouped(races, lambda race: race.rival)]
    total = _tally("", races)
    return Statistics(
        total.races,
        total.won,
        total.drawn,
        sum(race.own.is_near_miss for race in races),
        _streak(races),
        races[0].result if races else "drawn",
        _longest_won(races),
        tuple(reversed(races[:LAST])),
        tuple(sorted(variants, key=lambda best: (-best.tally.races, best.tally.name))),
        tuple(sorted(rivals, key=lambda tally: (-tally.races, tally.name))),
    )


def _races_of(match: PastMatch) -> Iterable[Race]:
    """Return the races of a match, the newest first."""
    seat = match.own_seat
    if seat is None or match.rules is None:
        return ()
    variant, rival = match.rules.name, match.names[1 - seat]
    return [_race(variant, rival, seat, played) for played in reversed(match.rounds)]


def _race(variant: str, rival: str, seat: int, played: PastRound) -> Race:
    winner = played.outcome.winner
    result: Result = "drawn" if winner is None else "won" if winner == seat else "lost"
    return Race(variant, rival, played.outcome.scores[seat], result, played.duration_ms)


def _grouped(races: Sequence[Race], key: Callable[[Race], str]) -> Iterable[tuple[str, list[Race]]]:
    groups: dict[str, list[Race]] = {}
    for race in races:
        groups.setdefault(key(race), []).append(race)
    return groups.items()


def _tally(name: str, races: Sequence[Race]) -> Tally:
    results = [race.result for race in races]
    return Tally(name, len(results), results.count("won"), results.count("drawn"))


def _best(name: str, races: Sequence[Race]) -> Best:
    most = max((race.own for race in races), key=lambda score: score.placed)
    complete = [race.duration_ms for race in races if race.own.ending is Ending.WON]
    best = Best(_tally(name, races), most.placed, most.goal)
    return replace(best, fastest_ms=min(complete)) if complete else best


def _streak(races: Sequence[Race]) -> int:
    return next((number for number, race in enumerate(races) if race.result != races[0].result), len(races))


def _longest_won(races: Sequence[Race]) -> int:
    longest = current = 0
    for race in races:
        current = current + 1 if race.result == "won" else 0
        longest = max(longest, current)
    return longest
