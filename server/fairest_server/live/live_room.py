"""A room as this process has it open: commands come in, events go to the log, and what the log took is shown.

    submit -> (its turn) -> decide -> append -> (Redis) -> evolve -> view -> followers

All of it is synchronous but for the two places where it waits: for the log to take its next batch, and for Redis. One
append of a room is under way at a time. What is said meanwhile is decided together when the room's turn comes, appended
together and shown together. Nothing is acknowledged, and nothing shown, before the log has it.
"""

from collections.abc import Callable, Sequence
from random import getrandbits
from typing import Final, Protocol
from weakref import ref

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Accepted, Refused
from fairest_server.live.proposal import LateAnswer, Proposal, Request, propose
from fairest_server.live.redis_clock import DecisionWindow, RedisClock
from fairest_server.live.subscribers import Subscriber, Subscribers
from fairest_server.ops import metrics
from fairest_server.room.commands import ApplyPauses, CreateRoom, Disconnect, ExpireDeadline, Pause, TakeSeat
from fairest_server.room.decide import DrawRound, refuse_for_now
from fairest_server.room.lobby_entry import changes_listing, list_room
from fairest_server.room.projection import StepHistory
from fairest_server.room.state import Deadline, RoomState
from fairest_server.room.steps import LogEntry, LogSlice, Step, fold
from fairest_server.room.view import Catchup
from fairest_server.store.append_queue import Answer, Append, Reply
from fairest_server.store.keys import of_room
from fairest_server.store.log import Log

HISTORY_SECONDS: Final = 3.0
"""All players of a server that was killed come back within about this time; then the memory is better used."""
MAX_WAITING: Final = 256
"""Requests that may wait for one append. Two players and their drops need a handful; more is somebody flooding."""


class RoomServices(Protocol):
    """What a room needs of the process around it."""

    @property
    def log(self) -> Log:
        """Where the room's events go, when it is the room's turn."""

    @property
    def clock(self) -> RedisClock:
        """Redis' clock. When Redis was not heard lately it knows no present moment, and nothing is decided."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes serve this deployment, so that the log may move on without us."""

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """The times in which nobody served; rooms take them out of their clocks."""

    @property
    def closed_room_seconds(self) -> int:
        """How long a closed room's log stays."""

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call this after so many seconds; 0 is as soon as everything else has had its turn."""

    def catch_up(self, room: "LiveRoom", after: int) -> None:
        """Read what the log has behind this index and hand it to `room.caught_up`, in a task."""

    def welcome(self, room: "LiveRoom", subscriber: Subscriber) -> None:
        """Show an arriving player the room and have it follow, in a task if the log has to be read for it."""

    def changed(self, room: "LiveRoom") -> None:
        """Deadlines, the need to publish, or whether anybody follows may have changed."""

    def try_later(self, room: "LiveRoom") -> None:
        """Redis does not answer: call `room.catch_up` in a while."""

    def give_up(self, room: "LiveRoom") -> None:
        """Drop this room, which is not the one that the log holds."""


class LiveRoom:
    """One room of this process: a cache of its log that may be thrown away at any time."""

    __slots__ = (
        "_buffered_slices",
        "_draw_round",
        "_has_changed",
        "_has_turn_coming",
        "_is_reading",
        "_log_just_read",
        "_read_from",
        "_services",
        "_under_way",
        "_waiting",
        "append_outcome_unknown",
        "code",
        "deadline",
        "history",
        "index",
        "keys",
        "state",
        "subscribers",
        "tag",
    )

    def __init__(self, code: str, services: RoomServices, draw_round: DrawRound) -> None:
        self.code = code
        self.keys = of_room(code)
        self.state: RoomState | None = None
        self.deadline: Deadline | None = None
        """The next one of this state."""
        self.index = 0
        self.tag = ""
        self.subscribers = Subscribers(services.later)
        self.history: StepHistory | None = None
        """All that happened here, for a moment after the log was read: who comes back together is told it once."""
        self.append_outcome_unknown = False
        """Whether Redis left an append unanswered, so that the log has to be read before anything is decided."""
        self._services = services
        self._draw_round = draw_round
        self._waiting: list[Request] = []
        self._under_way: Proposal | None = None
        self._has_changed = True
        """Whether there may be other deadlines, or other things to publish, than those around this room know of."""
        self._has_turn_coming = False
        self._is_reading = False
        self._log_just_read = False
        """Whether the log was read for what is decided at the next turn."""
        self._read_from = (0, "")
        self._buffered_slices: list[LogSlice] = []
        """While an append is under way."""

    @property
    def end(self) -> tuple[int, str]:
        """Index and tag of the last entry of the log that this room has taken; 0 and empty before the first."""
        return self.index, self.tag

    @property
    def is_needed(self) -> bool:
        """Whether somebody follows this room, something is under way or a match waits to be stored. Else drop it."""
        state = self.state
        return (state is not None and (not self.subscribers.is_empty or state.unarchived_match > 0)) or self.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether something waits, is under way or is being read."""
        return bool(self._waiting or self._under_way or self._is_reading)

    def open(self, steps: list[Step]) -> None:
        """Begin where a log ends that was read just now."""
        self.state, self.index, self.tag = steps[-1].after, len(steps), steps[-1].tag
        self.deadline = self.state.next_deadline()
        self.remember(steps)

    def remember(self, steps: list[Step]) -> None:
        """Keep the history for a moment. These are the steps up to the present state."""
        self.history = StepHistory(steps)
        # What is forgotten before is not kept by its timer.
        remembered = ref(self.history)
        self._services.later(HISTORY_SECONDS, lambda: self._forget(remembered()))

    def _forget(self, history: StepHistory | None) -> None:
        """Unless the log was read again meanwhile."""
        if self.history is history:
            self.history = None

    def admit(self, seat: int | None, subscriber: Subscriber, introduction: Catchup) -> None:
        """Show a follower what it has missed and let it follow from here on."""
        self.subscribers.admit(seat, subscriber, introduction)
        if seat is not None and self.subscribers.is_complete:
            # Who came back together is here, and a thousand histories are a million objects.
            self.history = None

    def submit(self, request: Request) -> None:
        """Decide this when the room's turn comes. At most MAX_WAITING wait; who asks for more is told to try again."""
        if isinstance(request.command, (TakeSeat, CreateRoom)) and request.asker:
            self.subscribers.add_pending(request.asker)
        if request.asker and len(self._waiting) >= MAX_WAITING:
            self._refuse([request])
            return
        self._waiting.append(request)
        self._schedule_turn()

    def catch_up(self) -> None:
        """Read what other processes appended, unless something under way will find out anyway."""
        if self._under_way is None and not self._is_reading:
            self._is_reading = True
            self._read_from = self.end
            self._services.catch_up(self, max(0, self.index - 1))

    def caught_up(self, entries: Sequence[LogEntry] | None) -> None:
        """Take what the log has from our last entry on, that one included, or None when Redis did not answer.

        A log that does not hold that entry under its tag has lost its tail: this cache is of another life.
        """
        self._is_reading = False
        if entries is None:
            self.append_outcome_unknown = True
            self._defer(self._waiting)
            return
        if self._read_from[0] and (not entries or (entries[0].index, entries[0].tag) != self._read_from):
            self._services.give_up(self)
            return
        self.append_outcome_unknown = False
        self.hear(LogSlice("", entries))
        self._take_buffered()
        self._schedule_turn(log_just_read=True)

    def hear(self, log_slice: LogSlice) -> None:
        """Take entries that the log has, from a wake-up or a read.

        A gap makes this room read the log, and so does what does not follow our last entry: Redis may have lost it.
        What is heard while an append is under way may be its own entries, come back before its answer, or another
        process's before or behind them: it is taken when the answer is there.
        """
        if self._under_way is not None:
            self._buffered_slices.append(log_slice)
            return
        if not log_slice.continues(self.index, self.tag):
            self.catch_up()
            return
        steps = fold([logged for logged in log_slice.entries if logged.index > self.index], self.state)
        if steps:
            self.tag = steps[-1].tag
        self._apply(steps)
        self._on_idle()

    def _take_buffered(self) -> None:
        """Take what was heard while an append was under way."""
        heard, self._buffered_slices = self._buffered_slices, []
        for log_slice in heard:
            self.hear(log_slice)

    def depart(self, subscriber: Subscriber) -> None:
        """A connection is gone. What it still wanted of a seat is withdrawn, and the log learns of it."""
        self._waiting = [
            request
            for request in self._waiting
            if request.asker is not subscriber or not isinstance(request.command, (TakeSeat, CreateRoom))
        ]
        self.submit(Request(Disconnect(subscriber.connection_id)))
        self.unfollow(subscriber)

    def unfollow(self, subscriber: Subscriber) -> None:
        """Show this follower nothing more."""
        self.subscribers.forget(subscriber)
        self._services.changed(self)

    def lose(self) -> list[str]:
        """The room is not the one that the log holds: who is here has to come again, and what they said is dropped.

        Returns the links that are gone, or end with this, and of which the log has not learned.
        """
        gone = [request.command.connection_id for request in self._waiting if isinstance(request.command, Disconnect)]
        self._waiting = []
        return [*gone, *self.subscribers.lose()]

    def has_asked(self, subscriber: Subscriber) -> bool:
        """Whether this follower has asked for a seat and the log has not answered yet."""
        under_way = self._under_way.requests if self._under_way else []
        return any(
            request.asker is subscriber and isinstance(request.command, (TakeSeat, CreateRoom))
            for request in (*self._waiting, *under_way)
        )

    def seat_of(self, subscriber: Subscriber) -> int | None:
        """The seat this follower speaks for, by what the log says."""
        return self.state.seat_of_connection(subscriber.connection_id) if self.state else None

    def _schedule_turn(self, *, log_just_read: bool = False) -> None:
        """Ask for a turn if there is something to decide and no append is under way.

        A turn is as soon as the log is free. While it is not, deciding early would gain nobody anything, and what both
        players say in that time would be two appends and more frames instead of one.
        """
        if self._under_way is not None or self._is_reading:
            return
        if not self._waiting and not self._lacks_pause:
            self._on_idle()
            return
        self._log_just_read = self._log_just_read or log_just_read
        if not self._has_turn_coming:
            self._has_turn_coming = True
            # What was read just now is soon old.
            self._services.log.enqueue(self, is_first=log_just_read)

    def build_append(self) -> Append | None:
        """Its turn: decide all that waits. What there is to append, if anything."""
        self._has_turn_coming = False
        log_just_read, self._log_just_read = self._log_just_read, False
        if self._is_reading:
            return None
        while self._waiting or self._lacks_pause:
            decision_window = self._services.clock.decision_window()
            if decision_window is None:
                self.append_outcome_unknown = True
                self._defer(self._waiting)
                return None
            if self.append_outcome_unknown and not log_just_read:
                self.catch_up()
                return None
            # Under way from here on, so that a fault of ours puts off what it was about, and nothing else.
            self._under_way = Proposal(self._take_waiting())
            self._under_way = proposal = propose(
                self._under_way.requests,
                self.state,
                self._draw_round,
                now_ms=decision_window.now_ms,
                tag=f"{getrandbits(32):08x}",
            )
            if proposal.answers and self._services.is_shared and not log_just_read:
                # A refusal may rest on the newest state only: another process may have moved the room on.
                self._under_way = None
                self._waiting = [*proposal.requests, *self._waiting]
                self.catch_up()
                return None
            if proposal.steps:
                return self._append(proposal, decision_window)
            self._under_way = None
            for late in proposal.answers:
                self._answer(late.asker, late.answer)
        self._on_idle()
        return None

    def _on_idle(self) -> None:
        """Nothing is left to do: what is to wake this room again, or whether it is needed, may have changed.

        Nearly every move leaves that as it was, and to look at all of it would be a twentieth of the move.
        """
        if self._has_changed or self.subscribers.is_empty:
            self._has_changed = False
            self._services.changed(self)

    @property
    def _lacks_pause(self) -> bool:
        """Whether the clocks of this room do not know yet of the last pause."""
        pauses = self._services.pauses
        return bool(pauses and self.state and self.state.lacks_pause(pauses[-1].end_ms))

    def _take_waiting(self) -> list[Request]:
        """All that waits; but a pause, then a deadline, comes first and alone: the rest is judged on what follows."""
        if self._lacks_pause:
            return [Request(ApplyPauses(self._services.pauses))]
        for place, request in enumerate(self._waiting):
            if isinstance(request.command, ExpireDeadline):
                # The timer that reminded us is gone, whatever follows from this.
                self._has_changed = True
                del self._waiting[place]
                return [request]
        requests, self._waiting = self._waiting, []
        return requests

    def _append(self, proposal: Proposal, decision_window: DecisionWindow) -> Append:
        """What is to be appended if the log is where we believe it to be, and Redis' clock between these times."""
        before, after = self.state, proposal.steps[-1].after
        command = proposal.requests[0].command
        # Judged now or, if Redis takes its time, anew: it may have been a pause, or somebody may have gone.
        not_before_ms, not_after_ms = 0, decision_window.not_after_ms
        if isinstance(command, ExpireDeadline):
            not_before_ms = command.now_ms
        elif self.deadline and not isinstance(command, ApplyPauses):
            not_after_ms = min(not_after_ms, self.deadline.at_ms)
        next_check_ms, expire_seconds = None, 0
        if before is None or not before.has_same_deadlines_as(after):
            next_check_ms = after.next_check_ms() or 0
            expire_seconds = self._services.closed_room_seconds if after.phase is Phase.CLOSED else 0
        return Append(
            room=self.code,
            expected=self.index,
            expected_tag=self.tag,
            tag=proposal.tag,
            events=[step.event for step in proposal.steps],
            not_before_ms=not_before_ms,
            not_after_ms=not_after_ms,
            next_check_ms=next_check_ms,
            expire_seconds=expire_seconds,
            is_shared=self._services.is_shared,
            listing=self._listing(after, decision_window.now_ms) if changes_listing(before, after) else None,
        )

    def _listing(self, after: RoomState, now_ms: int) -> bytes:
        """The new line in the lobby; empty to leave it."""
        listed = list_room(self.code, after, now_ms)
        return encode(listed) if listed else b""

    def on_append_result(self, reply: Reply) -> None:
        """What became of the append under way."""
        proposal, self._under_way = self._under_way, None
        assert proposal is not None, "only an append under way is answered"
        match reply.answer:
            case Answer.APPENDED:
                self.tag = proposal.tag
                self._apply_and_answer(proposal.stamped(reply.now_ms), proposal.answers)
            case Answer.UNKNOWN:
                self.append_outcome_unknown = True
                self._defer(proposal.requests)
                return
            case Answer.CONFLICT:
                self._waiting = [*proposal.requests, *self._waiting]
                self._read_from = self.end
                self.caught_up(reply.entries)
                return
            case Answer.LATE:
                self._services.clock.set(reply.now_ms)
                self._waiting = [Request(ExpireDeadline(reply.now_ms)), *proposal.requests, *self._waiting]
            case Answer.EARLY:
                # Our idea of Redis' clock was ahead of it; the deadline is set anew.
                self._services.clock.set(reply.now_ms)
        if self._buffered_slices:
            self._take_buffered()
        self._schedule_turn()

    def _apply(self, steps: Sequence[Step]) -> None:
        """The log has these events: this is the state now, and everybody is shown what they may see of it."""
        if steps:
            before, self.state = self.state, steps[-1].after
            if before is None or not before.has_same_deadlines_as(self.state):
                self.deadline = self.state.next_deadline()
                self._has_changed = True
            self.index += len(steps)
            if self.subscribers.is_complete:
                # What happens now adds up.
                self.history = None
            elif self.history is not None:
                self.history.extend(steps)
            for subscriber in self.subscribers.show(steps):
                self._services.welcome(self, subscriber)

    def _apply_and_answer(self, steps: Sequence[Step], answers: Sequence[LateAnswer]) -> None:
        """Everybody hears in the order in which things were said."""
        taken = 0
        for late in answers:
            self._apply(steps[taken : late.after_steps])
            taken = late.after_steps
            self._answer(late.asker, late.answer)
        self._apply(steps[taken:])

    def _answer(self, subscriber: Subscriber, answer: Refused | Accepted) -> None:
        if isinstance(answer, Refused) and answer.to in ("create", "join", "resume"):
            self.subscribers.refuse_entry(subscriber, answer)
            return
        if isinstance(answer, Refused):
            metrics.REFUSALS.labels(answer.code).inc()
        subscriber.show(encode(answer))

    def _defer(self, requests: Sequence[Request]) -> None:
        """Redis does not answer. Nothing is accepted in memory only, so who asks is refused; a link that is gone is
        reported as soon as Redis is back, and so is one whose refused join may stand in the log all the same.
        Deadlines have their timers.
        """
        kept = [
            Request(Disconnect(request.command.connection_id))
            for request in requests
            if isinstance(request.command, (Disconnect, TakeSeat, CreateRoom))
        ]
        self._waiting = [*kept, *(request for request in self._waiting if request not in requests)]
        self._refuse(requests)
        if self._waiting:
            self._services.try_later(self)
        self._services.changed(self)

    def _refuse(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if request.asker:
                self._answer(request.asker, refuse_for_now(request.command))
