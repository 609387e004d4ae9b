"""A record from the lines of its file: parsed, and on request replayed."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.record import (
    BEST_OF,
    FORMAT,
    STOPS,
    BadRecord,
    Record,
    RecordedMove,
    RecordedRound,
    RecordedStop,
    check_race,
)
from fairest_protocol.calculation.round import Ending, Outcome, Score
from fairest_protocol.calculation.rules import BadRules, choose_rules
from fairest_protocol.value import replace


def read_record(lines: Sequence[str]) -> Record:
    """A record from the lines of its file, replayed.

    Raises `BadRecord` as `parse_record` does, and for a record that its own moves contradict. Signatures and hashes are
    for `fairest verify` to check.
    """
    record = parse_record(lines)
    for number in range(len(record.rounds)):
        check_race(record, number)
    return record


def parse_record(lines: Sequence[str]) -> Record:
    """A record as its lines state it. Raises `BadRecord` with the number of the first line that is not as written."""
    if not lines:
        raise BadRecord("the file is empty")
    heading: Mapping[str, Any] | None = None
    rounds: list[_OpenRound] = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            fields = json.loads(line, parse_constant=_refuse)
            kind = fields["type"]
            if heading is None:
                heading = _check_heading(fields)
            elif kind == "round":
                rounds.append(_OpenRound(fields))
            else:
                rounds[-1].add(kind, fields)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as reason:
            raise BadRecord(f"line {number} is no line of a record ({type(reason).__name__}: {reason})") from reason
    record = _assemble(heading, rounds, lines[-1])
    for number, (line, written) in enumerate(zip(lines, record.lines(), strict=True), 1):
        if line != written:
            raise BadRecord(f"line {number} is not as it was written: its chain does not fit")
    return record


class _OpenRound:
    """A round while its lines are being read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.opened = RecordedRound(
            round_id=bytes.fromhex(fields["id"]),
            commitment=bytes.fromhex(fields["commitment"]),
            signature=bytes.fromhex(fields["signature"]),
            secret=bytes.fromhex(fields["secret"]),
            entropy_hashes=_two(fields["entropy_hashes"]),
            entropies=_two(fields["entropies"]),
            envelopes=tuple(tuple(bytes.fromhex(each) for each in sealed) for sealed in fields["envelopes"]),
        )
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, kind: str, fields: Mapping[str, Any]) -> None:
        match kind:
            case "move":
                self.events.append(RecordedMove(_int(fields["at_ms"]), _int(fields["seat"]), MOVES[fields["move"]]))
            case "stop":
                seats, ending = tuple(map(_int, fields["seats"])), Ending(fields["ending"])
                if not seats or ending not in STOPS:
                    raise ValueError(f"nobody is stopped like this: {fields['seats']}, {ending}")
                self.events.append(RecordedStop(_int(fields["at_ms"]), seats, ending))
            case "result":
                first, second = map(_score, fields["scores"])
                winner = fields["winner"]
                self.outcome = Outcome(None if winner is None else _int(winner), (first, second))
            case _:
                raise ValueError(f"there is no line of type {kind!r}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _int(value: object) -> int:
    """A whole number below 2 to the 53rd, as every program reads it; not a fraction, and not a truth value."""
    if type(value) is not int or not -(2**53) < value < 2**53:
        raise TypeError(f"{str(value)[:40]!r} is no whole number")
    return value


def _one_of(allowed: Sequence[int], value: object) -> int:
    if _int(value) not in allowed:
        raise ValueError(f"{value} is none of {allowed}")
    return _int(value)


def _matching(pattern: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{str(value)[:40]!r} does not look like {pattern}")
    return value


def _score(fields: Mapping[str, Any]) -> Score:
    counts = {name: _int(fields[name]) for name in ("placed", "goal", "direct", "turns")}
    return Score(**counts, ending=Ending(fields["ending"]))


def _two(values: Any) -> tuple[bytes | None, bytes | None]:
    """What each seat showed, or None."""
    first, second = (None if value is None else bytes.fromhex(value) for value in values)
    return first, second


def _check_heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match" or fields["format"] != FORMAT:
        raise ValueError(f"a record starts with a match line of format {FORMAT}")
    return fields


def _assemble(heading: Mapping[str, Any] | None, rounds: Sequence[_OpenRound], last: str) -> Record:
    if heading is None:
        raise BadRecord("line 1 is all there is, and a record has at least two")
    try:
        seal = json.loads(last, parse_constant=_refuse)
        if seal["type"] != "seal":
            raise ValueError("a record ends with a line of type 'seal'")
        signature = bytes.fromhex(seal["signature"])
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise BadRecord(f"the last line does not seal the record ({type(reason).__name__}: {reason})") from reason
    try:
        first, second = heading["names"]
        chosen = heading["rules"]
        if not rounds:
            raise ValueError("a match has at least one round")
        return Record(
            match_id=_matching(r"[0-9a-f]{32}", heading["match"]),
            room=_matching(r"[a-z]+(-[a-z]+){1,5}", heading["room"]),
            names=(_matching(r"[A-Za-z0-9_-]{2,20}", first), _matching(r"[A-Za-z0-9_-]{2,20}", second)),
            rules=choose_rules(str(chosen["name"]), _int(chosen["piles"]), _int(chosen["redeals"])),
            best_of=_one_of(BEST_OF, heading["best_of"]),
            direct_breaks_ties=bool(heading["direct_breaks_ties"]),
            finished_at_ms=_int(heading["finished_at_ms"]),
            rounds=tuple(replace(read.opened, events=tuple(read.events), outcome=read.outcome) for read in rounds),
            key=bytes.fromhex(heading["key"]),
            signature=signature,
        )
    except (BadRules, ValueError, KeyError, TypeError) as reason:
        raise BadRecord(f"line 1 does not describe a match: {reason!r}") from reason
