"""Ratings in Redis: which matches wait to be rated, and the one script that rates a match.

A match is put into the outbox of its room's bucket before the room's log says that it is published, so it is there
whatever is killed when. Tallies, scores, boards, results and marks share one hash tag: the script changes all of them,
if the tallies are still those from which the new ones were computed and the match has no mark, or none. So a match is
rated once, by however many processes, and after any of them was killed between any two steps.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, cast

import msgspec
from redis.asyncio import Redis

from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.value import Value
from fairest_server.ratings.match_result import MatchResult
from fairest_server.ratings.recomputation import RatedMatch
from fairest_server.ratings.tally import MatchTallies, PairScore, Tally
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

WAITING_READ: Final = 100
"""Most matches that are read from one outbox at once."""
FADED_DROPPED: Final = 1_000
"""Most players that are taken off one board at once."""
RESULTS_READ: Final = 1_000

_ENCODE: Final = msgspec.json.Encoder().encode
_TALLY: Final = msgspec.json.Decoder(Tally)
_PAIR: Final = msgspec.json.Decoder(PairScore)


class WaitingMatch(Value):
    """A finished match that waits to be rated, with the ids of the players on its seats."""

    bucket: int
    match_id: str
    players: tuple[str, str]
    finished_at_ms: int


class TalliesBefore(Value):
    """The tallies of both players before a match, and the score of the pair, as the texts in Redis; b"" for none."""

    texts: tuple[bytes, bytes, bytes]

    @property
    def tallies(self) -> MatchTallies:
        """The same as values. Raises ValueError for a text that is none."""
        first, second, pair = self.texts
        return MatchTallies((parse_tally(first), parse_tally(second)), parse_pair(pair))


class Kept(StrEnum):
    """The outcome of an attempt to rate a match."""

    RATED = "rated"
    KNOWN = "known"
    """The match was rated before."""
    LATE = "late"
    """It finished too long ago for Redis to know whether it was rated, so it is not."""
    CHANGED = "changed"
    """Another match of one of the players was rated meanwhile: compute again."""


def parse_tally(text: bytes | None) -> Tally:
    """Return a tally, that of a new player for no text. Raises ValueError."""
    return _TALLY.decode(text) if text else Tally()


def parse_pair(text: bytes | None) -> PairScore:
    """Return the score of a pair, that of two strangers for no text. Raises ValueError."""
    return _PAIR.decode(text) if text else PairScore()


class RatingStore:
    """The ratings of a deployment. Every method raises RedisError, and is safe to call again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._rate = Script("rate_match.lua")
        self._drop = Script("drop_faded.lua")

    async def add_waiting(self, match: WaitingMatch) -> None:
        """Put a match into the outbox of its bucket."""
        await self._redis.zadd(keys.unrated(match.bucket), {_member(match): match.finished_at_ms}, nx=True)

    async def waiting(self) -> list[WaitingMatch]:
        """Return the matches that wait longest, WAITING_READ of each outbox at most.

        An outbox on a node of a Cluster that is away counts as empty.
        """
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            pipeline.zrange(keys.unrated(number), 0, WAITING_READ - 1, withscores=True)
        found: list[WaitingMatch] = []
        for number, reply in enumerate(await pipeline.execute(raise_on_error=False)):
            for member, finished_at_ms in reply if isinstance(reply, list) else ():
                match_id, first, second = member.decode().split(" ")
                found.append(WaitingMatch(number, match_id, (first, second), int(finished_at_ms)))
        return found

    async def remove(self, match: WaitingMatch) -> None:
        """Remove a match from its outbox."""
        await self._redis.zrem(keys.unrated(match.bucket), _member(match))

    async def read_before(self, variant: str, players: tuple[str, str]) -> TalliesBefore:
        """Return the tallies that a match of these players will change."""
        pipeline = self._redis.pipeline(transaction=False)
        for key in _changed_keys(players):
            pipeline.hget(key, variant)
        first, second, pair = (reply or b"" for reply in await pipeline.execute())
        return TalliesBefore((first, second, pair))

    async def keep(
        self,
        match_id: str,
        players: tuple[str, str],
        names: tuple[str, str],
        result: MatchResult,
        before: TalliesBefore,
        after: MatchTallies,
    ) -> Kept:
        """Let `after` follow `before` in Redis by this match, all of it or nothing."""
        variant = result.variant
        names_of_keys = [
            keys.RATED_RESULTS,
            keys.RATED_MARKS,
            keys.board(variant),
            keys.board_days(variant),
            *_changed_keys(players),
            *map(keys.rated_name, names),
        ]
        limits = (variant, match_id, result.day, keys.RATED_DAYS, keys.RESULTS_KEPT, keys.RATED_SECONDS)
        following = (*map(_ENCODE, after.tallies), _ENCODE(after.pair))
        on_board = [part for tally in after.tallies for part in (tally.mean, tally.established_until)]
        arguments: tuple[str | bytes | int, ...] = (*limits, *players, *before.texts, *following, *on_board)
        return Kept((await self._rate.run(self._redis, names_of_keys, arguments)).decode())

    async def drop_faded(self, today: int) -> int:
        """Take players off the boards whose ratings have become provisional by absence; return their number."""
        dropped = 0
        for variant in VARIANTS:
            names = [keys.board(variant), keys.board_days(variant)]
            dropped += await self._drop.run(self._redis, names, [today, FADED_DROPPED])
        return dropped

    async def results_after(self, number: int) -> list[RatedMatch]:
        """Return the rated matches that follow the one with this number, RESULTS_READ at most."""
        found = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            await self._redis.xrange(keys.RATED_RESULTS, f"({number}-0", "+", RESULTS_READ),
        )
        return [_parse_result(entry_id, fields) for entry_id, fields in found]

    async def read_tallies(self, variant: str, players: Sequence[str]) -> list[Tally]:
        """Return the tallies of these players in a variant. Raises ValueError for one that cannot be read."""
        return [parse_tally(text) for text in await self._fields(variant, map(keys.tallies, players))]

    async def read_pairs(self, variant: str, pairs: Sequence[tuple[str, str]]) -> list[PairScore]:
        """Return the scores of these pairs in a variant. Raises ValueError for one that cannot be read."""
        return [parse_pair(text) for text in await self._fields(variant, (keys.pair(*pair) for pair in pairs))]

    async def read_means(self, variant: str, players: Sequence[str]) -> list[float | None]:
        """Return the mean of each of these players on the board of a variant, None for one that is not there."""
        return await self._redis.zmscore(keys.board(variant), list(players))

    async def _fields(self, field: str, names: Iterable[str]) -> list[bytes | None]:
        pipeline = self._redis.pipeline(transaction=False)
        for name in names:
            pipeline.hget(name, field)
        return cast("list[bytes | None]", await pipeline.execute())


def _changed_keys(players: tuple[str, str]) -> tuple[str, str, str]:
    first, second = players
    return keys.tallies(first), keys.tallies(second), keys.pair(first, second)


def _member(match: WaitingMatch) -> str:
    return " ".join((match.match_id, *match.players))


def _parse_result(entry_id: bytes, fields: dict[bytes, Any]) -> RatedMatch:
    first, second = fields[b"p"].decode().split(" ")
    after = MatchTallies((parse_tally(fields[b"0"]), parse_tally(fields[b"1"])), parse_pair(fields[b"s"]))
    number = int(entry_id.partition(b"-")[0])
    return RatedMatch(number, fields[b"m"].decode(), fields[b"v"].decode(), (first, second), after)
