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
from fairest_server.live.redis_clock import Moment, RedisClock
from fairest_server.live.subscribers import Audience, Follower
from fairest_server.ops import metrics
from fairest_server.room.commands import CreateRoom, LoseLink, PassTime, Pause, StandStill, TakeSeat
from fairest_server.room.decide import DrawRound, refuse_for_now
from fairest_server.room.lobby_entry import changes_listing, list_room
from fairest_server.room.news import History, Step
from fairest_server.room.state import Deadline, RoomState
from fairest_server.room.view import Introduction
from fairest_server.store.append_queue import Answer, Append, Reply
from fairest_server.store.keys import of_room
from fairest_server.store.log import Log, fold
from fairest_server.store.log_entries import Logged, Tail

HISTORY_SECONDS: Final = 3.0
"""All players of a server that was killed come back within about this time; then the memory is better used."""
MAX_WAITING: Final = 256
"""Requests that may wait for one append. Two players and their drops need a handful; more is somebody flooding."""


class Surroundings(Protocol):
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

    def catch_up(self, room: "HostedRoom", after: int) -> None:
        """Read what the log has behind this index and hand it to `room.caught_up`, in a task."""

    def welcome(self, room: "HostedRoom", follower: Follower) -> None:
        """Show an arriving player the room and have it follow, in a task if the log has to be read for it."""

    def changed(self, room: "HostedRoom") -> None:
        """Deadlines, the need to publish, or whether anybody follows may have changed."""

    def try_later(self, room: "HostedRoom") -> None:
        """Redis does not answer: call `room.catch_up` in a while."""

    def give_up(self, room: "HostedRoom") -> None:
        """Drop this room, which is not the one that the log holds."""


class HostedRoom:
    """One room of this process: a cache of its log that may be thrown away at any time."""

    __slots__ = (
        "_around",
        "_draw_round",
        "_has_changed",
        "_has_turn_coming",
        "_heard_meanwhile",
        "_is_fresh",
        "_is_reading",
        "_read_from",
        "_under_way",
        "_waiting",
        "audience",
        "code",
        "deadline",
        "history",
        "index",
        "is_doubtful",
        "keys",
        "state",
        "tag",
    )

    def __init__(self, code: str, around: Surroundings, draw_round: DrawRound) -> None:
        self.code = code
        self.keys = of_room(code)
        self.state: RoomState | None = None
        self.deadline: Deadline | None = None
        """The next one of this state."""
        self.index = 0
        self.tag = ""
        self.audience = Audience(around.later)
        self.history: History | None = None
        """All that happened here, for a moment after the log was read: who comes back together is told it once."""
        self.is_doubtful = False
        """Whether Redis left an append unanswered, so that the log has to be read before anything is decided."""
        self._around = around
        self._draw_round = draw_round
        self._waiting: list[Request] = []
        self._under_way: Proposal | None = None
        self._has_changed = True
        """Whether there may be other deadlines, or other things to publish, than those around this room know of."""
        self._has_turn_coming = False
        self._is_reading = False
        self._is_fresh = False
        """Whether the log was read for what is decided at the next turn."""
        self._read_from = (0, "")
        self._heard_meanwhile: list[Tail] = []
        """While an append is under way."""

    @property
    def end(self) -> tuple[int, str]:
        """Index and tag of the last entry of the log that this room has taken; 0 and empty before the first."""
        return self.index, self.tag

    @property
    def is_needed(self) -> bool:
        """Whether somebody follows this room, something is under way or a match waits to be stored. Else drop it."""
        state = self.state
        return (state is not None and (not self.audience.is_empty or state.unpublished > 0)) or self.is_busy

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
        self.history = History(steps)
        # What is forgotten before is not kept by its timer.
        remembered = ref(self.history)
        self._around.later(HISTORY_SECONDS, lambda: self._forget(remembered()))

    def _forget(self, history: History | None) -> None:
        """Unless the log was read again meanwhile."""
        if self.history is history:
            self.history = None

    def introduce(self, seat: int | None, follower: Follower, introduction: Introduction) -> None:
        """Show a follower what it has missed and let it follow from here on."""
        self.audience.introduce(seat, follower, introduction)
        if seat is not None and self.audience.is_complete:
            # Who came back together is here, and a thousand histories are a million objects.
            self.history = None

    def submit(self, request: Request) -> None:
        """Decide this when the room's turn comes. At most MAX_WAITING wait; who asks for more is told to try again."""
        if isinstance(request.command, (TakeSeat, CreateRoom)) and request.asker:
            self.audience.expect(request.asker)
        if request.asker and len(self._waiting) >= MAX_WAITING:
            self._refuse([request])
            return
        self._waiting.append(request)
        self._go_on()

    def catch_up(self) -> None:
        """Read what other processes appended, unless something under way will find out anyway."""
        if self._under_way is None and not self._is_reading:
            self._is_reading = True
            self._read_from = self.end
            self._around.catch_up(self, max(0, self.index - 1))

    def caught_up(self, entries: Sequence[Logged] | None) -> None:
        """Take what the log has from our last entry on, that one included, or None when Redis did not answer.

        A log that does not hold that entry under its tag has lost its tail: this cache is of another life.
        """
        self._is_reading = False
        if entries is None:
            self.is_doubtful = True
            self._put_off(self._waiting)
            return
        if self._read_from[0] and (not entries or (entries[0].index, entries[0].tag) != self._read_from):
            self._around.give_up(self)
            return
        self.is_doubtful = False
        self.hear(Tail("", entries))
        self._hear_meanwhile()
        self._go_on(is_fresh=True)

    def hear(self, tail: Tail) -> None:
        """Take entries that the log has, from a wake-up or a read.

        A gap makes this room read the log, and so does what does not follow our last entry: Redis may have lost it.
        What is heard while an append is under way may be its own entries, come back before its answer, or another
        process's before or behind them: it is taken when the answer is there.
        """
        if self._under_way is not None:
            self._heard_meanwhile.append(tail)
            return
        if not tail.continues(self.index, self.tag):
            self.catch_up()
            return
        steps = fold([logged for logged in tail.entries if logged.index > self.index], self.state)
        if steps:
            self.tag = steps[-1].tag
        self._take(steps)
        self._rest()

    def _hear_meanwhile(self) -> None:
        """Take what was heard while an append was under way."""
        heard, self._heard_meanwhile = self._heard_meanwhile, []
        for tail in heard:
            self.hear(tail)

    def depart(self, follower: Follower) -> None:
        """A connection is gone. What it still wanted of a seat is withdrawn, and the log learns of it."""
        self._waiting = [
            request
            for request in self._waiting
            if request.asker is not follower or not isinstance(request.command, (TakeSeat, CreateRoom))
        ]
        self.submit(Request(LoseLink(follower.link)))
        self.unfollow(follower)

    def unfollow(self, follower: Follower) -> None:
        """Show this follower nothing more."""
        self.audience.forget(follower)
        self._around.changed(self)

    def lose(self) -> list[str]:
        """The room is not the one that the log holds: who is here has to come again, and what they said is dropped.

        Returns the links that are gone, or end with this, and of which the log has not learned.
        """
        lost = [request.command.link for request in self._waiting if isinstance(request.command, LoseLink)]
        self._waiting = []
        return [*lost, *self.audience.lose()]

    def has_asked(self, follower: Follower) -> bool:
        """Whether this follower has asked for a seat and the log has not answered yet."""
        under_way = self._under_way.requests if self._under_way else []
        return any(
            request.asker is follower and isinstance(request.command, (TakeSeat, CreateRoom))
            for request in (*self._waiting, *under_way)
        )

    def seat_of(self, follower: Follower) -> int | None:
        """The seat this follower speaks for, by what the log says."""
        return self.state.seat_of_link(follower.link) if self.state else None

    def _go_on(self, *, is_fresh: bool = False) -> None:
        """Wait for a turn if there is something to decide and nothing under way; `is_fresh`: the log was read just now.

        A turn is as soon as the log is free. While it is not, deciding early would gain nobody anything, and what both
        players say in that time would be two appends and more frames instead of one.
        """
        if self._under_way is not None or self._is_reading:
            return
        if not self._waiting and not self._misses_pause:
            self._rest()
            return
        self._is_fresh = self._is_fresh or is_fresh
        if not self._has_turn_coming:
            self._has_turn_coming = True
            # What was read just now is soon old.
            self._around.log.enqueue(self, is_first=is_fresh)

    def next_append(self) -> Append | None:
        """Its turn: decide all that waits. What there is to append, if anything."""
        self._has_turn_coming = False
        is_fresh, self._is_fresh = self._is_fresh, False
        if self._is_reading:
            return None
        while self._waiting or self._misses_pause:
            moment = self._around.clock.moment()
            if moment is None:
                self.is_doubtful = True
                self._put_off(self._waiting)
                return None
            if self.is_doubtful and not is_fresh:
                self.catch_up()
                return None
            # Under way from here on, so that a fault of ours puts off what it was about, and nothing else.
            self._under_way = Proposal(self._take_waiting())
            self._under_way = proposal = propose(
                self._under_way.requests,
                self.state,
                self._draw_round,
                now_ms=moment.now_ms,
                tag=f"{getrandbits(32):08x}",
            )
            if proposal.answers and self._around.is_shared and not is_fresh:
                # A refusal may rest on the newest state only: another process may have moved the room on.
                self._under_way = None
                self._waiting = [*proposal.requests, *self._waiting]
                self.catch_up()
                return None
            if proposal.steps:
                return self._append(proposal, moment)
            self._under_way = None
            for late in proposal.answers:
                self._answer(late.asker, late.answer)
        self._rest()
        return None

    def _rest(self) -> None:
        """Nothing is left to do: what is to wake this room again, or whether it is needed, may have changed.

        Nearly every move leaves that as it was, and to look at all of it would be a twentieth of the move.
        """
        if self._has_changed or self.audience.is_empty:
            self._has_changed = False
            self._around.changed(self)

    @property
    def _misses_pause(self) -> bool:
        """Whether the clocks of this room do not know yet of the last pause."""
        pauses = self._around.pauses
        return bool(pauses and self.state and self.state.misses(pauses[-1].end_ms))

    def _take_waiting(self) -> list[Request]:
        """All that waits; but a pause, then a deadline, comes first and alone: the rest is judged on what follows."""
        if self._misses_pause:
            return [Request(StandStill(self._around.pauses))]
        for place, request in enumerate(self._waiting):
            if isinstance(request.command, PassTime):
                # The timer that reminded us is gone, whatever follows from this.
                self._has_changed = True
                del self._waiting[place]
                return [request]
        requests, self._waiting = self._waiting, []
        return requests

    def _append(self, proposal: Proposal, moment: Moment) -> Append:
        """What is to be appended if the log is where we believe it to be, and Redis' clock between these times."""
        before, after = self.state, proposal.steps[-1].after
        command = proposal.requests[0].command
        # Judged now or, if Redis takes its time, anew: it may have been a pause, or somebody may have gone.
        not_before_ms, not_after_ms = 0, moment.not_after_ms
        if isinstance(command, PassTime):
            not_before_ms = command.now_ms
        elif self.deadline and not isinstance(command, StandStill):
            not_after_ms = min(not_after_ms, self.deadline.at_ms)
        look_again_ms, expire_seconds = None, 0
        if before is None or not before.is_due_with(after):
            look_again_ms = after.look_again_ms() or 0
            expire_seconds = self._around.closed_room_seconds if after.phase is Phase.CLOSED else 0
        return Append(
            room=self.code,
            expected=self.index,
            expected_tag=self.tag,
            tag=proposal.tag,
            events=[step.event for step in proposal.steps],
            not_before_ms=not_before_ms,
            not_after_ms=not_after_ms,
            look_again_ms=look_again_ms,
            expire_seconds=expire_seconds,
            is_shared=self._around.is_shared,
            listing=self._listing(after, moment.now_ms) if changes_listing(before, after) else None,
        )

    def _listing(self, after: RoomState, now_ms: int) -> bytes:
        """The new line in the lobby; empty to leave it."""
        listed = list_room(self.code, after, now_ms)
        return encode(listed) if listed else b""

    def replied(self, reply: Reply) -> None:
        """What became of the append under way."""
        proposal, self._under_way = self._under_way, None
        assert proposal is not None, "only an append under way is answered"
        match reply.answer:
            case Answer.APPENDED:
                self.tag = proposal.tag
                self._take_and_answer(proposal.stamped(reply.now_ms), proposal.answers)
            case Answer.UNKNOWN:
                self.is_doubtful = True
                self._put_off(proposal.requests)
                return
            case Answer.CONFLICT:
                self._waiting = [*proposal.requests, *self._waiting]
                self._read_from = self.end
                self.caught_up(reply.entries)
                return
            case Answer.LATE:
                self._around.clock.set(reply.now_ms)
                self._waiting = [Request(PassTime(reply.now_ms)), *proposal.requests, *self._waiting]
            case Answer.EARLY:
                # Our idea of Redis' clock was ahead of it; the deadline is set anew.
                self._around.clock.set(reply.now_ms)
        if self._heard_meanwhile:
            self._hear_meanwhile()
        self._go_on()

    def _take(self, steps: Sequence[Step]) -> None:
        """The log has these events: this is the state now, and everybody is shown what they may see of it."""
        if steps:
            before, self.state = self.state, steps[-1].after
            if before is None or not before.is_due_with(self.state):
                self.deadline = self.state.next_deadline()
                self._has_changed = True
            self.index += len(steps)
            if self.audience.is_complete:
                # What happens now adds up.
                self.history = None
            elif self.history is not None:
                self.history.extend(steps)
            for follower in self.audience.show(steps):
                self._around.welcome(self, follower)

    def _take_and_answer(self, steps: Sequence[Step], answers: Sequence[LateAnswer]) -> None:
        """Everybody hears in the order in which things were said."""
        taken = 0
        for late in answers:
            self._take(steps[taken : late.after_steps])
            taken = late.after_steps
            self._answer(late.asker, late.answer)
        self._take(steps[taken:])

    def _answer(self, follower: Follower, answer: Refused | Accepted) -> None:
        if isinstance(answer, Refused) and answer.to in ("create", "join", "resume"):
            self.audience.turn_away(follower, answer)
            return
        if isinstance(answer, Refused):
            metrics.REFUSALS.labels(answer.code).inc()
        follower.show(encode(answer))

    def _put_off(self, requests: Sequence[Request]) -> None:
        """Redis does not answer. Nothing is accepted in memory only, so who asks is refused; a link that is gone is
        reported as soon as Redis is back, and so is one whose refused join may stand in the log all the same.
        Deadlines have their timers.
        """
        kept = [
            Request(LoseLink(request.command.link))
            for request in requests
            if isinstance(request.command, (LoseLink, TakeSeat, CreateRoom))
        ]
        self._waiting = [*kept, *(request for request in self._waiting if request not in requests)]
        self._refuse(requests)
        if self._waiting:
            self._around.try_later(self)
        self._around.changed(self)

    def _refuse(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if request.asker:
                self._answer(request.asker, refuse_for_now(request.command))
