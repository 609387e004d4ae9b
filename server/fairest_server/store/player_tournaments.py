"""The tournaments that a player has entered, so that a client that has kept only its token finds them again."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio import Redis

from fairest_server.store import keys, tournament_keys


class PlayerTournaments:
    """The tournaments that players have entered lately. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def remember(self, player_id: str, code: str) -> None:
        """Put a tournament first among those of a player. Only the newest ENTERED_KEPT are kept."""
        name = tournament_keys.entered(player_id)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(name, 0, code)
        pipeline.lpush(name, code)
        pipeline.ltrim(name, 0, tournament_keys.ENTERED_KEPT - 1)
        pipeline.expire(name, keys.RECORD_SECONDS)
        await pipeline.execute()

    async def forget(self, player_id: str, code: str) -> None:
        """Remove a tournament from those of a player."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(tournament_keys.entered(player_id), 0, code)
        await pipeline.execute()

    async def active(self, player_id: str) -> Sequence[str]:
        """Return those of a player's tournaments that are not over, the newest first. No tournament is read."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrange(tournament_keys.entered(player_id), 0, -1)
        (found,) = cast("tuple[list[bytes]]", await pipeline.execute())
        # Two requests at the same moment may have added a tournament twice.
        codes = list(dict.fromkeys(code.decode() for code in found))
        if not codes:
            return ()
        pipeline = self._redis.pipeline(transaction=False)
        for code in codes:
            pipeline.zscore(tournament_keys.ACTIVE, code)
        created = cast("list[float | None]", await pipeline.execute())
        return [code for code, at in zip(codes, created, strict=True) if at is not None]
