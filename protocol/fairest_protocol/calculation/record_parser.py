"""Parse the lines of a record's file into a `Record`, and refuse lines that no server could have written."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.record import (
    BEST_OF,
    FORMAT,
    STOPS,
    BadRecord,
    Record,
    RecordedMove,
    RecordedRound,
    RecordedStop,
    check_recorded_race,
)
from fairest_protocol.calculation.rules import BadRules, choose_rules
from fairest_protocol.value import replace


def read_record(lines: Sequence[str]) -> Record:
    """Parse the lines of a record and replay its rounds.

    Raises `BadRecord` as `parse_record` does, and if the moves contradict the results. Signatures and hashes are not
    checked here, but by `fairest verify`.
    """
    record = parse_record(lines)
    for number in range(len(record.rounds)):
        check_recorded_race(record, number)
    return record


def parse_record(lines: Sequence[str]) -> Record:
    """Parse the lines of a record.

    Raises `BadRecord`, with the number of the first wrong line, unless `Record.lines` would write exactly these lines.
    """
    if not lines:
        raise BadRecord("the file is empty")
    heading: Mapping[str, Any] | None = None
    rounds: list[_RoundLines] = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            fields = json.loads(line, parse_constant=_refuse_constant)
            kind = fields["type"]
            if heading is None:
                heading = _checked_heading(fields)
            elif kind == "round":
                rounds.append(_RoundLines(fields))
            else:
                rounds[-1].add(kind, fields)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as reason:
            raise BadRecord(f"line {number} is not a line of a record ({type(reason).__name__}: {reason})") from reason
    if heading is None:
        raise BadRecord("there is only one line, and a record has at least two")
    record = _assemble(heading, rounds, _seal_signature(lines[-1]))
    for number, (line, written) in enumerate(zip(lines, record.lines(), strict=True), 1):
        if line != written:
            raise BadRecord(f"line {number} is not as it was written: its chain does not fit")
    return record


class _RoundLines:
    """A round while its lines are being read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.opened = RecordedRound(
            round_id=bytes.fromhex(fields["id"]),
            commitment=bytes.fromhex(fields["commitment"]),
            signature=bytes.fromhex(fields["signature"]),
            secret=bytes.fromhex(fields["secret"]),
            entropy_hashes=_hex_pair(fields["entropy_hashes"]),
            entropies=_hex_pair(fields["entropies"]),
            envelopes=tuple(tuple(bytes.fromhex(each) for each in sealed) for sealed in fields["envelopes"]),
        )
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Add a line of type `kind`. Raises ValueError, KeyError or TypeError for a line that no server writes."""
        match kind:
            case "move":
                self.events.append(
                    RecordedMove(_whole_number(fields["at_ms"]), _whole_number(fields["seat"]), MOVES[fields["move"]])
                )
            case "stop":
                seats, ending = tuple(map(_whole_number, fields["seats"])), Ending(fields["ending"])
                if not seats or ending not in STOPS:
                    raise ValueError(f"a stop cannot have these seats and this ending: {fields['seats']}, {ending}")
                self.events.append(RecordedStop(_whole_number(fields["at_ms"]), seats, ending))
            case "result":
                first, second = map(_score, fields["scores"])
                winner = fields["winner"]
                self.outcome = Outcome(None if winner is None else _whole_number(winner), (first, second))
            case _:
                raise ValueError(f"there is no line of type {kind!r}")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _whole_number(value: object) -> int:
    """Return `value` if it is an int between -2^53 and 2^53: every JSON reader keeps those exact.

    Raises TypeError for anything else, also for a bool.
    """
    if type(value) is not int or not -(2**53) < value < 2**53:
        raise TypeError(f"{str(value)[:40]!r} is not a whole number")
    return value


def _one_of(allowed: Sequence[int], value: object) -> int:
    if _whole_number(value) not in allowed:
        raise ValueError(f"{value} is not one of {allowed}")
    return _whole_number(value)


def _matching(pattern: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{str(value)[:40]!r} does not look like {pattern}")
    return value


def _score(fields: Mapping[str, Any]) -> Score:
    counts = {name: _whole_number(fields[name]) for name in ("placed", "goal", "direct", "turns")}
    return Score(**counts, ending=Ending(fields["ending"]))


def _hex_pair(values: Any) -> tuple[bytes | None, bytes | None]:
    """Return what each seat showed, None where it showed nothing. Raises ValueError unless there are two values."""
    first, second = (None if value is None else bytes.fromhex(value) for value in values)
    return first, second


def _checked_heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match" or fields["format"] != FORMAT:
        raise ValueError(f"a record starts with a match line of format {FORMAT}")
    return fields


def _seal_signature(line: str) -> bytes:
    try:
        seal = json.loads(line, parse_constant=_refuse_constant)
        if seal["type"] != "seal":
            raise ValueError("a record ends with a line of type 'seal'")
        return bytes.fromhex(seal["signature"])
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise BadRecord(f"the last line does not seal the record ({type(reason).__name__}: {reason})") from reason


def _assemble(heading: Mapping[str, Any], rounds: Sequence[_RoundLines], signature: bytes) -> Record:
    try:
        first, second = heading["names"]
        chosen = heading["rules"]
        if not rounds:
            raise ValueError("a match has at least one round")
        return Record(
            match_id=_matching(r"[0-9a-f]{32}", heading["match"]),
            room=_matching(r"[a-z]+(-[a-z]+){1,5}", heading["room"]),
            names=(_matching(r"[A-Za-z0-9_-]{2,20}", first), _matching(r"[A-Za-z0-9_-]{2,20}", second)),
            rules=choose_rules(str(chosen["name"]), _whole_number(chosen["piles"]), _whole_number(chosen["redeals"])),
            best_of=_one_of(BEST_OF, heading["best_of"]),
            direct_breaks_ties=bool(heading["direct_breaks_ties"]),
            finished_at_ms=_whole_number(heading["finished_at_ms"]),
            rounds=tuple(replace(read.opened, events=tuple(read.events), outcome=read.outcome) for read in rounds),
            key=bytes.fromhex(heading["key"]),
            signature=signature,
        )
    except (BadRules, ValueError, KeyError, TypeError) as reason:
        raise BadRecord(f"line 1 does not describe a match: {reason!r}") from reason
