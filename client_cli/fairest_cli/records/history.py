"""The matches whose records are in a folder, the newest first: the head and the results of each, read quickly.

A record is a file of up to some thousand lines, and a folder may hold thousands of records. So this reads only the line
of the match, the lines of the results and the lines before those, which say how long a round took. It checks no chain
and no move; opening a record (`load_record`) and `fairest verify` do.
"""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from fairest_cli.records.files import load_record
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.record import MAX_BYTES, MAX_TIME_MS, BadRecord, Record
from fairest_protocol.calculation.rules import Rules
from fairest_protocol.calculation.terms import Terms, parse_terms
from fairest_protocol.value import Value

MAX_CARDS: Final = 104
"""The cards of two decks: no score is higher."""
MAX_ROUNDS: Final = 100
"""More rounds than a match of nine can have, those included that were called off."""


class PastRound(Value):
    """A round that was raced: its number in the record, from 0, its result, and how long it took."""

    number: int
    outcome: Outcome
    duration_ms: int


class PastMatch(Value):
    """A file of the folder, with the head and the results of its record, or the problem with it.

    `own_seat` is the seat of this machine's player, None if neither name is one of theirs.
    """

    path: Path
    names: tuple[str, str] = ("", "")
    rules: Rules | None = None
    finished_at_ms: int = 0
    rounds: tuple[PastRound, ...] = ()
    own_seat: int | None = None
    problem: str = ""


class _Head(msgspec.Struct):
    names: tuple[str, str]
    terms: str
    finished_at_ms: int


class _Moment(msgspec.Struct):
    at_ms: int | None = None


_HEAD: Final = msgspec.json.Decoder(_Head)
_MOMENT: Final = msgspec.json.Decoder(_Moment)
_RESULT: Final = msgspec.json.Decoder(Outcome)


def past_matches(folder: Path, own_names: Collection[str] = (), limit: int | None = None) -> list[PastMatch]:
    """Return the newest files, by the time at which they were written; none for a missing folder.

    `own_names` are the names of this machine's players, the likeliest first. Without a `limit` all files are read.
    """
    return [_read(path, own_names) for path in _newest_first(folder)[:limit]]


def each_past_match(
    folder: Path, own_names: Collection[str], on_progress: Callable[[int, int], None]
) -> Iterator[PastMatch]:
    """Yield what `past_matches` returns, and report after each file how many of how many are read."""
    files = _newest_first(folder)
    for number, path in enumerate(files, 1):
        yield _read(path, own_names)
        on_progress(number, len(files))


def last_lost_round(matches: Collection[PastMatch]) -> tuple[PastMatch, int] | None:
    """Return the newest match with a round that this machine's player lost on a deal, and the number of the round."""
    for match in matches:
        for played in reversed(match.rounds):
            is_lost = match.own_seat is not None and played.outcome.winner == 1 - match.own_seat
            if is_lost and any(score.cards_turned for score in played.outcome.scores):
                return match, played.number
    return None


def seat_of(names: tuple[str, str], own_names: Collection[str]) -> int | None:
    """Return the seat whose player has one of `own_names`, the first of them that is there; None without one."""
    for own in own_names:
        for seat, name in enumerate(names):
            if name.lower() == own.lower():
                return seat
    return None


def open_match(match: PastMatch) -> Record:
    """Return the whole record of a match, replayed. Raises `BadRecord`, and OSError."""
    return load_record(match.path)


def _newest_first(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    written: list[tuple[float, Path]] = []
    for path in folder.glob("*.jsonl"):
        try:
            if path.is_file():
                written.append((path.stat().st_mtime, path))
        except OSError:
            # The file was removed while the folder was read.
            continue
    return [path for _, path in sorted(written, key=lambda each: (-each[0], each[1].name))]


def _read(path: Path, own_names: Collection[str]) -> PastMatch:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        return _parse(path, content, own_names)
    except OSError as reason:
        return PastMatch(path, problem=str(reason.strerror))
    except ValueError as reason:
        return PastMatch(path, problem=str(reason))


def _parse(path: Path, content: bytes, own_names: Collection[str]) -> PastMatch:
    """Return the summary of a record's file. Raises ValueError with the problem."""
    if len(content) > MAX_BYTES:
        raise BadRecord(f"the file is larger than a record can be, {MAX_BYTES // 2**20} MiB")
    lines = content.split(b"\n")
    if not lines[0].startswith(b'{"type":"match"'):
        raise BadRecord("the file does not begin as a record does")
    head = _HEAD.decode(lines[0])
    if not 0 <= head.finished_at_ms <= MAX_TIME_MS:
        raise BadRecord(f"the time {head.finished_at_ms} is not one")
    rounds, number = [], -1
    for index, line in enumerate(lines):
        if line.startswith(b'{"type":"round"'):
            number += 1
        elif line.startswith(b'{"type":"result"') and 0 <= number < MAX_ROUNDS:
            rounds.append(PastRound(number, _result(line), _duration(lines[index - 1])))
    terms = _terms(head.terms)
    own_seat = seat_of(head.names, own_names)
    return PastMatch(path, head.names, terms.rules, head.finished_at_ms, tuple(rounds), own_seat)


@cache
def _terms(text: str) -> Terms:
    return parse_terms(text)


def _result(line: bytes) -> Outcome:
    """Return the result of a line. Raises ValueError for one that no race has."""
    outcome = _RESULT.decode(line)
    if len(outcome.scores) != 2 or outcome.winner not in (None, 0, 1):
        raise BadRecord("a result is not one of two players")
    for score in outcome.scores:
        if not (0 <= score.placed <= score.goal <= MAX_CARDS and score.goal and score.cards_turned >= 0):
            raise BadRecord("a score is not one of a race")
    return outcome


def _duration(line: bytes) -> int:
    """Return the time of the last move of a round; 0 for a round without one."""
    if not line.startswith((b'{"type":"move"', b'{"type":"stop"')):
        return 0
    at_ms = _MOMENT.decode(line).at_ms or 0
    if not 0 <= at_ms <= MAX_TIME_MS:
        raise BadRecord(f"the time {at_ms} is not one")
    return at_ms
