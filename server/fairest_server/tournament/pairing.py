"""The pairs of a round: Swiss rounds, a round robin by the circle method, and a knock-out. Pure."""

from collections.abc import Iterator, Sequence, Set
from typing import Final

from fairest_protocol.calculation.tournament import MOST_ROUNDS
from fairest_protocol.messages.tournaments import TournamentFormat
from fairest_server.tournament.state import Pair, Round

STEPS: Final = 20_000
"""Positions of the search for Swiss pairs that were never made before; behind them, pairs may repeat."""


def plan_rounds(kind: TournamentFormat, players: int, wished: int) -> int:
    """Return how many rounds a tournament of so many players has; `wished` counts only in Swiss, 0 for no wish.

    A Swiss tournament has no more rounds than a round robin: with more, pairs would have to repeat.
    """
    most = players - 1 + players % 2
    match kind:
        case TournamentFormat.ROUND_ROBIN:
            return most
        case TournamentFormat.KNOCKOUT:
            return (players - 1).bit_length()
        case TournamentFormat.SWISS:
            return min(wished or max(3, (players - 1).bit_length()), most, MOST_ROUNDS)


def pair_round(
    kind: TournamentFormat,
    entrants: Sequence[str],
    active: Sequence[str],
    ranked: Sequence[str],
    rounds: Sequence[Round],
) -> tuple[Pair, ...]:
    """Return the pairs of the next round, behind these `rounds`. A player is in one pair at most.

    `entrants` are all names in the order that was drawn, `active` those who have not left, and `ranked` are these by
    their standing.
    """
    match kind:
        case TournamentFormat.ROUND_ROBIN:
            return pair_circle(entrants, active, len(rounds) + 1)
        case TournamentFormat.KNOCKOUT:
            return pair_knockout(active, rounds)
        case TournamentFormat.SWISS:
            return pair_swiss(ranked, rounds)


def pair_swiss(ranked: Sequence[str], rounds: Sequence[Round]) -> tuple[Pair, ...]:
    """Pair each player with the next one in the ranking that it has not met. Of an odd number the last one in the
    ranking that had no bye has one.
    """
    met = {frozenset(pair.names) for played in rounds for pair in played.pairs}
    players, byes = list(ranked), tuple[Pair, ...]()
    if len(players) % 2:
        had_bye = {pair.first for played in rounds for pair in played.pairs if pair.second is None}
        alone = next((name for name in reversed(players) if name not in had_bye), players[-1])
        players.remove(alone)
        byes = (Pair(alone, None),)
    found = _match(players, met, iter(range(STEPS)))
    return (*(_greedy(players, met) if found is None else found), *byes)


def pair_circle(entrants: Sequence[str], active: Sequence[str], number: int) -> tuple[Pair, ...]:
    """Return the pairs of a round of a round robin, from 1; the opponent of a player who has left has a bye."""
    seats: list[str | None] = [*entrants, *([None] if len(entrants) % 2 else [])]
    turned = [seats[0], *seats[len(seats) - number + 1 :], *seats[1 : len(seats) - number + 1]]
    pairs = zip(turned[: len(turned) // 2], reversed(turned[len(turned) // 2 :]), strict=True)
    present = (tuple(name for name in pair if name is not None and name in active) for pair in pairs)
    return tuple(Pair(names[0], names[1] if len(names) > 1 else None) for names in present if names)


def pair_knockout(active: Sequence[str], rounds: Sequence[Round]) -> tuple[Pair, ...]:
    """Pair those who have won all their races with their neighbours in the bracket.

    The first ones of the order have byes: in the first round as many as leave a power of two for the second one.
    """
    if not rounds:
        left, byes = list(active), 2 ** (len(active) - 1).bit_length() - len(active)
    else:
        left = [name for name in _winners(rounds[-1]) if name in active]
        byes = len(left) % 2
    alone, paired = left[:byes], left[byes:]
    return (*(Pair(name, None) for name in alone), *(Pair(*two) for two in zip(paired[::2], paired[1::2], strict=True)))


def _winners(played: Round) -> Iterator[str]:
    for pair in played.pairs:
        if pair.points is not None and any(pair.points):
            yield pair.first if pair.second is None or pair.points[0] > pair.points[1] else pair.second


def _match(players: Sequence[str], met: Set[frozenset[str]], steps: Iterator[int]) -> list[Pair] | None:
    """Return pairs of all players who have not met; None if there are none, or `steps` are used up."""
    if not players:
        return []
    first, *others = players
    for other in others:
        if frozenset((first, other)) in met:
            continue
        if next(steps, None) is None:
            return None
        rest = _match([name for name in others if name != other], met, steps)
        if rest is not None:
            return [Pair(first, other), *rest]
    return None


def _greedy(players: Sequence[str], met: Set[frozenset[str]]) -> list[Pair]:
    """Return pairs of all players, with one that has been made before only where nobody else is left."""
    left, pairs = list(players), list[Pair]()
    while left:
        first = left.pop(0)
        other = next((name for name in left if frozenset((first, name)) not in met), left[0])
        left.remove(other)
        pairs.append(Pair(first, other))
    return pairs
