"""The rooms that players have opened lately: how many, and which one with which key of the player's.

A command whose reply was lost is sent again, so a room may be counted twice. That costs a player one of its rooms for
ten minutes at most; to count too few would let a player who cuts connections open rooms without end.
"""

from typing import cast

from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script


class RoomOpenings:
    """The rooms opened in the last OPENED_SECONDS. Every method raises RedisError when Redis is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._open_room = Script("open_room.lua")

    async def look_up(self, player_id: str, key: str | None) -> tuple[str | None, int]:
        """Return the code of the room that a player has opened with this key, and how many it has opened."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.get(keys.opened(player_id))
        if key is not None:
            pipeline.get(keys.opened_with(player_id, key))
        count, *found = cast("list[bytes | None]", await pipeline.execute())
        code = next(iter(found), None)
        return None if code is None else code.decode(), int(count or 0)

    async def count_at(self, address: str) -> int:
        """Count a room that somebody at this address wants to open. Return how many were counted lately."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.set(keys.opened_at(address), 0, nx=True, ex=keys.OPENED_SECONDS)
        pipeline.incr(keys.opened_at(address))
        _, count = await pipeline.execute()
        return cast("int", count)

    async def open(self, player_id: str, key: str | None, code: str, most: int) -> str | None:
        """Count a room that a player opens, and return its code: `code`, or that of the room which it has opened with
        this key before. None if it has opened `most` rooms.

        One step, whatever other processes ask for meanwhile. Safe to call again with the same key.
        """
        names = [keys.opened(player_id)] + ([keys.opened_with(player_id, key)] if key is not None else [])
        found = cast("bytes | None", await self._open_room.run(self._redis, names, [code, most, keys.OPENED_SECONDS]))
        return None if found is None else found.decode()
