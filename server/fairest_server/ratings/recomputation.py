"""Ratings computed again from the results, match by match in the order in which they were rated."""

from collections.abc import Iterator
from typing import TypeVar

from fairest_protocol.value import Value
from fairest_server.ratings.match_result import MatchResult
from fairest_server.ratings.tally import MatchTallies, PairScore, Tally, rate_match

_Part = TypeVar("_Part", Tally, PairScore)


class RatedMatch(Value):
    """A match in the list of results: its number, who took part, and what followed from it."""

    number: int
    match_id: str
    variant: str
    players: tuple[str, str]
    after: MatchTallies


class Recomputation:
    """The tallies and scores that follow from the results added so far.

    `is_whole` says that the list of results begins with the first match that was ever rated. Otherwise, what a player
    had reached before its first result is taken from there.
    """

    def __init__(self, *, is_whole: bool) -> None:
        self._is_whole = is_whole
        self.tallies: dict[tuple[str, str], Tally] = {}
        """By variant and player."""
        self.pairs: dict[tuple[str, str, str], PairScore] = {}
        """By variant and both players, the smaller id first."""
        self.computed = 0
        self.taken_over = 0
        """The number of matches whose effect was taken from the list, since it cannot be computed."""
        self._seen: set[str] = set()

    def add(self, rated: RatedMatch, result: MatchResult | None) -> Iterator[str]:
        """Add the next result, and yield a sentence for each part of it that is not as computed.

        `result` is read from the match's record, and None if no record of it is kept: what followed is taken over.
        """
        if rated.match_id in self._seen:
            yield f"match {rated.match_id} was rated twice, the second time as number {rated.number}"
        self._seen.add(rated.match_id)
        before = None if result is None else self._before(rated, result)
        if result is None or before is None:
            self.taken_over += 1
            self._set(rated, rated.after)
            return
        if result.variant != rated.variant:
            yield f"match {rated.match_id} was rated as {rated.variant}, and it is {result.variant}"
        after = rate_match(before, result, is_swapped=_is_swapped(rated.players))
        self.computed += 1
        self._set(rated, after)
        where = f"after match {rated.match_id}, number {rated.number}"
        for player, held, computed in zip(rated.players, rated.after.tallies, after.tallies, strict=True):
            if held != computed:
                yield f"{rated.variant} of player {player}, {where}: {differing(held, computed)}"
        if rated.after.pair != after.pair:
            pair = " and ".join(rated.players)
            yield f"{rated.variant} of the pair {pair}, {where}: {differing(rated.after.pair, after.pair)}"

    def _before(self, rated: RatedMatch, result: MatchResult) -> MatchTallies | None:
        """Return what the players had reached before a match; None if it is not known."""
        rounds = len(result.rounds)
        tallies = [
            self.tallies.get((rated.variant, player)) or self._first(Tally(), is_first=after.rounds == rounds)
            for player, after in zip(rated.players, rated.after.tallies, strict=True)
        ]
        pair_after = rated.after.pair
        is_first_of_pair = sum(pair_after.wins) + pair_after.draws == rounds
        pair = self.pairs.get(_pair_key(rated)) or self._first(PairScore(), is_first=is_first_of_pair)
        first, second = tallies
        return None if first is None or second is None or pair is None else MatchTallies((first, second), pair)

    def _first(self, nothing: _Part, *, is_first: bool) -> _Part | None:
        return nothing if self._is_whole or is_first else None

    def _set(self, rated: RatedMatch, after: MatchTallies) -> None:
        for player, tally in zip(rated.players, after.tallies, strict=True):
            self.tallies[rated.variant, player] = tally
        self.pairs[_pair_key(rated)] = after.pair


def differing(held: Value, computed: Value) -> str:
    """Return in which fields two values differ."""
    fields = [field for field in held.__struct_fields__ if getattr(held, field) != getattr(computed, field)]
    return ", ".join(f"{field} is {getattr(held, field)} and should be {getattr(computed, field)}" for field in fields)


def _is_swapped(players: tuple[str, str]) -> bool:
    return players[1] < players[0]


def _pair_key(rated: RatedMatch) -> tuple[str, str, str]:
    first, second = sorted(rated.players)
    return rated.variant, first, second
