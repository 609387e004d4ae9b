"""Deciding the waiting requests of a room: the steps to append to the log. Pure: time, tag and randomness come in."""

from collections.abc import Sequence
from operator import attrgetter
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
from fairest_server.room.evolve import evolve
from fairest_server.room.lobby_entry import changes_listing, list_room
from fairest_server.room.round_entries import round_entries
from fairest_server.room.state import Deadline, RoomState
from fairest_server.room.steps import Step
from fairest_server.store.appends import Append

_EVENT: Final = attrgetter("event")
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
    """An answer that is sent once the first `after_steps` steps of its proposal have been shown."""

    after_steps: int
    asker: Subscriber
    answer: Refused | Accepted


class Proposal(Value, gc=True):
    """Requests that were decided together: the steps that the log is asked to take, and the answers that wait for them.

    The steps have the time at which they were decided; `stamped` gives them that of the log.
    """

    requests: Sequence[Request]
    tag: str = ""
    steps: Sequence[Step] = ()
    answers: Sequence[LateAnswer] = ()

    @property
    def refuses_entry(self) -> bool:
        """Whether a request for a seat in an existing room is refused."""
        entries = ("create", "join", "resume")
        return any(isinstance(late.answer, Refused) and late.answer.to in entries for late in self.answers)

    def stamped(self, at_ms: int) -> Sequence[Step]:
        """Return the steps with the log's time stamp. States are computed again only if one depends on time."""
        before, after = self.steps[0].before, self.steps[-1].after
        if at_ms == self.steps[0].at_ms:
            return self.steps
        if before is not None and after.clocks is before.clocks and after.times is before.times:
            return [Step(step.before, step.event, at_ms, step.after, step.tag) for step in self.steps]
        stamped: list[Step] = []
        for step in self.steps:
            after = evolve(before, step.event, at_ms)
            stamped.append(Step(before, step.event, at_ms, after, step.tag))
            before = after
        return stamped


def propose(
    requests: Sequence[Request], state: RoomState | None, draw_round: DrawRound, *, now_ms: int, tag: str
) -> Proposal:
    """Decide these requests in order, each on the state that the one before leads to."""
    steps: list[Step] = []
    answers: list[LateAnswer] = []
    for request in requests:
        verdict = decide(state, request.command, draw_round)
        if isinstance(verdict, tuple):
            for event in verdict:
                after = evolve(state, event, now_ms)
                steps.append(Step(state, event, now_ms, after, tag))
                state = after
        elif request.asker:
            answers.append(LateAnswer(len(steps), request.asker, verdict.with_id(request.id)))
    return Proposal(requests, tag, steps, answers)


def make_append(
    proposal: Proposal,
    room: str,
    cursor: LogCursor,
    deadline: Deadline | None,
    window: DecisionWindow,
    closed_room_seconds: int,
    own_subscriptions: int | None,
) -> Append:
    """Return the append of a proposal's steps after the cursor; Redis makes it only with its clock inside the window.

    `deadline` is the next one of the state before. If Redis would execute the append after it, the deadline is decided
    first and the requests again: the player may have run out of time.
    """
    before, after = proposal.steps[0].before, proposal.steps[-1].after
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
        rounds = tuple(round_entries(proposal.steps))
    return Append(
        room=room,
        expected=cursor.index,
        expected_tag=cursor.tag,
        tag=proposal.tag,
        events=list(map(_EVENT, proposal.steps)),
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
