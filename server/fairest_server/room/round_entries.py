"""The entries of a room's rounds for the chain of rounds: one when a round is opened, one when it has ended. Pure."""

from collections.abc import Iterator, Sequence

from fairest_protocol.calculation.seal import commit_secret
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.rounds import ChainedEnd, ChainedOpening, RoundEnd, describe_round, describe_rules
from fairest_server.room import events
from fairest_server.room.state import RoomState, open_round
from fairest_server.room.steps import Step


def round_entries(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the entries to which these steps lead, without number and time.

    Each round has both: whichever way it ends, its room leaves the phase in which it is open.
    """
    for step in steps:
        before, event, after = step.before, step.event, step.after
        if isinstance(event, events.RoundOpened):
            yield _opening(after)
        elif before is not None and after.phase is not before.phase:
            if before.phase is Phase.READY and isinstance(event, events.SeatFreed):
                yield _end(before, event.reason)
            elif after.phase is Phase.FINISHED:
                yield _end(after, None)


def _opening(state: RoomState) -> str:
    opened, rules, is_certified = open_round(state), state.rules, state.options.certified is not None
    return describe_round(
        ChainedOpening(
            number=0,
            at_ms=0,
            type="opened",
            commitment=commit_secret(opened.round_id, opened.secret),
            rules=describe_rules(rules.name, rules.piles, rules.redeals, is_certified=is_certified),
        )
    )


def _end(state: RoomState, why: str | None) -> str:
    """Return the entry of a round that was called off, for the reason `why`, or that has a result."""
    ended = open_round(state)
    entropies = [seat.entropy if seat else None for seat in state.seats]
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
                "seed": ended.sealed.seed if ended.sealed else None,
            }
        )
    )
