"""The daily deal: one sealed deal a UTC day and variant, which each player races alone and once.

Its round id follows from the day and the variant. The deck follows from the server's secret, to which the server
commits itself in the chain of rounds while the day before is under way, and from the *beacon*: the chain of the last
entry of that chain before the day begins, or the value of the first drand round of the day. docs/protocol.md has the
layouts.
"""

from datetime import UTC, date, datetime
from typing import Final

from fairest_protocol.calculation.moves import RESIGN, Move
from fairest_protocol.calculation.race import Ending, Race
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.seal import NO_ROUNDS, hash_daily_round, make_seed
from fairest_protocol.value import Value

DAY_MS: Final = 86_400_000
EARLIEST_MS: Final = DAY_MS + 60_000
"""A deal is announced while the day before is under way; by a minute the clocks of a deployment may differ."""
DRAND_LEAD_MS: Final = 12 * 3_600_000
"""A deal with a drand round as its beacon is announced at least this long before its day. A server that announces it
when the drand round is known contradicts what it has shown of the chain of rounds in that time."""
LIMIT_SECONDS: Final = 1200
"""The time that an attempt has: that of a race if nobody chooses another one."""
LIMIT_MS: Final = 1000 * LIMIT_SECONDS

_TIMES: Final = 2**23
"""Above every time of an attempt in milliseconds."""
_CARDS: Final = 2**7
"""Above every number of cards."""


def day_of(at_ms: int) -> str:
    """Return the UTC day of a time in milliseconds since 1970, such as ``2026-11-24``."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).date().isoformat()


def day_start_ms(day: str) -> int:
    """Return the time in milliseconds at which a UTC day begins. Raises ValueError for a text that is not a day."""
    began = date.fromisoformat(day)
    if began.isoformat() != day:
        raise ValueError(f"a day looks like 2026-11-24, not {day!r}")
    return (began - date(1970, 1, 1)).days * DAY_MS


def next_day(day: str, days: int = 1) -> str:
    """Return the day that is so many `days` later, or earlier for a negative number."""
    return day_of(day_start_ms(day) + days * DAY_MS)


def daily_round_id(day: str, rules: Rules) -> bytes:
    """Return the round id of the daily deal of a day and a variant, which nobody chooses."""
    return hash_daily_round(day, rules.name)


def daily_seed(secret: bytes, beacon: bytes, round_id: bytes) -> bytes:
    """Return the seed of a daily deal: that of a round with the beacon in seat 0, and zeros in seat 1."""
    return make_seed(secret, (beacon, NO_ROUNDS), round_id)


class AttemptScore(Value):
    """The score of an attempt. `time_ms` is from its start to its last move, or the limit if its time ran out."""

    won: bool
    placed: int
    direct: int
    time_ms: int

    @property
    def order(self) -> int:
        """A number below 2^53 by which attempts are ranked, the best one highest: won, cards, direct score, time."""
        return ((self.won * _CARDS + self.placed) * _CARDS + self.direct) * _TIMES + _TIMES - 1 - self.time_ms


def score_of_order(order: int) -> AttemptScore:
    """Return the score that has this `order`."""
    order, late = divmod(order, _TIMES)
    order, direct = divmod(order, _CARDS)
    won, placed = divmod(order, _CARDS)
    return AttemptScore(bool(won), placed, direct, _TIMES - 1 - late)


def score_attempt(race: Race, last_move_ms: int, limit_ms: int = LIMIT_MS) -> AttemptScore:
    """Return the score of an attempt: `race` has one seat, and its last move was made `last_move_ms` after its start.

    An attempt that has not ended by a move ran out of time, after `limit_ms`.
    """
    racer = race.racers[0]
    time_ms = limit_ms if racer.ending is None else min(last_move_ms, limit_ms)
    return AttemptScore(racer.ending is Ending.WON, racer.board.placed, racer.board.direct, time_ms)


def can_be_played(race: Race, move: Move) -> bool:
    """Return whether a move may be made in an attempt: nobody races here against whom one could resign."""
    return not race.is_over and move is not RESIGN and race.refusal(0, move) is None
