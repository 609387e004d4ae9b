"""The record of a room's last match, made from the room's log."""

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
    """A match while its log is being read."""

    match_id: str
    names: tuple[str, str]
    rounds: list[RecordedRound] = field(default_factory=list)
    moves: list[RecordedMove | RecordedStop] = field(default_factory=list)
    finished_at_ms: int | None = None

    @property
    def is_raced(self) -> bool:
        """Whether any of its rounds has a result."""
        return any(played.outcome for played in self.rounds)


def record_last_match(room: str, steps: Iterable[Step]) -> Record | None:
    """The record of the last match that is over, or None when none is."""
    return next(reversed(record_matches(room, steps)), None)


def record_matches(room: str, steps: Iterable[Step]) -> list[Record]:
    """The records of all matches that are over."""
    match: _Match | None = None
    over: list[_Match] = []
    options = rules = None
    for step in steps:
        options, rules = step.after.options, step.after.rules
        if isinstance(step.event, events.RoundOpened):
            match = _open(match, step)
        if match is None:
            continue
        _note(match, step)
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
    """The match that this round belongs to. Rounds called off before a first race go with the next match."""
    opened, after = step.after.round, step.after
    assert opened is not None, "the round was just opened"
    if match is not None and opened.number > 1:
        return match
    called_off = match.rounds if match is not None and not match.is_raced else []
    return _Match(opened.round_id.hex(), (after.seat(0).name, after.seat(1).name), called_off)


def _note(match: _Match, step: Step) -> None:
    before, event, after = step.before, step.event, step.after
    started_at = after.clocks.started_at_ms or step.at_ms
    # No earlier than the move before: pauses may be timed by a clock ahead of the room's own, on another node.
    earliest = match.moves[-1].at_ms if match.moves else 0
    since_start = max(earliest, step.at_ms - started_at) if before and before.phase is Phase.RACING else 0
    if isinstance(event, events.Played):
        match.moves.append(RecordedMove(since_start, event.seat, event.move))
    elif isinstance(event, events.SeatsStopped) and after.race is not None:
        match.moves.append(RecordedStop(since_start, event.seats, event.ending))
    elif isinstance(event, events.Paused) and before and before.clocks.started_at_ms:
        _stand_still(match, event.start_ms - before.clocks.started_at_ms)
    if before and before.round and before.phase is Phase.READY and isinstance(event, events.SeatFreed):
        match.rounds.append(_recorded(before, before.round))
    if before and before.phase is not Phase.FINISHED and after.phase is Phase.FINISHED and after.round:
        moves = tuple(match.moves) if after.race else ()
        match.rounds.append(replace(_recorded(after, after.round), events=moves, outcome=after.round.outcome))
        match.moves = []


def _stand_still(match: _Match, since_start_ms: int) -> None:
    """The clock of the race stood still from here on; what Redis still took meanwhile happened at this moment."""
    match.moves = [replace(moved, at_ms=min(moved.at_ms, max(0, since_start_ms))) for moved in match.moves]


def _recorded(state: RoomState, opened: OpenRound) -> RecordedRound:
    """All that sealed this round's deal, as far as it had come."""
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
