"""The tournaments that a player has entered, so that a client that has kept only its token finds them again."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio import Redis

from fairest_server.store import keys, tournament_keys
from fairest_server.store.newest_codes import NewestCodes


class PlayerTournaments:
    """The tournaments that players have entered lately. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._codes = NewestCodes(redis, tournament_keys.ENTERED_KEPT, keys.RECORD_SECONDS)

    async def remember(self, player_id: str, code: str) -> None:
        """Put a tournament first among those of a player. Only the newest ENTERED_KEPT are kept."""
        await self._codes.remember(tournament_keys.entered(player_id), code)

    async def forget(self, player_id: str, code: str) -> None:
        """Remove a tournament from those of a player."""
        await self._codes.forget(tournament_keys.entered(player_id), code)

    async def active(self, player_id: str) -> Sequence[str]:
        """Return those of a player's tournaments that are not over, the newest first. No tournament is read."""
        codes = await self._codes.read(tournament_keys.entered(player_id))
        if not codes:
            return ()
        pipeline = self._redis.pipeline(transaction=False)
        for code in codes:
            pipeline.zscore(tournament_keys.ACTIVE, code)
        created = cast("list[float | None]", await pipeline.execute())
        return [code for code, at in zip(codes, created, strict=True) if at is not None]
