"""What follows from all that was said in a room by now, before the log has it. Pure: time, tag and chance come in."""

from collections.abc import Sequence

from fairest_protocol.messages.from_server import Accepted, Refused
from fairest_protocol.value import Value
from fairest_server.live.subscribers import Subscriber
from fairest_server.room.commands import Command
from fairest_server.room.decide import DrawRound, decide
from fairest_server.room.evolve import evolve
from fairest_server.room.state import RoomState
from fairest_server.room.steps import Step


class Request(Value, gc=True):
    """A command and who gets the answer, if anybody does."""

    command: Command
    asker: Subscriber | None = None


class LateAnswer(Value, gc=True):
    """An answer that was decided after so many steps of the proposal, and is given after them."""

    after_steps: int
    asker: Subscriber
    answer: Refused | Accepted


class Proposal(Value, gc=True):
    """What was asked for, the steps it will be if Redis' clock does not matter, and the answers that wait for them."""

    requests: Sequence[Request]
    tag: str = ""
    steps: Sequence[Step] = ()
    answers: Sequence[LateAnswer] = ()

    def stamped(self, at_ms: int) -> Sequence[Step]:
        """The steps with the log's time stamp; only those in which time matters are computed again."""
        before = self.steps[0].before
        clocks = before.clocks if before else None
        if self.steps[-1].after.clocks is clocks:
            return self.steps
        stamped: list[Step] = []
        for step in self.steps:
            after = evolve(before, step.event, at_ms)
            stamped.append(Step(before, step.event, at_ms, after, step.tag))
            before = after
        return stamped


def propose(
    requests: Sequence[Request], state: RoomState | None, draw_round: DrawRound, *, now_ms: int, tag: str
) -> Proposal:
    """All of these requests decided, each on what the one before leads to."""
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
            answers.append(LateAnswer(len(steps), request.asker, verdict))
    return Proposal(requests, tag, steps, answers)
