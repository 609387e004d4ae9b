"""The history checker: from what all viewers of a room sent and received, and what is stored, to problems. It is pure.

The rules are those of docs/protocol.md, written again. Nothing of Fairest is imported.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.histories.clocks import check_clocks
from benchmarks.histories.history import Run
from benchmarks.histories.horizon import check_horizon
from benchmarks.histories.reading import Play, Reader, Reading
from benchmarks.histories.records import StoredRound, rounds_of_log, rounds_of_record

TOLERANCE_S = 1.5
"""A clock may be early by as much: messages take their time, and a client learns late when a race has started."""
MAY_BE_STORED = "moved", "accepted", "in_doubt", "number_repeated", "number_old", None
"""Answers after which a move may be stored."""


@dataclass
class Verdict:
    """The problems of a run, each a sentence, and how much was looked at."""

    problems: list[str] = field(default_factory=list)
    acknowledged: int = 0
    unproved: int = 0
    """Acknowledged moves of rounds of which neither a record nor the log was there."""
    refused: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    connections: int = 0
    rounds: int = 0
    told_losses: int = 0
    lost_at_s: list[float] = field(default_factory=list)
    """When those moves were acknowledged that are gone, and whose loss the client was told."""


def check(run: Run, *, loss_is_allowed: bool = False, tolerance_s: float = TOLERANCE_S) -> Verdict:
    """Check all histories of a run against each other and against what is stored.

    `loss_is_allowed`: entries may be gone if every client that saw them was told.
    """
    readings = [Reader(history).read() for history in run.histories]
    verdict = Verdict([problem for reading in readings for problem in reading.problems])
    last_loss_at_s = max((at_s for reading in readings for at_s, _ in reading.losses), default=0.0)
    stored = _read_stored(run, verdict, loss_is_allowed=loss_is_allowed, last_loss_at_s=last_loss_at_s)
    verdict.problems += _compare_viewers(readings)
    for reading in readings:
        verdict.entries += len(reading.shown)
        verdict.refused.update(play.answer for play in reading.plays if play.answer not in ("moved", "accepted", None))
        verdict.told_losses += len(reading.losses)
        if not loss_is_allowed:
            verdict.problems += [f"{reading.viewer} at {at_s:.3f}: loss: {how}" for at_s, how in reading.losses]
        last_loss_at_s = _last_loss_at_s(reading, readings) if loss_is_allowed else 0.0
        verdict.problems += _check_moves(reading, stored, verdict, last_loss_at_s)
        verdict.problems += check_horizon(reading, readings, stored)
        verdict.problems += _check_finished_is_stored(reading, stored, last_loss_at_s)
    verdict.problems += check_clocks(readings, tolerance_s)
    verdict.connections = sum(event.kind == "opened" for history in run.histories for event in history.events)
    verdict.rounds = len({shown.round for reading in readings for shown in reading.shown} - {""})
    return verdict


def _read_stored(run: Run, verdict: Verdict, *, loss_is_allowed: bool, last_loss_at_s: float) -> dict[str, StoredRound]:
    """Return the stored rounds by their ids: those of the records, and of the log where no record has them."""
    logged, problems = rounds_of_log(run.log or [])
    stored = {each.id: each for each in logged}
    texts: dict[str, list[str]] = {}
    received_at_s = {
        event.message["lines"][-1]: event.at_s for history in run.histories for event in history.received("record")
    }
    for lines in run.records:
        rounds, found = rounds_of_record(lines)
        problems += found
        if texts.setdefault(lines[0], lines) != lines and not loss_is_allowed:
            problems.append("two records of one match differ")
        for each in rounds:
            if each.id in stored and stored[each.id].moves != each.moves:
                if not loss_is_allowed:
                    problems.append(f"the record of round {each.id[:8]} has other moves than the log or another record")
                elif received_at_s.get(lines[-1], 0.0) < last_loss_at_s:
                    # The log is what the loss has left. A loss after everybody had gone was told to nobody, and the
                    # record is what they saw.
                    continue
            stored[each.id] = each
    verdict.problems += problems
    return stored


def _compare_viewers(readings: Sequence[Reading]) -> Iterator[str]:
    """Spectators all have one view: entries at one position are the same, unless somebody was told of a loss."""
    if any(reading.losses for reading in readings):
        return
    seen: dict[int, str] = {}
    for reading in readings:
        if reading.seat is None:
            for position, text in reading.entries.items():
                if seen.setdefault(position, text) != text:
                    yield f"{reading.viewer}: entry {position} is another one than that of another spectator"


def _last_loss_at_s(reading: Reading, readings: Sequence[Reading]) -> float:
    """Return when this viewer was told of a loss last. One that was not in the room any more need not be."""
    left_at_s = max(reading.inside_until_s, default=0.0)
    after_it_s = [at_s for each in readings for at_s, _ in each.losses if at_s > left_at_s]
    return max([at_s for at_s, _ in reading.losses] + reading.dropped_at_s + after_it_s, default=0.0)


def _check_moves(
    reading: Reading, stored: dict[str, StoredRound], verdict: Verdict, last_loss_at_s: float
) -> Iterator[str]:
    """Acknowledged moves are stored once, under their number; a move that was refused is not."""
    acknowledged = [
        (play.round, play.number, play.move, play.sent_at_s) for play in reading.plays if play.answer == "accepted"
    ]
    acknowledged += [
        (shown.round, shown.entry["number"], shown.entry["move"], shown.at_s)
        for shown in reading.shown
        if shown.entry["type"] == "moved" and shown.entry["seat"] == reading.seat
    ]
    verdict.acknowledged += len({(round_id, number) for round_id, number, _, _ in acknowledged})
    for round_id, number, move, at_s in acknowledged:
        if round_id not in stored:
            verdict.unproved += 1
            continue
        moves = stored[round_id].moves_of(reading.seat or 0)
        found = moves[number - 1] if number <= len(moves) else None
        if found != move and at_s <= last_loss_at_s:
            verdict.lost_at_s.append(at_s)
        elif found != move:
            which = f"{reading.viewer}: move {number} of round {round_id[:8]}, {move},"
            yield f"{which} was acknowledged; stored is {found}"
    for round_id, each in stored.items():
        if reading.seat is not None and any(play.round == round_id for play in reading.plays):
            yield from _check_sent(reading, reading.seat, each)


def _check_sent(reading: Reading, seat: int, stored: StoredRound) -> Iterator[str]:
    """Each stored move was sent under its number, and not refused each time."""
    for number, move in enumerate(stored.moves_of(seat), 1):
        which = f"{reading.viewer}: move {number} of round {stored.id[:8]}, {move},"
        answers = [play.answer for play in reading.plays if _is(play, stored.id, number, move)]
        if not answers and move != "resign":
            # A player who leaves a race resigns without a move.
            yield f"{which} is stored and was never sent"
        elif answers and all(answer not in MAY_BE_STORED for answer in answers):
            yield f"{which} was refused ({', '.join(map(str, answers))}) and is stored"


def _is(play: Play, round_id: str, number: int, move: str) -> bool:
    return (play.round, play.number, play.move) == (round_id, number, move)


def _check_finished_is_stored(reading: Reading, stored: dict[str, StoredRound], last_loss_at_s: float) -> Iterator[str]:
    """A result that was shown is the result that is stored."""
    for shown in reading.shown:
        entry = shown.entry
        if entry["type"] == "round_finished" and shown.round in stored and stored[shown.round].endings:
            endings = [score["ending"] for score in entry["outcome"]["scores"]]
            if endings != stored[shown.round].endings and shown.at_s > last_loss_at_s:
                which = f"{reading.viewer}: round {shown.round[:8]}"
                yield f"{which} ended {endings}, stored is {stored[shown.round].endings}"
