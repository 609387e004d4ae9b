"""The daily deals in Redis: their secrets, the attempts at them, and their tables.

An attempt is a list of moves, added to by comparison: any process may serve any move, and nothing of an attempt is kept
elsewhere. All keys are in one bucket, so each step is one script, which happens whole or not at all.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, cast

from redis.asyncio import Redis

from fairest_protocol.calculation.daily import AttemptScore, day_start_ms, next_day, score_of_order
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.value import Value, replace
from fairest_server.daily.attempt import Attempt, Gap
from fairest_server.store import daily_keys, keys
from fairest_server.store.redis.scripts import Script


class DailyName(Value):
    """The name of a daily deal: its day and its variant."""

    day: str
    variant: str

    @property
    def begins_ms(self) -> int:
        """The begin of the day."""
        return day_start_ms(self.day)

    @property
    def ends_ms(self) -> int:
        """The end of the day."""
        return day_start_ms(next_day(self.day))


class DailyDeal(Value):
    """A daily deal as Redis has it. `beacon` is None until it is dealt, `beacon_number` is its entry.

    With `is_drand` the deal was announced with a drand round as its beacon: `beacon_number` is the number of the drand
    round, and `drand` its signature.
    """

    name: DailyName
    secret: bytes
    beacon_number: int = 0
    beacon: bytes | None = None
    is_opened: bool = False
    is_drand: bool = False
    drand: bytes | None = None


class Added(StrEnum):
    """The outcome of the addition of a move to an attempt, or of its end."""

    MADE = "made"
    ENDED = "ended"
    CONFLICT = "conflict"
    LATE = "late"
    EARLY = "early"
    SLOW = "slow"


class RankedAttempt(Value):
    """An attempt in the table: its rank, from 1, and how many attempts were begun at the same address."""

    rank: int
    attempt: Attempt
    score: AttemptScore
    from_address: int


class DailyStore:
    """The daily deals of a deployment. Every method raises RedisError, and is safe to call again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._announce = Script("announce_daily.lua")
        self._begin = Script("begin_daily.lua")
        self._move = Script("move_daily.lua")
        self._open = Script("open_daily.lua")

    async def announce(self, name: DailyName, secret: bytes, entry: str, *, is_drand: bool = False) -> bool:
        """Keep the secret of a deal, and publish its commitment by `entry`; False if the deal has a secret already."""
        names = [daily_keys.deal(*_parts(name)), daily_keys.UNOPENED, keys.round_outbox(daily_keys.BUCKET)]
        arguments: list[str | bytes | int] = [secret, _member(name), entry, keys.RECORD_SECONDS, int(is_drand)]
        return bool(await self._announce.run(self._redis, names, arguments))

    async def keep_beacon(self, name: DailyName, number: int, beacon: bytes, drand: bytes | None = None) -> None:
        """Keep the beacon of a deal: the chain of the entry with this number, or the value of the drand round with this
        number and this signature. The first one of its kind that is kept stays.
        """
        values = [str(number), beacon.hex(), *([] if drand is None else [drand.hex()])]
        field = "beacon" if drand is None else "drand_round"
        await cast("Any", self._redis.hsetnx(daily_keys.deal(*_parts(name)), field, " ".join(values)))

    async def open(self, name: DailyName, entry: str) -> bool:
        """Open a deal whose day is over if nobody races any more, with the end of its round; return whether it is."""
        names = [
            daily_keys.deal(*_parts(name)),
            daily_keys.running(*_parts(name)),
            daily_keys.UNOPENED,
            keys.round_outbox(daily_keys.BUCKET),
        ]
        return bool(await self._open.run(self._redis, names, [_member(name), name.ends_ms, entry]))

    async def unopened(self) -> list[DailyDeal]:
        """Return the deals that are announced and not opened yet, the oldest first."""
        members = cast("set[bytes]", await cast("Any", self._redis.smembers(daily_keys.UNOPENED)))
        names = [DailyName(*member.decode().split(" ")) for member in sorted(members)]
        found = [await self.find(name) for name in names]
        return [deal for deal in found if deal is not None]

    async def find(self, name: DailyName) -> DailyDeal | None:
        """Return a deal, None if it was never announced, or is not kept any more."""
        key = daily_keys.deal(*_parts(name))
        fields = cast("dict[bytes, bytes]", await cast("Any", self._redis.hgetall(key)))
        if b"secret" not in fields:
            return None
        is_drand = b"drand" in fields
        deal = DailyDeal(name, fields[b"secret"], is_opened=b"opened" in fields, is_drand=is_drand)
        kept = fields.get(b"drand_round" if is_drand else b"beacon")
        if kept is None:
            return deal
        number, *values = kept.decode().split(" ")
        beacon, *signature = map(bytes.fromhex, values)
        return replace(deal, beacon_number=int(number), beacon=beacon, drand=signature[0] if signature else None)

    async def gaps(self) -> tuple[Gap, ...]:
        """Return the newest times in which no server was running."""
        found = cast("list[bytes]", await cast("Any", self._redis.lrange(keys.PAUSES, 0, -1)))
        return tuple(Gap(*map(int, text.decode().split("-"))) for text in found)

    async def begin(
        self, name: DailyName, player_id: str, player_name: str, attempt_id: str, address: str, not_after_ms: int
    ) -> Attempt | Added | None:
        """Begin the attempt of a player, or return the one that it has, without its moves. None if none may begin.

        `address` is the hash of the player's address. `Added.SLOW`: it is later than `not_after_ms`.
        """
        names = [
            *(each(*_parts(name)) for each in (daily_keys.deal, daily_keys.attempts, daily_keys.running)),
            daily_keys.addresses(*_parts(name)),
            daily_keys.attempt(attempt_id),
        ]
        text, index = f"{attempt_id} {player_name} {address}", f"{_member(name)} {player_id}"
        arguments: list[str | bytes | int] = [
            player_id,
            text,
            address,
            name.ends_ms,
            not_after_ms,
            keys.RECORD_SECONDS,
            index,
        ]
        found = cast("bytes | None", await self._begin.run(self._redis, names, arguments))
        if found is None:
            return None
        return Added.SLOW if found == b"late" else _parse(player_id, found)[0]

    async def attempt(self, name: DailyName, player_id: str) -> Attempt | None:
        """Return the attempt of a player with its moves, None without one."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hget(daily_keys.attempts(*_parts(name)), player_id)
        pipeline.lrange(daily_keys.moves(*_parts(name), player_id), 0, -1)
        begun, moves = await pipeline.execute()
        if begun is None:
            return None
        return replace(_parse(player_id, begun)[0], moves=tuple(map(_parse_move, moves)))

    async def find_attempt(self, attempt_id: str) -> tuple[DailyName, Attempt] | None:
        """Return the attempt with this id and the name of its deal, None if it is not known."""
        text = cast("bytes | None", await self._redis.get(daily_keys.attempt(attempt_id)))
        if text is None:
            return None
        day, variant, player_id = text.decode().split(" ")
        attempt = await self.attempt(DailyName(day, variant), player_id)
        return None if attempt is None else (DailyName(day, variant), attempt)

    async def add(
        self,
        name: DailyName,
        attempt: Attempt,
        move: Move | None,
        paused_ms: int,
        until_ms: int,
        not_after_ms: int,
        score: AttemptScore | None,
    ) -> tuple[Added, int]:
        """Add a move to an attempt, or with None end it because its time is over; return also the time of the move.

        `score` is that of an attempt that ends by this, with time 0 for one that ends by a move.
        """
        names = [
            daily_keys.moves(*_parts(name), attempt.player_id),
            daily_keys.running(*_parts(name)),
            daily_keys.table(*_parts(name)),
        ]
        arguments: list[str | bytes | int] = [
            attempt.player_id,
            len(attempt.moves),
            move.text if move is not None else "",
            attempt.started_ms + paused_ms,
            until_ms,
            not_after_ms,
            "" if score is None else score.order,
            keys.RECORD_SECONDS,
        ]
        result, at_ms = await self._move.run(self._redis, names, arguments)
        return Added(result.decode()), at_ms

    async def running(self, name: DailyName, started_before_ms: int) -> list[str]:
        """Return the players whose attempt is under way and began before this time."""
        found = await self._redis.zrangebyscore(daily_keys.running(*_parts(name)), "-inf", started_before_ms)
        return [player.decode() for player in cast("list[bytes]", found)]

    async def counts(self, name: DailyName) -> tuple[int, int]:
        """Return how many attempts were begun, and how many have ended."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hlen(daily_keys.attempts(*_parts(name)))
        pipeline.zcard(daily_keys.table(*_parts(name)))
        begun, ended = await pipeline.execute()
        return begun, ended

    async def standing(self, name: DailyName, player_id: str) -> tuple[AttemptScore, int, int] | None:
        """Return the score of a player's attempt, its rank and the number of those that have ended; None before."""
        table = daily_keys.table(*_parts(name))
        order = await self._redis.zscore(table, player_id)
        if order is None:
            return None
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zcount(table, f"({order:.0f}", "+inf")
        pipeline.zcard(table)
        better, ended = await pipeline.execute()
        return score_of_order(int(order)), better + 1, ended

    async def rows(self, name: DailyName, first: int, count: int) -> list[RankedAttempt]:
        """Return `count` attempts of the table from place `first` on, from 0, the best one first; equal ones share a
        rank. The attempts are without their moves.
        """
        table = daily_keys.table(*_parts(name))
        found = await self._redis.zrevrange(table, first, first + count - 1, withscores=True)
        ranked = [(player.decode(), int(order)) for player, order in cast("list[tuple[bytes, float]]", found)]
        if not ranked:
            return []
        players = [player for player, _ in ranked]
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hmget(daily_keys.attempts(*_parts(name)), players)
        pipeline.hgetall(daily_keys.addresses(*_parts(name)))
        pipeline.zcount(table, f"({ranked[0][1]}", "+inf")
        texts, addresses, better = await pipeline.execute()
        return _rank(ranked, texts, addresses, first, better + 1)


def _rank(
    ranked: Sequence[tuple[str, int]],
    texts: Sequence[bytes],
    addresses: dict[bytes, bytes],
    first: int,
    first_rank: int,
) -> list[RankedAttempt]:
    """Return the rows of the table. The first of them, at place `first`, has the rank `first_rank`."""
    rows: list[RankedAttempt] = []
    rank, before = first_rank, ranked[0][1]
    for place, ((player_id, order), text) in enumerate(zip(ranked, texts, strict=True), first + 1):
        rank, before = (rank, before) if order == before else (place, order)
        attempt, address = _parse(player_id, text)
        rows.append(RankedAttempt(rank, attempt, score_of_order(order), int(addresses.get(address.encode(), 1))))
    return rows


def _parts(name: DailyName) -> tuple[str, str]:
    return name.day, name.variant


def _member(name: DailyName) -> str:
    return f"{name.day} {name.variant}"


def _parse(player_id: str, text: bytes) -> tuple[Attempt, str]:
    """Return an attempt without its moves, and the hash of its player's address."""
    started_ms, attempt_id, name, address = text.decode().split(" ")
    return Attempt(attempt_id, player_id, name, int(started_ms)), address


def _parse_move(text: bytes) -> TimedMove:
    at_ms, _, move = text.decode().partition(" ")
    return TimedMove(int(at_ms), MOVES[move])
