"""The steps of a tournament that an operator is told of, found by comparing it before and after a change. Pure."""

from enum import StrEnum

from fairest_protocol.messages.tournaments import TournamentPhase
from fairest_server.tournament.state import Tournament


class Milestone(StrEnum):
    """A step of a tournament. A round that is not dealt, for want of two players, does not begin."""

    CREATED = "created"
    STARTED = "started"
    ROUND_BEGUN = "round_begun"
    OVER = "over"
    CANCELLED = "cancelled"


def find_milestones(before: Tournament | None, after: Tournament) -> tuple[Milestone, ...]:
    """Return the steps that a change has made, in order; without a tournament `before` it was created."""
    if before is None:
        return (Milestone.CREATED,)
    found: list[Milestone] = []
    if before.phase is TournamentPhase.OPEN and after.phase not in (TournamentPhase.OPEN, TournamentPhase.CANCELLED):
        found.append(Milestone.STARTED)
    found += [Milestone.ROUND_BEGUN] * (_rounds_begun(after) - _rounds_begun(before))
    if before.phase is not after.phase:
        match after.phase:
            case TournamentPhase.OVER:
                found.append(Milestone.OVER)
            case TournamentPhase.CANCELLED:
                found.append(Milestone.CANCELLED)
    return tuple(found)


def _rounds_begun(tournament: Tournament) -> int:
    return sum(played.started_ms > 0 for played in tournament.rounds)
