"""The entries of a room's rounds for the chain of rounds: one when a round is opened, one when it has ended. Pure."""

from collections.abc import Iterator, Sequence

from fairest_protocol.calculation.seal import commit_secret, make_seed
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.rounds import ChainedEnd, ChainedOpening, RoundEnd, describe_round
from fairest_server.room import events
from fairest_server.room.state import OpenRound, RoomState
from fairest_server.room.steps import Step


def round_entries(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the entries to which these steps lead, without number and time.

    Each round has both: whichever way it ends, its room leaves the phase in which it is open.
    """
    for step in steps:
        before, event, after = step.before, step.event, step.after
        if isinstance(event, events.RoundOpened) and after.round is not None:
            yield _opening(after, after.round)
        elif before is not None and before.round is not None and after.phase is not before.phase:
            if before.phase is Phase.READY and isinstance(event, events.SeatFreed):
                yield _end(before, before.round, event.reason)
            elif after.phase is Phase.FINISHED and after.round is not None:
                yield _end(after, after.round, None)


def _opening(state: RoomState, opened: OpenRound) -> str:
    rules = state.rules
    return describe_round(
        ChainedOpening(
            number=0,
            at_ms=0,
            type="opened",
            commitment=commit_secret(opened.round_id, opened.secret),
            rules=f"{rules.name} {rules.piles} {rules.redeals}",
        )
    )


def _end(state: RoomState, ended: OpenRound, why: str | None) -> str:
    """Return the entry of a round that was called off, for the reason `why`, or that has a result."""
    entropies = [seat.entropy if seat else None for seat in state.seats]
    seed = make_seed(ended.secret, [each for each in entropies if each], ended.round_id) if ended.sealed else None
    how = RoundEnd.VOIDED if why else RoundEnd.BROKEN_OFF if ended.sealed is None else RoundEnd.PROVED
    outcome = ended.outcome
    return describe_round(
        ChainedEnd.model_validate(
            {
                "number": 0,
                "at_ms": 0,
                "type": "ended",
                "commitment": commit_secret(ended.round_id, ended.secret),
                "how": how,
                "why": why,
                "endings": None if outcome is None else tuple(score.ending for score in outcome.scores),
                "revealed": (entropies[0] is not None, entropies[1] is not None),
                "seed": seed,
            }
        )
    )
