"""The moves of one player alone on a deal, each with its time, and the parts that records of them share."""

import re
from collections.abc import Sequence
from typing import Any

from fairest_protocol.calculation.daily import AttemptScore, can_be_played
from fairest_protocol.calculation.deal import make_deal
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.race import Race, start_race
from fairest_protocol.calculation.record import BadRecord
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.value import Value


class TimedMove(Value):
    """A move, `at_ms` milliseconds after the start of its race."""

    at_ms: int
    move: Move


def replay_moves(rules: Rules, seed: bytes, moves: Sequence[TimedMove], limit_ms: int) -> Race:
    """Return the race after all moves. Raises `BadRecord` for a move that the rules or the limit forbid."""
    race, before_ms = start_race(rules, make_deal(rules, seed), seats=1), 0
    for number, timed in enumerate(moves, 1):
        if not before_ms <= timed.at_ms <= limit_ms:
            raise BadRecord(f"move {number} was made at {timed.at_ms} ms, which cannot be")
        if not can_be_played(race, timed.move):
            raise BadRecord(f"move {number}, {timed.move.text}, could not be made")
        race, before_ms = race.play(0, timed.move), timed.at_ms
    return race


def read_moves(found: list[list[Any]]) -> tuple[TimedMove, ...]:
    """Return the moves of a record. Raises ValueError, TypeError and KeyError, as the functions below."""
    return tuple(TimedMove(read_number(at_ms), MOVES[move]) for at_ms, move in found)


def read_score(fields: dict[str, Any]) -> AttemptScore:
    """Return the score that the fields of a record have."""
    won = fields["won"]
    if not isinstance(won, bool):
        raise ValueError(f"true or false, not {won!r}")
    return AttemptScore(won, *(read_number(fields[name]) for name in ("placed", "direct", "time_ms")))


def read_text(value: str, pattern: str) -> str:
    """Return a text that is written as `pattern`."""
    if not re.fullmatch(pattern, value):
        raise ValueError(f"{value[:40]!r} is not written as {pattern}")
    return value


def read_bytes(text: str, length: int) -> bytes:
    """Return so many bytes, written as hexadecimal digits."""
    found = bytes.fromhex(text)
    if len(found) != length:
        raise ValueError(f"{length} bytes, not {len(found)}")
    return found


def read_number(value: object) -> int:
    """Return a number from 0 of up to 15 digits, which every client can hold."""
    if type(value) is not int or not 0 <= value < 10**15:
        raise ValueError(f"a number from 0 of up to 15 digits, not {value!r}")
    return value
