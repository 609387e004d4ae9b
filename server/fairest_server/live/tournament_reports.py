"""The log and the metrics of tournaments: each step once in a deployment, by the process that has written it."""

import structlog

from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.tournament.milestones import Milestone, find_milestones
from fairest_server.tournament.state import Tournament

_LOG = structlog.get_logger(__name__)

metrics.TOURNAMENTS.declare(Milestone)


def report_change(before: Tournament | None, after: Tournament) -> None:
    """Log and count the steps of a change that Redis has taken. One whose answer was lost is not reported."""
    code = after.code
    for milestone in find_milestones(before, after):
        metrics.TOURNAMENTS.add(milestone)
        match milestone:
            case Milestone.CREATED:
                options = after.options
                _LOG.info(Event.TOURNAMENT_CREATED, tournament=code, format=str(options.format), rules=options.rules)
            case Milestone.STARTED:
                _LOG.info(Event.TOURNAMENT_STARTED, tournament=code, players=len(after.entrants))
            case Milestone.ROUND_BEGUN:
                newest = after.newest
                _LOG.info(Event.TOURNAMENT_ROUND_BEGUN, tournament=code, round=newest.number, racers=len(newest.racers))
            case Milestone.OVER | Milestone.CANCELLED:
                _LOG.info(Event.TOURNAMENT_ENDED, tournament=code, how=str(milestone), rounds=len(after.rounds))
