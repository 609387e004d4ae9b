"""Parse the lines of a record's file into a `Record`, and refuse lines that no server could have written."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairest_protocol.calculation.distance import Timing
from fairest_protocol.calculation.match_rules import check_record
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.record import (
    MAX_BYTES,
    MAX_LINE_BYTES,
    MAX_LINES,
    MAX_TIME_MS,
    BadRecord,
    Record,
    RecordedMove,
    RecordedRound,
    RecordedStop,
)
from fairest_protocol.calculation.record_lines import type_of_line
from fairest_protocol.calculation.seal import chain_line
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.value import replace

_CHAINED: Final = re.compile(r'(.*),"chain":"([0-9a-f]{64})"\}', re.DOTALL)


def read_record(lines: Sequence[str]) -> Record:
    """Parse the lines of a record, check that a server can have run its match, and replay its rounds.

    Raises `BadRecord`. Signatures and hashes are not checked here, but by `fairest verify`.
    """
    record, _ = parse_record(lines)
    check_record(record)
    return record


def parse_record(lines: Sequence[str]) -> tuple[Record, bytes]:
    """Parse the lines of a record; return it, and the chain of its last line but one, which its server has signed.

    Raises `BadRecord`, with the number of the first line that is wrong in itself or in its chain.
    """
    return finish(parsing_record(lines))


def parsing_record(lines: Sequence[str]) -> Sliced[tuple[Record, bytes]]:
    """Do what `parse_record` does, in slices."""
    if not lines:
        raise BadRecord("the file is empty")
    _check_size(lines)
    heading: Mapping[str, Any] | None = None
    rounds: list[_RoundLines] = []
    chain = b""
    for number, line in enumerate(lines[:-1], 1):
        try:
            text, written = _split_chain(line)
            fields = _fields(text)
            if heading is None:
                heading = _heading(fields)
            elif fields["type"] == "round":
                rounds.append(_RoundLines(fields))
            else:
                rounds[-1].add(fields)
            chain = chain_line(chain, text)
        except (ValueError, IndexError) as reason:
            raise BadRecord(f"line {number} is not a line of a record: {reason}") from reason
        if chain != written:
            raise BadRecord(f"line {number} is not as it was written: its chain does not fit")
        yield
    if heading is None:
        raise BadRecord("there is only one line, and a record has at least two")
    return _assemble(heading, rounds, _seal_signature(lines[-1])), chain


class _RoundLines:
    """A round while its lines are being read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.opened = RecordedRound(
            round_id=bytes.fromhex(fields["id"]),
            commitment=bytes.fromhex(fields["commitment"]),
            signature=bytes.fromhex(fields["signature"]),
            secret=bytes.fromhex(fields["secret"]),
            entropy_hashes=_shown(fields["entropy_hashes"]),
            entropies=_shown(fields["entropies"]),
            envelopes=tuple(tuple(map(bytes.fromhex, sealed)) for sealed in fields["envelopes"]),
            step=fields.get("step"),
        )
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add a line. Raises ValueError for one that cannot stand there."""
        if self.outcome is not None:
            raise ValueError("the round has its result already")
        match fields["type"]:
            case "move":
                self.events.append(RecordedMove(_time(fields["at_ms"]), fields["seat"], MOVES[fields["move"]]))
            case "stop":
                at_ms = fields["at_ms"]
                self.events.append(
                    RecordedStop(
                        None if at_ms is None else _time(at_ms), tuple(fields["seats"]), Ending(fields["ending"])
                    )
                )
            case "result":
                first, second = (Score(**{**score, "ending": Ending(score["ending"])}) for score in fields["scores"])
                ledger = [Timing(**timing) for timing in fields.get("ledger", ())]
                self.outcome = Outcome(fields["winner"], (first, second), (ledger[0], ledger[1]) if ledger else None)
            case kind:
                raise ValueError(f"a line of type {kind!r} stands inside of a round")


def _check_size(lines: Sequence[str]) -> None:
    """Raise `BadRecord` for more text than a record can have, before any of it is parsed."""
    if len(lines) > MAX_LINES:
        raise BadRecord(f"there are more than {MAX_LINES} lines, and a record has fewer")
    total = 0
    for number, line in enumerate(lines, 1):
        total += len(line) + 1
        if len(line) > MAX_LINE_BYTES or total > MAX_BYTES:
            raise BadRecord(f"line {number} is longer than a record can be")


def _split_chain(line: str) -> tuple[str, bytes]:
    """Return the text of a line without its chain, and the chain. Raises ValueError."""
    split = _CHAINED.fullmatch(line)
    if split is None:
        raise ValueError("it does not end with its chain")
    return split[1] + "}", bytes.fromhex(split[2])


def _fields(text: str) -> Mapping[str, Any]:
    """Return the fields of a line, given without its chain. Raises ValueError."""
    type_of_line(text)
    fields: dict[str, Any] = json.loads(text)
    return fields


def _time(value: int) -> int:
    """Return a time, or raise ValueError for one after `MAX_TIME_MS`."""
    if value > MAX_TIME_MS:
        raise ValueError(f"the time {value} is after {MAX_TIME_MS}, the beginning of the year 9999")
    return value


def _shown(values: Sequence[str | None]) -> tuple[bytes | None, bytes | None]:
    """Return what each seat showed, None where it showed nothing."""
    first, second = (None if value is None else bytes.fromhex(value) for value in values)
    return first, second


def _heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match":
        raise ValueError("a record starts with a match line")
    return fields


def _seal_signature(line: str) -> bytes:
    try:
        seal = _fields(line)
        if seal["type"] != "seal":
            raise ValueError("a record ends with a line of type 'seal'")
    except ValueError as reason:
        raise BadRecord(f"the last line does not seal the record ({reason})") from reason
    return bytes.fromhex(seal["signature"])


def _assemble(heading: Mapping[str, Any], rounds: Sequence[_RoundLines], signature: bytes) -> Record:
    first, second = heading["names"]
    try:
        return Record(
            match_id=heading["match"],
            room=heading["room"],
            names=(first, second),
            terms=parse_terms(heading["terms"]),
            finished_at_ms=_time(heading["finished_at_ms"]),
            rounds=tuple(replace(read.opened, events=tuple(read.events), outcome=read.outcome) for read in rounds),
            key=bytes.fromhex(heading["key"]),
            signature=signature,
        )
    except ValueError as reason:
        raise BadRecord(f"line 1 does not describe a match: {reason}") from reason
