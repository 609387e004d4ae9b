"""The tally of a player in one variant, and the score of two players against each other: folds over rounds."""

from collections.abc import Sequence
from functools import reduce

from fairest_protocol.value import Value, replace
from fairest_server.ratings.match_result import MatchResult, RoundResult, SeatResult
from fairest_server.ratings.rating import NEW, Rating, age, established_days, rate


class Tally(Value, array_like=True):
    """A player's rating in one variant, with the figures beside it. Redis holds it as an array, in this order.

    `day` is that of its last rated round. `streak` counts the rounds won since the last one that was not, or below 0
    those lost; a draw ends both. `left` counts rounds that the player did not play to the end. `best_ms` is the
    shortest time in which it placed every card, None if it never did.
    """

    mean: int = NEW.mean
    deviation: int = NEW.deviation
    day: int = 0
    rounds: int = 0
    wins: int = 0
    draws: int = 0
    streak: int = 0
    best_streak: int = 0
    near_misses: int = 0
    left: int = 0
    best_direct: int = 0
    best_ms: int | None = None

    def rating_on(self, day: int) -> Rating:
        """Return the rating on a day: the longer ago the last round was, the less certain."""
        rating = Rating(self.mean, self.deviation)
        return age(rating, day - self.day) if self.rounds else rating

    @property
    def established_until(self) -> int:
        """The last day on which the rating will not be provisional if no round follows; -1 if it is provisional."""
        days = established_days(Rating(self.mean, self.deviation))
        return -1 if days < 0 else self.day + days


class PairScore(Value, array_like=True):
    """The rounds of one variant between two players. `wins` and `direct` have the player first whose id is smaller.

    `direct` adds up direct scores: the stock cards that each played straight to a foundation.
    """

    wins: tuple[int, int] = (0, 0)
    draws: int = 0
    direct: tuple[int, int] = (0, 0)
    day: int = 0


class MatchTallies(Value):
    """Everything that the rounds of a match between two players change. `tallies` are in the order of the seats."""

    tallies: tuple[Tally, Tally] = (Tally(), Tally())
    pair: PairScore = PairScore()


def rate_match(before: MatchTallies, result: MatchResult, *, is_swapped: bool) -> MatchTallies:
    """Return what follows from a match, round by round. `is_swapped` says that seat 1 has the smaller id.

    A match that finished before another one of a player may be rated after it; the later day stays.
    """
    first, second = (_at_day(tally, result.day) for tally in before.tallies)
    pair = replace(before.pair, day=max(before.pair.day, result.day))
    return reduce(
        lambda so_far, each: _rate_round(so_far, each, is_swapped), result.rounds, MatchTallies((first, second), pair)
    )


def _at_day(tally: Tally, day: int) -> Tally:
    rating = tally.rating_on(day)
    return replace(tally, mean=rating.mean, deviation=rating.deviation, day=max(tally.day, day))


def _rate_round(before: MatchTallies, result: RoundResult, is_swapped: bool) -> MatchTallies:
    first, second = before.tallies
    ratings = rate((Rating(first.mean, first.deviation), Rating(second.mean, second.deviation)), result.winner)
    following = [
        _count(tally, rating, result.seats[seat], None if result.winner is None else result.winner == seat)
        for seat, (tally, rating) in enumerate(zip(before.tallies, ratings, strict=True))
    ]
    return MatchTallies((following[0], following[1]), _add_to_pair(before.pair, result, is_swapped))


def _count(before: Tally, rating: Rating, seat: SeatResult, has_won: bool | None) -> Tally:
    """Return a tally after a round, in which `has_won` is None for a draw."""
    streak = 0 if has_won is None else max(before.streak, 0) + 1 if has_won else min(before.streak, 0) - 1
    times = [time for time in (before.best_ms, seat.won_ms) if time is not None]
    return replace(
        before,
        mean=rating.mean,
        deviation=rating.deviation,
        rounds=before.rounds + 1,
        wins=before.wins + (has_won is True),
        draws=before.draws + (has_won is None),
        streak=streak,
        best_streak=max(before.best_streak, streak),
        near_misses=before.near_misses + seat.is_near_miss,
        left=before.left + seat.has_left,
        best_direct=max(before.best_direct, seat.direct),
        best_ms=min(times, default=None),
    )


def _add_to_pair(pair: PairScore, result: RoundResult, is_swapped: bool) -> PairScore:
    in_order = _turn if is_swapped else tuple
    won = in_order([int(result.winner == seat) for seat in (0, 1)])
    direct = in_order([seat.direct for seat in result.seats])
    return replace(
        pair,
        wins=(pair.wins[0] + won[0], pair.wins[1] + won[1]),
        draws=pair.draws + (result.winner is None),
        direct=(pair.direct[0] + direct[0], pair.direct[1] + direct[1]),
    )


def _turn(both: Sequence[int]) -> tuple[int, ...]:
    return tuple(reversed(both))
