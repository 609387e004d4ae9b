"""Reading ratings for people: the leaderboard of a variant, and the page of a player.

A player is found by the name that it uses, or else by the one under which it was last rated; it is shown with the name
that it has now.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from redis.asyncio import Redis

from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.ratings import (
    PAGE_PLAYERS,
    Leaderboard,
    PairVariant,
    PlayerPage,
    RankedPlayer,
    RatedVariant,
)
from fairest_protocol.value import Value
from fairest_server.ratings.rating import POINT
from fairest_server.ratings.tally import Tally
from fairest_server.store import keys
from fairest_server.store.players import GIVEN_UP, RENAMED
from fairest_server.store.ratings import parse_pair, parse_tally


class NamedPlayer(Value):
    """A player that a name leads to, with the name that it has now."""

    player_id: str
    name: str


class RatingViews:
    """Ratings as pages show them on a day. Every method raises RedisError.

    `is_hidden` says of a player's id whether it is banned: such a player stands on no page, and keeps its ratings.
    """

    def __init__(self, redis: Redis, is_hidden: Callable[[str], bool]) -> None:
        self._redis = redis
        self._is_hidden = is_hidden

    async def leaderboard(self, rules: str, page: int, today: int) -> Leaderboard:
        """Return a page of the leaderboard of a variant, counted from 0."""
        first = page * PAGE_PLAYERS
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zcard(keys.board(rules))
        pipeline.zrevrange(keys.board(rules), first, first + PAGE_PLAYERS - 1)
        total, members = cast("tuple[int, list[bytes]]", await pipeline.execute())
        players = [member.decode() for member in members]
        pipeline = self._redis.pipeline(transaction=False)
        for player in players:
            pipeline.hget(keys.tallies(player), rules)
            pipeline.hget(keys.player(player), "name")
        found = cast("list[bytes | None]", await pipeline.execute())
        rows = [
            _rank(place, name.decode(), parse_tally(text), today)
            for place, (player, text, name) in enumerate(zip(players, found[::2], found[1::2], strict=True), first + 1)
            if name and not self._is_hidden(player)
        ]
        return Leaderboard(
            rules=rules,
            page=page,
            pages=max(1, -(-total // PAGE_PLAYERS)),
            total=total,
            players=tuple(row for row in rows if row is not None),
        )

    async def points(self, player_id: str, rules: str) -> float:
        """Return the mean of a player's rating in a variant, that of a new player if it has none."""
        text = cast("bytes | None", await cast("Any", self._redis.hget(keys.tallies(player_id), rules)))
        return parse_tally(text).mean / POINT

    async def find(self, name: str) -> NamedPlayer | None:
        """Return the player that a name leads to; None for a name that leads to nobody, or to a banned player."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.get(keys.name(name))
        pipeline.get(keys.rated_name(name))
        holder, rated = cast("tuple[bytes | None, bytes | None]", await pipeline.execute())
        if holder is not None and holder.startswith(RENAMED.encode()):
            # The operator has taken this name from its player.
            return None
        if holder is not None and holder.startswith(GIVEN_UP.encode()):
            holder = None
        found = holder or rated
        if found is None:
            return None
        player_id = found.decode()
        if self._is_hidden(player_id):
            return None
        known = cast("bytes | None", await cast("Any", self._redis.hget(keys.player(player_id), "name")))
        return None if known is None else NamedPlayer(player_id, known.decode())

    async def player_page(self, player: NamedPlayer, today: int, against: NamedPlayer | None = None) -> PlayerPage:
        """Return the page of a player, and with `against` what the two have reached against each other."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hgetall(keys.tallies(player.player_id))
        for rules in VARIANTS:
            pipeline.zrevrank(keys.board(rules), player.player_id)
        if against is not None:
            pipeline.hgetall(keys.pair(player.player_id, against.player_id))
        tallies, *others = await pipeline.execute()
        places = dict(zip(VARIANTS, others, strict=False))
        is_first = against is None or player.player_id < against.player_id
        return PlayerPage(
            name=player.name,
            ratings=tuple(
                _describe(rules, parse_tally(tallies[rules.encode()]), places[rules], today)
                for rules in VARIANTS
                if rules.encode() in tallies
            ),
            against=None if against is None else against.name,
            pairs=() if against is None else _describe_pairs(others[-1], is_first=is_first),
        )


def _rank(place: int, name: str, tally: Tally, today: int) -> RankedPlayer | None:
    """Return the row of a player; None if its rating has become provisional, and the board does not know it yet."""
    rating = tally.rating_on(today)
    if rating.is_provisional:
        return None
    return RankedPlayer(
        place=place,
        name=name,
        rating=_points(rating.mean),
        deviation=_points(rating.deviation),
        rounds=tally.rounds,
        wins=tally.wins,
        draws=tally.draws,
        streak=tally.streak,
    )


def _describe(rules: str, tally: Tally, place: int | None, today: int) -> RatedVariant:
    rating = tally.rating_on(today)
    return RatedVariant(
        rules=rules,
        rating=_points(rating.mean),
        deviation=_points(rating.deviation),
        is_provisional=rating.is_provisional,
        place=None if place is None or rating.is_provisional else place + 1,
        rounds=tally.rounds,
        wins=tally.wins,
        draws=tally.draws,
        streak=tally.streak,
        best_streak=tally.best_streak,
        near_misses=tally.near_misses,
        left=tally.left,
        best_direct=tally.best_direct,
        best_ms=tally.best_ms,
        last_day=_date(tally.day),
    )


def _describe_pairs(texts: dict[bytes, bytes], *, is_first: bool) -> tuple[PairVariant, ...]:
    """Return the scores of a pair by variant. `is_first` says that the player asked for has the smaller id."""
    found = []
    for rules in VARIANTS:
        if rules.encode() in texts:
            score = parse_pair(texts[rules.encode()])
            wins, direct = (_ordered(both, is_first=is_first) for both in (score.wins, score.direct))
            found.append(
                PairVariant(rules=rules, wins=wins, draws=score.draws, direct=direct, last_day=_date(score.day))
            )
    return tuple(found)


def _ordered(both: Sequence[int], *, is_first: bool) -> tuple[int, int]:
    return (both[0], both[1]) if is_first else (both[1], both[0])


def _points(thousandths: int) -> int:
    """Return whole points, rounded half up."""
    return (thousandths + POINT // 2) // POINT


def _date(day: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).date().isoformat()
