"""The rooms in which a player may have a seat, so that a client that has kept only its token finds them again."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio import Redis

from fairest_server.store import keys


class PlayerRooms:
    """The rooms in which players were given seats lately. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def remember(self, player_id: str, code: str) -> None:
        """Put a room first among those of a player. Only the newest PLAYER_ROOMS_KEPT are kept."""
        name = keys.player_rooms(player_id)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(name, 0, code)
        pipeline.lpush(name, code)
        pipeline.ltrim(name, 0, keys.PLAYER_ROOMS_KEPT - 1)
        pipeline.expire(name, keys.PLAYER_ROOMS_SECONDS)
        await pipeline.execute()

    async def forget(self, player_id: str, code: str) -> None:
        """Remove a room from those of a player."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(keys.player_rooms(player_id), 0, code)
        await pipeline.execute()

    async def open_rooms(self, player_id: str) -> Sequence[str]:
        """Return those of a player's rooms that exist and are not closed, the newest first."""
        name = keys.player_rooms(player_id)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrange(name, 0, -1)
        pipeline.expire(name, keys.PLAYER_ROOMS_SECONDS)
        found, _ = cast("tuple[list[bytes], bool]", await pipeline.execute())
        # Two requests at the same moment may have added a room twice.
        codes = list(dict.fromkeys(code.decode() for code in found))
        if not codes:
            return ()
        pipeline = self._redis.pipeline(transaction=False)
        for code in codes:
            pipeline.ttl(keys.log(code))
        lifetimes = cast("list[int]", await pipeline.execute())
        # The log of an open room does not expire: -1. That of a closed one does, and -2 stands for no log.
        return [code for code, seconds in zip(codes, lifetimes, strict=True) if seconds == -1]
