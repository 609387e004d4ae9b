"""The rooms in which a player may have a seat, so that a client that has kept only its token finds them again."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.newest_codes import NewestCodes


class PlayerRooms:
    """The rooms in which players were given seats lately. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._codes = NewestCodes(redis, keys.PLAYER_ROOMS_KEPT, keys.PLAYER_ROOMS_SECONDS)

    async def remember(self, player_id: str, code: str) -> None:
        """Put a room first among those of a player. Only the newest PLAYER_ROOMS_KEPT are kept."""
        await self._codes.remember(keys.player_rooms(player_id), code)

    async def forget(self, player_id: str, code: str) -> None:
        """Remove a room from those of a player."""
        await self._codes.forget(keys.player_rooms(player_id), code)

    async def open_rooms(self, player_id: str) -> Sequence[str]:
        """Return those of a player's rooms that exist and are not closed, the newest first."""
        codes = await self._codes.read(keys.player_rooms(player_id))
        if not codes:
            return ()
        pipeline = self._redis.pipeline(transaction=False)
        for code in codes:
            pipeline.ttl(keys.log(code))
        lifetimes = cast("list[int]", await pipeline.execute())
        # The log of an open room does not expire: -1. That of a closed one does, and -2 stands for no log.
        return [code for code, seconds in zip(codes, lifetimes, strict=True) if seconds == -1]
