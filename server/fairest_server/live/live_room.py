"""A room as this process has it open: requests come in, events go to the log, and subscribers see what the log took.

    submit -> enqueue -> (poll) -> decide -> append -> (Redis) -> result -> evolve -> subscribers
                         `build_append`                 `on_append_result`

A request waits in two places: with its room to be polled by the append queue, and for Redis. Everything between is
synchronous. One append of a room is in flight at a time; requests that arrive meanwhile are decided, appended and shown
together at the next poll. Nothing is acknowledged or shown before the log has it. `append_cycle` has the states and
their table.
"""

from collections.abc import Sequence
from functools import partial
from random import getrandbits
from time import monotonic
from typing import Final

from fairest_protocol.messages.fields import RACING
from fairest_server.live.append_cycle import (
    APPEND,
    DECIDING,
    ENQUEUED,
    IDLE,
    IN_FLIGHT,
    LOG_READ,
    NOTHING_TO_APPEND,
    POLLED,
    QUEUED,
    READ,
    RESULT,
    AppendState,
)
from fairest_server.live.doubt import IN_DOUBT_SECONDS, Doubt
from fairest_server.live.log_cursor import LogCursor
from fairest_server.live.proposal import LateAnswer, Proposal, Request, make_append, propose
from fairest_server.live.recent_history import RecentHistory
from fairest_server.live.request_queue import RequestQueue
from fairest_server.live.room_services import RoomServices
from fairest_server.live.subscribers import Subscriber, Subscribers
from fairest_server.ops.metrics import MOVE_SECONDS
from fairest_server.room.commands import ApplyPauses, CreateRoom, Disconnect, ExpireDeadline, TakeSeat
from fairest_server.room.match_record import MatchFold
from fairest_server.room.refusing import refuse_for_now
from fairest_server.room.state import Deadline, RoomState, has_work_left
from fairest_server.room.steps import LogEntry, LogSlice, Step, fold
from fairest_server.store.appends import Answer, Append, Reply
from fairest_server.store.keys import of_room

MAX_WAITING: Final = 256
"""Requests with an asker that may wait for one append. Two players need a handful; more is a flood."""


class LiveRoom:
    """One room of this process: a cache of its log that may be thrown away at any time."""

    __slots__ = (
        "_append_state",
        "_has_changed",
        "_proposal",
        "_services",
        "code",
        "cursor",
        "deadline",
        "keys",
        "matches",
        "recent",
        "requests",
        "state",
        "subscribers",
    )

    def __init__(self, code: str, services: "RoomServices[LiveRoom]") -> None:
        self.code = code
        self.keys = of_room(code)
        self.state: RoomState | None = None
        """None while the log is empty."""
        self.deadline: Deadline | None = None
        """The next deadline of this state."""
        self.cursor = LogCursor()
        self.matches = MatchFold()
        """The matches without a record, folded over the same steps as the state."""
        self.requests = RequestQueue()
        self.subscribers = Subscribers(services.later)
        self.recent = RecentHistory(services.later)
        self._services = services
        self._append_state: AppendState = IDLE
        self._proposal: Proposal | None = None
        """The events and answers to which the requests in flight led, in the state IN_FLIGHT."""
        self._has_changed = True
        """Whether `on_change` is owed: the deadlines or the match without a record are not those of the last call."""

    @property
    def is_needed(self) -> bool:
        """Whether the room has subscribers, is busy, or has work left. Otherwise it may be dropped."""
        state = self.state
        return (state is not None and (not self.subscribers.is_empty or has_work_left(state))) or self.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether requests wait, or an append or a read is under way."""
        return bool(self.requests.waiting or self.requests.in_flight or self._append_state in LOG_READ)

    def open(self, steps: list[Step], index: int) -> None:
        """Begin at the end of a log that was read just now, with the entry `index`.

        The steps are those of the whole log, or from its last checkpoint on. `matches` was folded over them.
        """
        self.state = steps[-1].after
        cursor = self.cursor
        cursor.start, cursor.index, cursor.tag = index - len(steps) + 1, index, steps[-1].tag
        self.deadline = self.state.next_deadline()
        self.recent.keep(steps)

    def submit(self, request: Request) -> None:
        """Decide a request when the room is polled. If MAX_WAITING wait, the asker is told to try again."""
        asker = request.asker
        if asker is not None:
            if isinstance(request.command, (TakeSeat, CreateRoom)):
                self.subscribers.add_pending(asker)
                self.requests.withdraw_disconnect(asker.connection_id)
            if len(self.requests.waiting) >= MAX_WAITING:
                self.subscribers.answer(asker, refuse_for_now(request.command).with_id(request.id))
                return
        self.requests.waiting.append(request)
        self._enqueue()

    def disconnect(self, subscriber: Subscriber) -> None:
        """A connection is gone: withdraw its request for a seat, tell the log, and show it nothing more."""
        self.requests.withdraw_entry(subscriber)
        self.submit(Request(Disconnect(subscriber.connection_id)))
        self.unsubscribe(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Show this subscriber nothing more."""
        self.subscribers.forget(subscriber)
        self._services.on_change(self)

    def catch_up(self) -> None:
        """Read what other processes appended, unless a read or an append is under way, which will find out anyway."""
        if self._append_state in READ:
            self._append_state = READ[self._append_state]
            self._services.read_log(self, self.cursor.start_reading())

    def on_log_read(self, entries: Sequence[LogEntry] | None) -> None:
        """Take the log's entries from our last one on, that one included; None if Redis did not answer."""
        self._append_state = LOG_READ[self._append_state]
        cursor = self.cursor
        if entries is None:
            cursor.is_uncertain = True
            self._defer()
            return
        if not cursor.holds_last_entry(entries):
            self._services.give_up(self)
            return
        cursor.is_uncertain = False
        self.on_log_slice(LogSlice("", entries))
        for buffered in cursor.take_buffered():
            self.on_log_slice(buffered)
        doubt = self.requests.doubt
        if doubt is not None and not doubt.may_follow:
            # Redis answered the append with an error, and the log does not hold it: nothing has changed.
            self.requests.doubt, cursor.is_uncertain = None, True
            self._defer()
            return
        self.requests.put_back()
        self._enqueue(log_just_read=True)

    def on_log_slice(self, log_slice: LogSlice) -> None:
        """Take entries that the log has, from a wake-up or a read. If they leave a gap, the log is read."""
        if self._append_state is IN_FLIGHT:
            self.cursor.buffer(log_slice)
            return
        entries = self.cursor.new_entries(log_slice)
        if entries is None:
            self.catch_up()
            return
        if entries and self.requests.doubt is not None:
            made = self.requests.settle(entries[0].tag)
            if made is not None:
                self.cursor.tag = made.tag
                self._apply_and_answer(made.steps_at(entries[0].at_ms), made.answers)
                entries = entries[len(made.events) :]
        steps = fold(entries, self.state)
        if steps:
            self.cursor.tag = steps[-1].tag
        self._apply(steps, are_read=True)
        self._on_idle()

    def build_append(self) -> Append | None:
        """Decide what waits, now that the append queue polls the room. Returns the append that follows, if one does.

        A fault in here is answered like an append with an unknown outcome: by `on_append_result`.
        """
        self._append_state = POLLED[self._append_state]
        cursor, services = self.cursor, self._services
        # A read of the log serves one poll only, even a poll that returns early because another read has begun.
        log_just_read, cursor.just_read = cursor.just_read, False
        if self._append_state is not DECIDING:
            return None
        while self.requests.waiting or (services.pauses and services.has_pause_for(self.state)):
            window = services.clock.decision_window()
            if window is None:
                self._append_state = NOTHING_TO_APPEND[self._append_state]
                cursor.is_uncertain = True
                self._defer()
                return None
            if cursor.is_uncertain and not log_just_read:
                self.catch_up()
                return None
            if services.pauses and services.has_pause_for(self.state):
                self.requests.in_flight = [Request(ApplyPauses(services.pauses))]
            elif self.requests.take():
                # The timer of the deadline has fired, whatever follows from that.
                self._has_changed = True
            proposal = propose(
                self.requests.in_flight,
                self.state,
                partial(services.draw_round, self.code),
                now_ms=window.now_ms,
                tag=f"{getrandbits(32):08x}",
            )
            if proposal.answers and not log_just_read and (services.is_shared or proposal.refuses_entry):
                # A refusal may rest on the newest state only, and another process may have moved the room on. A process
                # that has just started is not known to the others yet, and a player whom it seated may come from there.
                self.requests.put_back()
                self.catch_up()
                return None
            if proposal.events:
                append = make_append(
                    proposal,
                    self.code,
                    cursor,
                    self.deadline,
                    window,
                    services.closed_room_seconds,
                    services.own_subscriptions(self.code) if services.is_shared else None,
                )
                self._append_state = APPEND[self._append_state]
                self._proposal = proposal
                return append
            self.requests.in_flight = ()
            for late in proposal.answers:
                self.subscribers.answer(late.asker, late.answer)
        self._append_state = NOTHING_TO_APPEND[self._append_state]
        self._on_idle()
        return None

    def on_append_result(self, reply: Reply) -> None:
        """Take the answer to the append in flight: show it, or decide the requests again."""
        self._append_state = RESULT[self._append_state]
        proposal, self._proposal = self._proposal, None
        cursor, services = self.cursor, self._services
        match reply.answer:
            case Answer.APPENDED:
                assert proposal is not None, "an append follows from a proposal"
                answered, self.requests.in_flight = self.requests.in_flight, ()
                self.requests.doubt = None
                cursor.tag = proposal.tag
                self._apply_and_answer(proposal.steps_at(reply.now_ms), proposal.answers)
                for request in answered:
                    if request.arrived_at:
                        MOVE_SECONDS.add(monotonic() - request.arrived_at)
            case Answer.UNKNOWN | Answer.FAILED:
                cursor.is_uncertain = True
                # Without a proposal, deciding failed, and nothing was sent.
                new = proposal and self.requests.put_in_doubt(proposal, is_unanswered=reply.answer is Answer.UNKNOWN)
                if new:
                    services.later(IN_DOUBT_SECONDS, partial(self._end_doubt, new))
                    self.catch_up()
                else:
                    self._defer()
                return
            case Answer.CONFLICT:
                # The conflict carries what a read would find: perhaps this very append, whose first reply was lost.
                assert proposal is not None, "an append follows from a proposal"
                self.requests.put_in_doubt(proposal, is_unanswered=True)
                self._append_state = READ[self._append_state]
                cursor.start_reading()
                self.on_log_read(reply.entries)
                return
            case Answer.LATE:
                services.clock.set(reply.now_ms)
                self.requests.put_back(Request(ExpireDeadline(reply.now_ms)))
            case Answer.EARLY:
                self.requests.in_flight = ()
                # Our estimate of Redis' clock was ahead of it; the deadline's timer is set anew.
                services.clock.set(reply.now_ms)
        if cursor.buffered:
            for buffered in cursor.take_buffered():
                self.on_log_slice(buffered)
        self._enqueue()

    def _enqueue(self, *, log_just_read: bool = False) -> None:
        """Put the room into the append queue, if something waits to be decided and nothing is under way.

        To decide while the log is busy would gain nothing: requests that could share an append and a frame would take
        two of each.
        """
        state = self._append_state
        if state is not IDLE and state is not QUEUED:
            return
        services = self._services
        if not self.requests.waiting and not (services.pauses and services.has_pause_for(self.state)):
            # With a player there the room is needed, so that a move does not pay for the question.
            if self._has_changed or not self.subscribers.seats:
                self._on_idle()
            return
        if log_just_read:
            self.cursor.just_read = True
        if state is IDLE:
            self._append_state = ENQUEUED[state]
            # A log that was read just now is outdated soon, so this room is polled before others.
            services.enqueue(self, is_first=log_just_read)

    def _on_idle(self) -> None:
        """Nothing is left to decide: report a change if there was one.

        Nearly every move leaves deadlines and the need for the room as they were, and to look at all of it would take
        a twentieth of a move's CPU time.
        """
        if self._has_changed or self.subscribers.is_empty:
            self._has_changed = False
            self._services.on_change(self)

    def _apply(self, steps: Sequence[Step], *, are_read: bool = False) -> None:
        """Move on to the state after these steps of the log, and show them to the subscribers.

        The caller has set the tag of the cursor to that of the last step it applies.
        `are_read`: they were read from the log, and not decided here.
        """
        if not steps:
            return
        before, self.state = self.state, steps[-1].after
        if before is None or before.clocks is not self.state.clocks:
            self.deadline = self.state.next_deadline()
            self._has_changed = True
            self.cursor.note_checkpoint(steps)
        self.cursor.index += len(steps)
        add = self.matches.add_read if are_read else self.matches.add
        for step in steps:
            add(step)
        if self.recent.steps is not None:
            self.recent.extend(steps, is_complete=self.subscribers.is_complete)
        if before is None or before.phase is not RACING or self.state.phase is not RACING:
            # No seat is given or freed between two moves of a race, so that a move does not pay for this.
            if not self.state.unrecorded_match:
                self.matches.forget_stored()
            self._services.on_steps(self.code, steps)
        for subscriber in self.subscribers.show(steps):
            self._services.welcome(self, subscriber)

    def _apply_and_answer(self, steps: Sequence[Step], answers: Sequence[LateAnswer]) -> None:
        """Show steps and send answers in the order in which they were decided."""
        if not answers:
            self._apply(steps)
            return
        shown = 0
        for late in answers:
            self._apply(steps[shown : late.after_steps])
            shown = late.after_steps
            self.subscribers.answer(late.asker, late.answer)
        self._apply(steps[shown:])

    def _end_doubt(self, doubt: Doubt) -> None:
        """Answer the requests that are still in doubt after `IN_DOUBT_SECONDS`."""
        if self.requests.doubt is doubt:
            doubt.is_overdue = True
            if self._append_state is not IN_FLIGHT:
                self._defer()

    def _defer(self) -> None:
        """Redis does not answer: refuse all requests for now, and try again later what the log must learn.

        Nothing is accepted in memory only. While requests are in doubt, all wait for the log instead, in order.
        """
        doubt = self.requests.doubt
        if doubt is not None and not doubt.is_overdue:
            self._services.retry_later(self)
            return
        for request, code in self.requests.defer():
            if request.asker:
                self.subscribers.answer(request.asker, refuse_for_now(request.command, code).with_id(request.id))
        if self.requests.waiting:
            self._services.retry_later(self)
        self._services.on_change(self)
