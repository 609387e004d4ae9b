"""The records of a room's matches, made from the room's log. They are not signed here."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairest_protocol.calculation.record import Record, RecordedMove, RecordedRound, RecordedStop
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import replace
from fairest_server.room import events
from fairest_server.room.state import OpenRound, RoomState
from fairest_server.room.steps import Step


@dataclass(slots=True, eq=False)
class _Match:
    """A match while its log is being read: its rounds so far, and the events of the round under way."""

    match_id: str
    names: tuple[str, str]
    rounds: list[RecordedRound] = field(default_factory=list)
    events: list[RecordedMove | RecordedStop] = field(default_factory=list)
    finished_at_ms: int | None = None

    @property
    def is_raced(self) -> bool:
        """Whether any of its rounds has a result."""
        return any(played.outcome for played in self.rounds)


def record_last_match(room: str, steps: Iterable[Step]) -> Record | None:
    """Return the record of the last match that is over, or None if no match is."""
    return next(reversed(record_matches(room, steps)), None)


def record_matches(room: str, steps: Iterable[Step]) -> list[Record]:
    """Return the records of all matches that are over, in order. `room` is the room's code."""
    match: _Match | None = None
    over: list[_Match] = []
    options = rules = None
    for step in steps:
        options, rules = step.after.options, step.after.rules
        if isinstance(step.event, events.RoundOpened):
            match = _open(match, step)
        if match is None:
            continue
        _add_step(match, step)
        if step.after.match_is_over and match.is_raced and match not in over:
            match.finished_at_ms = step.at_ms
            over.append(match)
    if options is None or rules is None:
        return []
    return [
        Record(
            match_id=each.match_id,
            room=room,
            names=each.names,
            rules=rules,
            best_of=options.best_of,
            direct_breaks_ties=options.direct_breaks_ties,
            finished_at_ms=each.finished_at_ms or 0,
            rounds=tuple(each.rounds),
        )
        for each in over
    ]


def _open(match: _Match | None, step: Step) -> _Match:
    """Return the match that the round just opened belongs to: the one under way, or a new one.

    Rounds that were called off before the first race of a match are recorded with the next match.
    """
    opened, after = step.after.round, step.after
    assert opened is not None, "the round was just opened"
    if match is not None and opened.number > 1:
        return match
    called_off = match.rounds if match is not None and not match.is_raced else []
    return _Match(opened.round_id.hex(), (after.seat(0).name, after.seat(1).name), called_off)


def _add_step(match: _Match, step: Step) -> None:
    """Add a step of the log to its match: a move or a stop, a pause, or the end of a round."""
    before, event, after = step.before, step.event, step.after
    # Before the start of the race everything is recorded at 0.
    started_at = after.clocks.started_at_ms or step.at_ms
    # No earlier than the event before: a pause may be timed by a clock ahead of the room's own, on another node.
    earliest = match.events[-1].at_ms if match.events else 0
    since_start = max(earliest, step.at_ms - started_at)
    if isinstance(event, events.Played):
        match.events.append(RecordedMove(since_start, event.seat, event.move))
    elif isinstance(event, events.SeatsStopped) and after.race is not None:
        match.events.append(RecordedStop(since_start, event.seats, event.ending))
    elif isinstance(event, events.Paused) and before and before.clocks.started_at_ms:
        _clamp_to_pause_start(match, event.start_ms - before.clocks.started_at_ms)
    if before and before.round and before.phase is Phase.READY and isinstance(event, events.SeatFreed):
        match.rounds.append(_recorded(before, before.round))
    if before and before.phase is not Phase.FINISHED and after.phase is Phase.FINISHED and after.round:
        recorded = _recorded(after, after.round)
        match.rounds.append(replace(recorded, events=tuple(match.events), outcome=after.round.outcome))
        match.events = []


def _clamp_to_pause_start(match: _Match, since_start_ms: int) -> None:
    """Record the events that Redis stored during a pause at its start, `since_start_ms` after the start of the race."""
    match.events = [replace(event, at_ms=min(event.at_ms, max(0, since_start_ms))) for event in match.events]


def _recorded(state: RoomState, opened: OpenRound) -> RecordedRound:
    """Return the round with everything that sealed its deal, as far as it had come, without events and result."""
    first, second = state.seats
    return RecordedRound(
        round_id=opened.round_id,
        commitment=commit_secret(opened.round_id, opened.secret),
        signature=opened.signature,
        secret=opened.secret,
        entropy_hashes=(first.entropy_hash if first else None, second.entropy_hash if second else None),
        entropies=(first.entropy if first else None, second.entropy if second else None),
        envelopes=opened.sealed.envelopes if opened.sealed else (),
    )
