"""The matches whose records are in a folder, the newest first."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from fairest_cli.records.files import load_record
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.value import Value


class PastMatch(Value):
    """A file of the folder: its record, or the problem with it."""

    path: Path
    record: Record | None
    problem: str = ""


def past_matches(folder: Path, limit: int = 200) -> list[PastMatch]:
    """Return the newest files, at most `limit`, by the time at which they were written; none for a missing folder."""
    files = [path for path in folder.glob("*.jsonl") if path.is_file()] if folder.is_dir() else []
    files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [_read(path) for path in files[:limit]]


def describe_match(match: PastMatch) -> str:
    """Return a match in one line for people: its date, players, result and rules."""
    record = match.record
    if record is None:
        return f"{clean(match.path.name)}: {clean(match.problem)}"
    when = _describe_time(record.finished_at_ms)
    first, second = (clean(name) for name in record.names)
    return f"{when}  {first} against {second}: {_result(record)}  ({clean(record.rules.name)})"


def describe_history(matches: list[PastMatch]) -> Iterator[str]:
    """Yield a line for each match, and the command that replays it."""
    if not matches:
        yield "There are no records here yet. Race a bot: fairest play"
    for match in matches:
        yield describe_match(match)
        yield f"    fairest replay {clean(str(match.path))}"


def _describe_time(at_ms: int) -> str:
    """Return a time in words, in the zone of this machine; the systems differ in how far from today they reach."""
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OSError, OverflowError, ValueError):
        return "at a time that this system cannot show"


def _read(path: Path) -> PastMatch:
    try:
        return PastMatch(path, load_record(path))
    except (BadRecord, OSError) as reason:
        return PastMatch(path, None, str(reason))


def _result(record: Record) -> str:
    outcomes = [played.outcome for played in record.rounds if played.outcome is not None]
    wins = [sum(outcome.winner == seat for outcome in outcomes) for seat in (0, 1)]
    if len(outcomes) == 1:
        counts = " to ".join(str(score.placed) for score in outcomes[0].scores)
        winner = outcomes[0].winner
        return f"a draw, {counts}" if winner is None else f"{clean(record.names[winner])} won, {counts}"
    return f"{wins[0]} rounds to {wins[1]}"
