"""How players are ranked, and what the races of a pair are worth. Pure.

Everybody has the same deals, also a player with a bye. So cards can be compared between all players, and stand behind
the points; the points of the opponents come behind the cards.
"""

from collections.abc import Mapping, Sequence, Set

from fairest_protocol.calculation.daily import AttemptScore
from fairest_protocol.calculation.tournament import WIN_POINTS
from fairest_protocol.messages.tournaments import Standing, TournamentFormat
from fairest_protocol.value import replace
from fairest_server.tournament.state import Pair, Tournament


def score_pair(pair: Pair, scores: Mapping[str, AttemptScore], present: Set[str], kind: TournamentFormat) -> Pair:
    """Return a pair of a round that is over, with its points.

    A player who was `present` wins against one who was not, and with a bye. In a knock-out the first one of two who tie
    goes on.
    """
    first = _strength(pair.first, scores, present)
    if pair.second is None:
        return replace(pair, points=(WIN_POINTS if first >= 0 else 0, 0))
    second = _strength(pair.second, scores, present)
    if first != second:
        return replace(pair, points=(WIN_POINTS, 0) if first > second else (0, WIN_POINTS))
    if first < 0:
        return replace(pair, points=(0, 0))
    is_knockout = kind is TournamentFormat.KNOCKOUT
    return replace(pair, points=(WIN_POINTS, 0) if is_knockout else (WIN_POINTS // 2, WIN_POINTS // 2))


def rank_players(tournament: Tournament) -> tuple[Standing, ...]:
    """Return the standings by all rounds that are over, the best player first; equal ones share a rank."""
    over = [played for played in tournament.rounds if played.is_over]
    points = {each.name: 0 for each in tournament.entrants}
    opponents: dict[str, list[str]] = {each.name: [] for each in tournament.entrants}
    for pair in (pair for played in over for pair in played.pairs):
        for seat, name in enumerate(pair.names):
            points[name] += pair.points[seat] if pair.points is not None else 0
            opponents[name] += [other for other in pair.names if other != name]
    rows: list[Standing] = []
    for each in tournament.entrants:
        scores = [played.scores[each.name] for played in over if each.name in played.scores]
        rows.append(
            Standing(
                rank=1,
                name=each.name,
                points=points[each.name],
                placed=sum(score.placed for score in scores),
                direct=sum(score.direct for score in scores),
                buchholz=sum(points[other] for other in opponents[each.name]),
                has_left=each.has_left,
            )
        )
    return _ranked(sorted(rows, key=_worth, reverse=True))


def _ranked(rows: Sequence[Standing]) -> tuple[Standing, ...]:
    worths = [_worth(row) for row in rows]
    return tuple(
        row.model_copy(update={"rank": worths.index(worth) + 1}) for row, worth in zip(rows, worths, strict=True)
    )


def _worth(row: Standing) -> tuple[int, int, int, int]:
    return row.points, row.placed, row.direct, row.buchholz


def _strength(name: str, scores: Mapping[str, AttemptScore], present: Set[str]) -> int:
    """Return the number by which a race is compared: 0 if nobody raced, and -1 for a player who was not there."""
    if name not in present:
        return -1
    return scores[name].order if name in scores else 0
