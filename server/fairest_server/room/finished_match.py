"""The row of a match in the list of finished matches."""

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.matches import FinishedMatch


def list_match(record: Record) -> FinishedMatch | None:
    """Return the row of a match, or None if it is not shown to strangers.

    That is a match in a room that was not listed, or in which nobody might watch.
    """
    if not record.terms.is_listed or record.terms.spectators == "closed":
        return None
    outcomes = [played.outcome for played in record.rounds if played.outcome is not None]
    winners = [outcome.winner for outcome in outcomes]
    wins = winners.count(0), winners.count(1)
    first, second = outcomes[-1].scores
    return FinishedMatch(
        match=record.match_id,
        names=record.names,
        rules=record.rules.name,
        piles=record.rules.piles,
        redeals=record.rules.redeals,
        best_of=record.terms.best_of,
        wins=wins,
        winner=0 if wins[0] > wins[1] else 1 if wins[1] > wins[0] else None,
        placed=(first.placed, second.placed),
        finished_at_ms=record.finished_at_ms,
    )
