"""Attempts at a daily deal as a match. Pure."""

from typing import Final

from fairest_cli.records.solo_match import SoloDeal, SoloRun, match_of_runs
from fairest_protocol.calculation.daily import LIMIT_MS, day_start_ms
from fairest_protocol.calculation.daily_record import DailyRecord
from fairest_protocol.calculation.record import Record

ROOM: Final = "daily-deal"


def as_match(attempt: DailyRecord, other: DailyRecord | None = None) -> Record:
    """Return an attempt, and another one on the same deal beside it, as a match of one round (`match_of_runs`)."""
    deal = SoloDeal(
        attempt.rules, attempt.round_id, attempt.secret, attempt.beacon, LIMIT_MS, ROOM, day_start_ms(attempt.day)
    )
    second = None if other is None else SoloRun(other.name, other.moves)
    return match_of_runs(deal, SoloRun(attempt.name, attempt.moves), second)
