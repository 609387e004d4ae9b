"""Parse the lines of a record's file into a `Record`, and refuse lines that no server could have written.

The chain is made of the characters of each line as they came, so fields may stand in any order.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from fairest_protocol.calculation.match_rules import check_record
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import Ending, Outcome, Score
from fairest_protocol.calculation.record import (
    FORMAT,
    MAX_BYTES,
    MAX_LINE_BYTES,
    MAX_LINES,
    MAX_TIME_MS,
    STOPS,
    BadRecord,
    Record,
    RecordedMove,
    RecordedRound,
    RecordedStop,
)
from fairest_protocol.calculation.seal import (
    KEY_BYTES,
    ROUND_ID_BYTES,
    SECRET_BYTES,
    SIGNATURE_BYTES,
    chain_line,
)
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.value import replace

HASH_BYTES: Final = 32
MAX_COUNT: Final = 2**53 - 1
"""The greatest whole number that every reader of JSON keeps exact."""

_CHAINED: Final = re.compile(r'(.*),"chain":"([0-9a-f]{64})"\}', re.DOTALL)
_FIELDS: Final = {
    "match": {"type", "format", "match", "room", "names", "terms", "finished_at_ms", "key"},
    "round": {
        "type",
        "id",
        "commitment",
        "signature",
        "secret",
        "entropy_hashes",
        "entropies",
        "envelopes",
    },
    "move": {"type", "at_ms", "seat", "move"},
    "stop": {"type", "at_ms", "seats", "ending"},
    "result": {"type", "winner", "scores"},
    "seal": {"type", "signature"},
}
"""The fields of each type of line, without its chain."""


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
                heading = _checked_heading(fields)
            elif fields["type"] == "round":
                rounds.append(_RoundLines(fields))
            else:
                rounds[-1].add(fields)
            chain = chain_line(chain, text)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as reason:
            raise BadRecord(f"line {number} is not a line of a record ({type(reason).__name__}: {reason})") from reason
        if chain != written:
            raise BadRecord(f"line {number} is not as it was written: its chain does not fit")
    if heading is None:
        raise BadRecord("there is only one line, and a record has at least two")
    return _assemble(heading, rounds, _seal_signature(lines[-1])), chain


class _RoundLines:
    """A round while its lines are being read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.opened = RecordedRound(
            round_id=_bytes(fields["id"], ROUND_ID_BYTES),
            commitment=_bytes(fields["commitment"], HASH_BYTES),
            signature=_bytes(fields["signature"], SIGNATURE_BYTES),
            secret=_bytes(fields["secret"], SECRET_BYTES),
            entropy_hashes=_pair(fields["entropy_hashes"], HASH_BYTES),
            entropies=_pair(fields["entropies"], SECRET_BYTES),
            envelopes=tuple(
                tuple(_bytes(each, HASH_BYTES) for each in _list(sealed)) for sealed in _list(fields["envelopes"])
            ),
        )
        self.events: list[RecordedMove | RecordedStop] = []
        self.outcome: Outcome | None = None

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add a line. Raises ValueError, KeyError or TypeError for a line that no server writes."""
        if self.outcome is not None:
            raise ValueError("the round has its result already")
        match fields["type"]:
            case "move":
                self.events.append(RecordedMove(_time(fields["at_ms"]), _seat(fields["seat"]), MOVES[fields["move"]]))
            case "stop":
                seats, ending = tuple(map(_seat, _list(fields["seats"]))), Ending(fields["ending"])
                if seats not in ((0,), (1,), (0, 1)) or ending not in STOPS:
                    raise ValueError(f"a stop cannot have these seats and this ending: {seats}, {ending}")
                at_ms = fields["at_ms"]
                self.events.append(RecordedStop(None if at_ms is None else _time(at_ms), seats, ending))
            case "result":
                first, second = map(_score, _list(fields["scores"]))
                winner = fields["winner"]
                self.outcome = Outcome(None if winner is None else _seat(winner), (first, second))
            case kind:
                raise ValueError(f"there is no line of type {kind!r}")


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
    """Return the fields of a line: those of its type, each once. Raises ValueError, KeyError or TypeError."""
    fields: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    if fields["type"] == "match" and _whole_number(fields["format"]) != FORMAT:
        raise ValueError(f"a record starts with a match line of format {FORMAT}; fairest 0.1.0 reads format 2")
    if fields.keys() != _FIELDS[fields["type"]]:
        raise ValueError("it does not have just the fields of its type")
    return fields


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands there twice")
    return fields


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _whole_number(value: object, most: int = MAX_COUNT) -> int:
    """Return `value` if it is an int from 0 to `most`. Raises TypeError for anything else, also for a bool."""
    if type(value) is not int or not 0 <= value <= most:
        raise TypeError(f"{str(value)[:40]!r} is not a whole number from 0 to {most}")
    return value


def _time(value: object) -> int:
    return _whole_number(value, MAX_TIME_MS)


def _seat(value: object) -> int:
    return _whole_number(value, 1)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{str(value)[:40]!r} is not a list")
    return value


def _matching(pattern: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{str(value)[:40]!r} does not look like {pattern}")
    return value


def _bytes(value: object, length: int) -> bytes:
    return bytes.fromhex(_matching(f"[0-9a-f]{{{2 * length}}}", value))


def _score(fields: object) -> Score:
    if not isinstance(fields, dict) or fields.keys() != {"placed", "goal", "direct", "cards_turned", "ending"}:
        raise ValueError("a score does not have just its five fields")
    counts = {name: _whole_number(fields[name]) for name in ("placed", "goal", "direct", "cards_turned")}
    return Score(**counts, ending=Ending(fields["ending"]))


def _pair(values: object, length: int) -> tuple[bytes | None, bytes | None]:
    """Return what each seat showed, None where it showed nothing. Raises ValueError unless there are two values."""
    first, second = (None if value is None else _bytes(value, length) for value in _list(values))
    return first, second


def _checked_heading(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if fields["type"] != "match":
        raise ValueError("a record starts with a match line")
    return fields


def _seal_signature(line: str) -> bytes:
    try:
        seal = _fields(line)
        if seal["type"] != "seal":
            raise ValueError("a record ends with a line of type 'seal'")
        return _bytes(seal["signature"], SIGNATURE_BYTES)
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise BadRecord(f"the last line does not seal the record ({type(reason).__name__}: {reason})") from reason


def _assemble(heading: Mapping[str, Any], rounds: Sequence[_RoundLines], signature: bytes) -> Record:
    try:
        first, second = _list(heading["names"])
        return Record(
            match_id=_matching(r"[0-9a-f]{32}", heading["match"]),
            room=_matching(r"[a-z]+(-[a-z]+){1,5}", heading["room"]),
            names=(_matching(r"[A-Za-z0-9_-]{2,20}", first), _matching(r"[A-Za-z0-9_-]{2,20}", second)),
            terms=parse_terms(_matching(r"[!-~ ]*", heading["terms"])),
            finished_at_ms=_time(heading["finished_at_ms"]),
            rounds=tuple(replace(read.opened, events=tuple(read.events), outcome=read.outcome) for read in rounds),
            key=_bytes(heading["key"], KEY_BYTES),
            signature=signature,
        )
    except (ValueError, KeyError, TypeError) as reason:
        raise BadRecord(f"line 1 does not describe a match: {reason!r}") from reason
