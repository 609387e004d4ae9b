"""The rating of a player: a mean and a deviation, in thousandths of a point, after each rated round.

The update is that of Weng and Lin (2011), algorithm 1, "Bradley-Terry full", for two players and with gamma = 1, as the
library `openskill` computes it. It is computed with decimal numbers, whose every operation is rounded correctly, and
stored as integers. So every machine gets the same ratings from the same rounds, which `fairest-server recompute` relies
on; `exp` of binary numbers may differ in its last bit from one libm to another.
"""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from math import isqrt
from typing import Final

from fairest_protocol.value import Value

POINT: Final = 1_000
"""Means and deviations are counted in thousandths of a point."""
DAILY_VARIANCE: Final = 170 * POINT**2
"""By so much the variance grows for each day without a rated round: a deviation of 100 points is 200 after half a year.
"""
ROUND_VARIANCE: Final = 25 * POINT**2
"""By so much the variance grows with each round, so that a rating never stops following its player (tau of openskill).
"""
PERFORMANCE_VARIANCE: Final = 250**2 * POINT**2
"""How much a player's play varies from round to round, on the scale of ratings (beta squared)."""
PROVISIONAL_DEVIATION: Final = 250 * POINT
"""A rating with a larger deviation is provisional."""

_EXACT: Final = Context(prec=40, rounding=ROUND_HALF_EVEN)


class Rating(Value):
    """The strength of a player in one variant, as far as it is known: a normal distribution."""

    mean: int
    deviation: int

    @property
    def is_provisional(self) -> bool:
        """Whether so little is known that the rating is not compared with others."""
        return self.deviation > PROVISIONAL_DEVIATION


NEW: Final = Rating(1_500 * POINT, 500 * POINT)
"""The rating of a player without rated rounds, and the largest deviation."""


def age(rating: Rating, days: int) -> Rating:
    """Return the rating after this many days without a rated round: less certain, at most as a new one."""
    variance = rating.deviation**2 + max(0, days) * DAILY_VARIANCE
    return Rating(rating.mean, min(isqrt(variance), NEW.deviation))


def established_days(rating: Rating) -> int:
    """Return the number of days without a rated round after which the rating is still not provisional; -1 for none.

    The largest deviation that counts as established is `PROVISIONAL_DEVIATION` rounded down, as `age` rounds.
    """
    room = (PROVISIONAL_DEVIATION + 1) ** 2 - 1 - rating.deviation**2
    return -1 if rating.is_provisional else room // DAILY_VARIANCE


def rate(ratings: tuple[Rating, Rating], winner: int | None) -> tuple[Rating, Rating]:
    """Return both ratings after a round that the player `winner` (0 or 1) has won, or that is a draw (None)."""
    variances = [Decimal(rating.deviation**2 + ROUND_VARIANCE) for rating in ratings]
    spread = _EXACT.sqrt(_EXACT.add(_EXACT.add(*variances), Decimal(2 * PERFORMANCE_VARIANCE)))
    lead = _EXACT.divide(Decimal(ratings[0].mean - ratings[1].mean), spread)
    chance = _EXACT.divide(1, _EXACT.add(1, _EXACT.exp(-lead)))
    chances = (chance, _EXACT.subtract(1, chance))
    information = _EXACT.divide(_EXACT.multiply(*chances), _EXACT.multiply(spread, spread))
    rated = []
    for player, (rating, variance) in enumerate(zip(ratings, variances, strict=True)):
        score = Decimal("0.5") if winner is None else Decimal(int(winner == player))
        surprise = _EXACT.divide(_EXACT.subtract(score, chances[player]), spread)
        mean = _EXACT.add(rating.mean, _EXACT.multiply(variance, surprise))
        left = _EXACT.subtract(1, _EXACT.multiply(variance, information))
        deviation = _EXACT.sqrt(_EXACT.multiply(variance, left))
        rated.append(Rating(_nearest(mean), min(_nearest(deviation), NEW.deviation)))
    return rated[0], rated[1]


def _nearest(number: Decimal) -> int:
    return int(_EXACT.to_integral_value(number))
