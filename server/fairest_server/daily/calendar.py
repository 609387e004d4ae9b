"""The daily deals that are to be announced, dealt or opened at a time. Pure."""

from typing import Final

from fairest_protocol.calculation.daily import DRAND_LEAD_MS, day_of, day_start_ms, next_day
from fairest_protocol.messages.rounds import MERGE_SECONDS

ANNOUNCED_BEFORE_MS: Final = 2 * MERGE_SECONDS * 1000
"""A commitment is published at least this long before its day begins: the chain of rounds may take half of it to have
the entry, and the beacon is a later entry.
"""
SETTLING_MS: Final = 5_000
"""The beacon is read this long after the day has begun: an entry with a time before midnight may join the chain just
after it.
"""


def day_to_announce(now_ms: int, *, is_drand: bool) -> str | None:
    """Return the day whose commitments have to be public by now: tomorrow, or None if it is too late for that.

    `is_drand`: the beacon of its deals will be a drand round.
    """
    day = next_day(day_of(now_ms))
    lead_ms = ANNOUNCED_BEFORE_MS + (DRAND_LEAD_MS if is_drand else 0)
    return day if now_ms <= day_start_ms(day) - lead_ms else None


def day_to_deal(now_ms: int) -> str | None:
    """Return the day whose beacon has to be known by now: today, or None while it has just begun."""
    day = day_of(now_ms)
    return day if now_ms >= day_start_ms(day) + SETTLING_MS else None


def is_over(day: str, now_ms: int) -> bool:
    """Return whether nobody may begin an attempt on this day any more."""
    return now_ms >= day_start_ms(next_day(day))
