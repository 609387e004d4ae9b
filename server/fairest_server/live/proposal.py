"""Deciding the waiting requests of a room: the events to append to the log. Pure: time, tag and randomness come in."""

from collections.abc import Sequence
from typing import Final

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Accepted, Refused
from fairest_protocol.value import Value
from fairest_server.live.log_cursor import LogCursor
from fairest_server.live.redis_clock import CLOCK_SKEW_MS, DecisionWindow
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import ApplyPauses, Command, ExpireDeadline
from fairest_server.room.decide import DrawRound, decide
from fairest_server.room.events import Event
from fairest_server.room.evolve import evolve
from fairest_server.room.lobby_entry import changes_listing, list_room
from fairest_server.room.round_entries import round_entries
from fairest_server.room.state import Deadline, RoomState
from fairest_server.room.steps import Step
from fairest_server.store.appends import Append

UNRACED_LOG_SECONDS: Final = 60
"""How long the log of a closed room without a finished round is kept, so that every process sees its end."""


class Request(Value, gc=True):
    """A command, and the subscriber that gets the answer, if there is one.

    `arrived_at` is when the frame of a move arrived, on the clock of `time.monotonic`; 0 for every other command.
    `id` is that of the client's message, which the answer repeats.
    """

    command: Command
    asker: Subscriber | None = None
    arrived_at: float = 0.0
    id: str | None = None


class LateAnswer(Value, gc=True):
    """An answer that is sent once the first `after_steps` events of its proposal have been shown."""

    after_steps: int
    asker: Subscriber
    answer: Refused | Accepted


class Proposal(Value, gc=True):
    """Requests that were decided together: the events that the log is asked to take, and the answers that wait for it.

    `before` is the state before the first event, and `states` are those after each, if the log takes them at
    `decided_ms`.
    """

    requests: Sequence[Request]
    tag: str
    decided_ms: int
    before: RoomState | None
    events: Sequence[Event] = ()
    states: Sequence[RoomState] = ()
    answers: Sequence[LateAnswer] = ()

    @property
    def refuses_entry(self) -> bool:
        """Whether a request for a seat in an existing room is refused."""
        entries = ("create", "join", "resume")
        return any(isinstance(late.answer, Refused) and late.answer.to in entries for late in self.answers)

    def steps_at(self, at_ms: int) -> list[Step]:
        """Return the events as steps of a log that takes them at this time, on Redis' clock.

        The proposal has at least one event. States are computed again only if one of them depends on the time.
        """
        before, tag = self.before, self.tag
        last = self.states[-1]
        is_timeless = before is not None and last.clocks is before.clocks and last.times is before.times
        steps: list[Step] = []
        for event, decided in zip(self.events, self.states, strict=True):
            after = decided if is_timeless or at_ms == self.decided_ms else evolve(before, event, at_ms)
            steps.append(Step(before, event, at_ms, after, tag))
            before = after
        return steps


def propose(
    requests: Sequence[Request], before: RoomState | None, draw_round: DrawRound, *, now_ms: int, tag: str
) -> Proposal:
    """Decide these requests in order, each on the state that the one before leads to."""
    state = before
    events: list[Event] = []
    states: list[RoomState] = []
    answers: list[LateAnswer] = []
    for request in requests:
        verdict = decide(state, request.command, draw_round)
        if isinstance(verdict, tuple):
            for event in verdict:
                state = evolve(state, event, now_ms)
                events.append(event)
                states.append(state)
        elif request.asker:
            answers.append(LateAnswer(len(events), request.asker, verdict.with_id(request.id)))
    return Proposal(requests, tag, now_ms, before, events, states, answers)


def make_append(
    proposal: Proposal,
    room: str,
    cursor: LogCursor,
    deadline: Deadline | None,
    window: DecisionWindow,
    closed_room_seconds: int,
    own_subscriptions: int | None,
) -> Append:
    """Return the append of a proposal's events after the cursor; Redis makes it only with its clock inside the window.

    `deadline` is the next one of the state before. If Redis would execute the append after it, the deadline is decided
    first and the requests again: the player may have run out of time.
    """
    before, after = proposal.before, proposal.states[-1]
    command = proposal.requests[0].command
    not_before_ms, not_after_ms = 0, window.not_after_ms
    if isinstance(command, ExpireDeadline):
        not_before_ms = command.now_ms
    elif isinstance(command, ApplyPauses):
        not_before_ms = max(pause.end_ms for pause in command.pauses) - CLOCK_SKEW_MS
    elif deadline:
        not_after_ms = min(not_after_ms, deadline.at_ms)
    next_check_ms, expire_seconds = None, 0
    rounds: Sequence[str] = ()
    if before is None or before.clocks is not after.clocks:
        next_check_ms = after.next_check_ms() or 0
        expire_seconds = _closed_log_seconds(after, closed_room_seconds) if after.phase is Phase.CLOSED else 0
        # A round that is opened or ends has new deadlines, so that most moves do not come here.
        rounds = tuple(round_entries(proposal.steps_at(proposal.decided_ms)))
    return Append(
        room=room,
        expected=cursor.index,
        expected_tag=cursor.tag,
        tag=proposal.tag,
        events=proposal.events,
        not_before_ms=not_before_ms,
        not_after_ms=not_after_ms,
        next_check_ms=next_check_ms,
        expire_seconds=expire_seconds,
        own_subscriptions=own_subscriptions,
        listing=_encode_listing(room, after, window.now_ms) if changes_listing(before, after) else None,
        rounds=rounds,
    )


def _closed_log_seconds(closed: RoomState, closed_room_seconds: int) -> int:
    """Return how long the log of a closed room is kept. One without a race has nothing that a player would ask for."""
    return closed_room_seconds if closed.has_raced else min(closed_room_seconds, UNRACED_LOG_SECONDS)


def _encode_listing(room: str, state: RoomState, now_ms: int) -> bytes:
    """Return the room's row in the lobby; empty if the room is to leave the lobby."""
    listed = list_room(room, state, now_ms)
    return encode(listed) if listed else b""
