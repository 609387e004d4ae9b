"""The part of a finished match that is rated: its rounds, read from its record."""

from enum import StrEnum
from typing import Final

from fairest_protocol.calculation.race import Ending
from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound
from fairest_protocol.calculation.rules import find_variant
from fairest_protocol.messages.rivals import BOT_PREFIX
from fairest_protocol.value import Value

DAY_MS: Final = 86_400_000
LEFT: Final = (Ending.RESIGNED, Ending.AWAY, Ending.NOT_REVEALED)
"""Endings of a player who did not play the round to its end."""


class Unrated(StrEnum):
    """A reason for which the rounds of a match change no rating."""

    RIVAL = "a program took part, under a name that begins with bot-"
    PARAMETERS = "the variant was played with other parameters than its own"
    OPEN = "the room was open, so that spectators saw cards that a player had not turned"
    ONE_PLAYER = "both seats were those of one player"
    NOTHING = "no round of it was decided by cards or by leaving"


class SeatResult(Value):
    """One seat's part in a round. `won_ms` is the time that it took to place every card, None if some were left."""

    won_ms: int | None
    direct: int
    is_near_miss: bool
    has_left: bool


class RoundResult(Value):
    """A round with a result: the seat that won, None for a draw, and each seat's part in it."""

    winner: int | None
    seats: tuple[SeatResult, SeatResult]


class MatchResult(Value):
    """The rated rounds of a match. `day` is the day on which it finished, counted from 1970 in UTC."""

    variant: str
    day: int
    rounds: tuple[RoundResult, ...]


def read_result(record: Record, players: tuple[str, str]) -> MatchResult | Unrated:
    """Return the rated rounds of a match, or why it has none. `players` are the ids of the players on both seats.

    A match that broke off counts by the rounds that have a result. The record is taken as it is: prove it before.
    """
    reason = _reason_not_to_rate(record, players)
    if reason is not None:
        return reason
    rounds = tuple(_read_round(played) for played in record.rounds if _is_decided(played))
    if not rounds:
        return Unrated.NOTHING
    return MatchResult(record.rules.name, record.finished_at_ms // DAY_MS, rounds)


def _reason_not_to_rate(record: Record, players: tuple[str, str]) -> Unrated | None:
    if any(name.lower().startswith(BOT_PREFIX) for name in record.names):
        return Unrated.RIVAL
    if players[0] == players[1]:
        return Unrated.ONE_PLAYER
    if record.rules != find_variant(record.rules.name).rules:
        return Unrated.PARAMETERS
    if record.terms.spectators == "open":
        return Unrated.OPEN
    return None


def _is_decided(played: RecordedRound) -> bool:
    """Return whether a round has a result that says something: not if both missed a round that was never dealt."""
    return played.outcome is not None and (played.is_dealt or played.outcome.winner is not None)


def _read_round(played: RecordedRound) -> RoundResult:
    assert played.outcome is not None, "only rounds with a result are rated"
    first, second = (
        SeatResult(
            won_ms=_last_move_ms(played, seat) if score.ending is Ending.WON else None,
            direct=score.direct,
            is_near_miss=score.is_near_miss,
            has_left=score.ending in LEFT,
        )
        for seat, score in enumerate(played.outcome.scores)
    )
    return RoundResult(played.outcome.winner, (first, second))


def _last_move_ms(played: RecordedRound, seat: int) -> int | None:
    times = [event.at_ms for event in played.events if isinstance(event, RecordedMove) and event.seat == seat]
    return times[-1] if times else None
