"""Tournaments in Redis: each is one value, changed by comparison of its version, beside the moves of its races.

So any process takes any step, two that take the same one do no harm, and one that is killed leaves nothing behind.
All keys are in one bucket, so each step is one script, which happens whole or not at all.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, cast

import msgspec
from redis.asyncio import Redis

from fairest_protocol.calculation.daily import AttemptScore, score_of_order
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_server.daily.attempt import Gap
from fairest_server.store import keys, tournament_keys
from fairest_server.store.daily import Added
from fairest_server.store.redis.scripts import Script
from fairest_server.tournament.state import ENDED, Tournament, parse_tournament

MOST_ENDED: Final = 30
"""Tournaments that have ended, of which the codes are kept; change_tournament.lua drops the others."""


class Changed(StrEnum):
    """The outcome of a change of a tournament."""

    MADE = "made"
    CONFLICT = "conflict"
    SLOW = "slow"


class TournamentStore:
    """The tournaments of a deployment. Every method raises RedisError, and is safe to call again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._change = Script("change_tournament.lua")
        self._move = Script("move_daily.lua")

    async def find(self, code: str) -> Tournament | None:
        """Return a tournament, None if there never was one with this code, or it is not kept any more."""
        text = cast("bytes | None", await cast("Any", self._redis.hget(tournament_keys.tournament(code), "text")))
        try:
            return None if text is None else parse_tournament(text)
        except msgspec.DecodeError:
            # A process of another version has written it.
            return None

    async def active(self, most: int = 10_000) -> list[str]:
        """Return the codes of the tournaments that are not over, the newest first."""
        found = await self._redis.zrevrange(tournament_keys.ACTIVE, 0, most - 1)
        return [code.decode() for code in cast("list[bytes]", found)]

    async def ended(self) -> list[str]:
        """Return the codes of the tournaments that have ended last, the newest first."""
        found = await self._redis.zrevrange(tournament_keys.ENDED, 0, MOST_ENDED - 1)
        return [code.decode() for code in cast("list[bytes]", found)]

    async def change(
        self, before: Tournament | None, after: Tournament, not_after_ms: int, entries: Sequence[str]
    ) -> Changed:
        """Keep a changed tournament, if Redis has it as it was `before`; None: there is none yet.

        `entries` join the chain of rounds. The races of a round that was dealt by this change start.
        """
        code, racers = after.code, list[str]()
        number, started_ms = len(after.rounds), after.newest.started_ms if after.rounds else 0
        if started_ms and before is not None and not before.newest.started_ms:
            racers = [after.player_id_of(name) for name in after.newest.racers]
        names = [
            tournament_keys.tournament(code),
            tournament_keys.ACTIVE,
            keys.round_outbox(tournament_keys.BUCKET),
            tournament_keys.running(code, number),
            tournament_keys.ENDED,
        ]
        arguments: list[str | bytes | int] = [
            0 if before is None else before.version,
            after.version,
            after.text(),
            code,
            int(after.phase in ENDED),
            not_after_ms,
            keys.RECORD_SECONDS,
            started_ms,
            len(entries),
            *entries,
            *racers,
        ]
        return Changed((await self._change.run(self._redis, names, arguments)).decode())

    async def gaps(self) -> tuple[Gap, ...]:
        """Return the newest times in which no server was running."""
        found = cast("list[bytes]", await cast("Any", self._redis.lrange(keys.PAUSES, 0, -1)))
        return tuple(Gap(*map(int, text.decode().split("-"))) for text in found)

    async def moves(self, code: str, number: int, player_id: str) -> tuple[TimedMove, ...]:
        """Return the moves of a player in a round."""
        key = tournament_keys.moves(code, number, player_id)
        found = cast("list[bytes]", await cast("Any", self._redis.lrange(key, 0, -1)))
        parts = (text.decode().partition(" ") for text in found)
        return tuple(TimedMove(int(at_ms), MOVES[move]) for at_ms, _, move in parts)

    async def add(
        self,
        code: str,
        number: int,
        player_id: str,
        before: int,
        move: Move | None,
        counts_from_ms: int,
        until_ms: int,
        not_after_ms: int,
        score: AttemptScore | None,
    ) -> tuple[Added, int]:
        """Add a move behind the `before` moves of a race, or with None end it because its time is over.

        Returns also the time of the move. `score` is that of a race that ends by this, with time 0 for one that ends by
        a move. `counts_from_ms` is the start of the race, later by the pauses since.
        """
        names = [
            tournament_keys.moves(code, number, player_id),
            tournament_keys.running(code, number),
            tournament_keys.scores(code, number),
        ]
        arguments: list[str | bytes | int] = [
            player_id,
            before,
            move.text if move is not None else "",
            counts_from_ms,
            until_ms,
            not_after_ms,
            "" if score is None else score.order,
            keys.RECORD_SECONDS,
        ]
        result, at_ms = await self._move.run(self._redis, names, arguments)
        return Added(result.decode()), at_ms

    async def count_placed(self, code: str, number: int, player_id: str, placed: int) -> None:
        """Keep how many cards a player has placed in a round, for the counts that everybody is shown."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(tournament_keys.placed(code, number), player_id, placed)
        pipeline.expire(tournament_keys.placed(code, number), keys.RECORD_SECONDS)
        await pipeline.execute()

    async def placed(self, code: str, number: int) -> dict[str, int]:
        """Return how many cards players have placed in a round, without those that have placed none."""
        found = await cast("Any", self._redis.hgetall(tournament_keys.placed(code, number)))
        return {player.decode(): int(count) for player, count in cast("dict[bytes, bytes]", found).items()}

    async def score(self, code: str, number: int, player_id: str) -> AttemptScore | None:
        """Return the score of a player's race in a round, None before it has ended."""
        order = await self._redis.zscore(tournament_keys.scores(code, number), player_id)
        return None if order is None else score_of_order(int(order))

    async def running(self, code: str, number: int) -> list[str]:
        """Return the players whose race in a round has not ended."""
        found = await self._redis.zrange(tournament_keys.running(code, number), 0, -1)
        return [player.decode() for player in cast("list[bytes]", found)]

    async def scores(self, code: str, number: int) -> dict[str, AttemptScore]:
        """Return the scores of the races of a round that have ended, by their players."""
        found = await self._redis.zrange(tournament_keys.scores(code, number), 0, -1, withscores=True)
        ranked = cast("list[tuple[bytes, float]]", found)
        return {player.decode(): score_of_order(int(order)) for player, order in ranked}
