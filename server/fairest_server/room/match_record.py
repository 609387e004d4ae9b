"""The records of a room's matches, made from the room's log. They are not signed here."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fairest_protocol.calculation.match_rules import MAX_CALLED_OFF
from fairest_protocol.calculation.record import Record, RecordedRound, RecordedStop
from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.calculation.sliced import Sliced, finish
from fairest_protocol.calculation.terms import parse_terms
from fairest_protocol.messages.fields import RACING, Phase
from fairest_protocol.value import replace
from fairest_server.room import events
from fairest_server.room.distance import latest_before_pause_ms
from fairest_server.room.round_events import RoundEvents
from fairest_server.room.state import RoomState, open_round
from fairest_server.room.steps import STEPS_IN_SLICE, Step


@dataclass(slots=True, eq=False)
class _Match:
    """A match while its log is being read: its rounds so far, and the events of the round under way."""

    match_id: bytes
    names: tuple[str, str]
    players: tuple[str, str]
    rounds: list[RecordedRound] = field(default_factory=list)
    events: RoundEvents = field(default_factory=RoundEvents)
    finished_at_ms: int | None = None
    was_read: bool = False
    """Whether any of its steps was read from the log, where another process or somebody else has written it."""

    @property
    def is_raced(self) -> bool:
        """Whether any of its rounds has a result."""
        return any(played.outcome for played in self.rounds)


class MatchFold:
    """The matches in a room's log, folded over its steps: as an open room takes them, or over a log that was read."""

    __slots__ = ("_match", "_over", "_state", "_stored", "newest_over", "players")

    def __init__(self) -> None:
        self._state: RoomState | None = None
        self._match: _Match | None = None
        self._over: list[_Match] = []
        self._stored = 0
        """How many of the matches that are over have a stored record."""
        self.newest_over: bytes | None = None
        """The id of the newest match that is over."""
        self.players: dict[str, tuple[str, str]] = {}
        """The ids of the players on both seats of each match that is over, by its id."""

    @property
    def called_off(self) -> list[RecordedRound]:
        """The rounds that were called off since the last race, oldest first; the next record will hold them."""
        match = self._match
        return [] if match is None or match.is_raced else match.rounds

    def adding(self, steps: Iterable[Step]) -> Sliced[None]:
        """Add these steps, which were read from the log, in slices."""
        for number, step in enumerate(steps, 1):
            self.add_read(step)
            if number % STEPS_IN_SLICE == 0:
                yield

    def add_read(self, step: Step) -> None:
        """Add one step that was read from the log."""
        self.add(step)
        if self._match is not None:
            self._match.was_read = True

    def add(self, step: Step) -> None:
        """Add one step that this process has decided, and the log has taken."""
        self._state = step.after
        match = self._match
        if match is not None and isinstance(step.event, events.Played) and step.after.phase is RACING:
            # Nearly all steps are moves that end nothing, of which only the time is to be found.
            started_at_ms = step.after.clocks.started_at_ms
            assert started_at_ms is not None, "a race has a start"
            match.events.add_move(step.at_ms - started_at_ms, step.event.seat, step.event.move)
            return
        if isinstance(step.event, events.Checkpoint):
            if self._match is None:
                self._start_at(step.event)
            return
        if isinstance(step.event, events.RoundOpened):
            self._match = _open(self._match, step)
        elif isinstance(step.event, events.MatchPublished):
            self._stored = len(self._over)
        match = self._match
        if match is None:
            return
        _add_step(match, step)
        if step.after.match_is_over and match.is_raced and match.finished_at_ms is None:
            match.finished_at_ms = step.at_ms
            self._over.append(match)
            self.newest_over = match.match_id
            self.players[match.match_id.hex()] = match.players

    def recording(self, room: str, *, only_unstored: bool = False) -> Iterator[Record]:
        """Yield the records of the matches that are over, in order. `room` is the room's code."""
        state = self._state
        if state is None:
            return
        for match in self._over[self._stored if only_unstored else 0 :]:
            assert match.finished_at_ms is not None, "the match is over"
            yield Record(
                match_id=match.match_id.hex(),
                room=room,
                names=match.names,
                terms=parse_terms(state.options.terms()),
                finished_at_ms=match.finished_at_ms,
                rounds=tuple(match.rounds),
            )

    @property
    def partly_read(self) -> set[str]:
        """The ids of the matches that are over and of which this process has not decided each step."""
        return {match.match_id.hex() for match in self._over if match.was_read}

    @property
    def unrecorded_match(self) -> int:
        """The number of the newest match that is over and has no record yet, 0 if there is none."""
        return 0 if self._state is None else self._state.unrecorded_match

    def forget_stored(self) -> None:
        """Forget the matches that are over, all of which have a stored record: a room is raced in for hours."""
        self._over.clear()
        self._stored = 0
        self.players = {}
        if self._match is not None and self._match.finished_at_ms is not None:
            self._match = None

    def _start_at(self, checkpoint: events.Checkpoint) -> None:
        """Go on from a log that was cut."""
        state, self.newest_over = checkpoint.state, checkpoint.recorded_match
        called_off = [
            RecordedRound(
                round_id=each.round,
                commitment=commit_secret(each.round, each.secret),
                signature=each.signature,
                secret=each.secret,
                entropy_hashes=each.entropy_hashes,
            )
            for each in checkpoint.called_off
        ]
        if state.phase is Phase.READY:
            self._match = _Match(open_round(state).match_id, _names(state), _players(state), called_off)
        elif called_off:
            self._match = _Match(b"", ("", ""), ("", ""), called_off)


def record_last_match(room: str, steps: Iterable[Step]) -> Record | None:
    """Return the record of the last match that is over, or None if no match is."""
    return next(reversed(record_matches(room, steps)), None)


def record_matches(room: str, steps: Iterable[Step]) -> list[Record]:
    """Return the records of all matches that are over, in order. `room` is the room's code."""
    matches = MatchFold()
    finish(matches.adding(steps))
    return list(matches.recording(room))


def _open(match: _Match | None, step: Step) -> _Match:
    """Return the match that the round just opened belongs to: the one under way, or a new one.

    Rounds that were called off before the first race of a match are recorded with the next match, the newest of them.
    """
    opened, after = open_round(step.after), step.after
    if match is not None and opened.number > 1:
        return match
    called_off, was_read = [], False
    if match is not None and not match.is_raced:
        called_off, was_read = match.rounds[-MAX_CALLED_OFF:], match.was_read
    return _Match(opened.match_id, _names(after), _players(after), called_off, was_read=was_read)


def _names(state: RoomState) -> tuple[str, str]:
    return state.seat(0).name, state.seat(1).name


def _players(state: RoomState) -> tuple[str, str]:
    return state.seat(0).player, state.seat(1).player


def _add_step(match: _Match, step: Step) -> None:
    """Add a step of the log to its match: a move or a stop, a pause, or the end of a round."""
    before, event, after = step.before, step.event, step.after
    assert before is not None, "a room is created before its first match"
    started_at_ms = after.clocks.started_at_ms
    since_start = 0 if started_at_ms is None else max(0, step.at_ms - started_at_ms)
    if isinstance(event, events.Played):
        match.events.add_move(since_start, event.seat, event.move)
    elif isinstance(event, events.SeatsStopped) and after.race is not None:
        is_in_countdown = before.phase is Phase.COUNTDOWN
        match.events.add_stop(RecordedStop(None if is_in_countdown else since_start, event.seats, event.ending))
    elif isinstance(event, events.Paused) and before.clocks.started_at_ms is not None:
        # What Redis stored during a pause is recorded at its start.
        match.events.clamp(latest_before_pause_ms(before, after, event, step.at_ms))
    if before.phase is Phase.READY and isinstance(event, events.SeatFreed):
        match.rounds.append(_recorded(before))
    if before.phase is not Phase.FINISHED and after.phase is Phase.FINISHED:
        outcome = open_round(after).outcome
        match.rounds.append(replace(_recorded(after), events=match.events.recorded(), outcome=outcome))
        match.events = RoundEvents()


def _recorded(state: RoomState) -> RecordedRound:
    """Return the round with everything that sealed its deal, as far as it had come, without events and result."""
    opened, (first, second) = open_round(state), state.seats
    return RecordedRound(
        round_id=opened.round_id,
        commitment=commit_secret(opened.round_id, opened.secret),
        signature=opened.signature,
        secret=opened.secret,
        entropy_hashes=(first.entropy_hash if first else None, second.entropy_hash if second else None),
        entropies=(first.entropy if first else None, second.entropy if second else None),
        envelopes=opened.sealed.envelopes if opened.sealed else (),
        step=opened.sealed.step if opened.sealed else None,
    )
