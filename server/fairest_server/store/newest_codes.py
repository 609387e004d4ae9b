"""Short lists of codes, the newest first: of the rooms of a player, of its tournaments."""

from typing import cast

from redis.asyncio import Redis


class NewestCodes:
    """Lists of codes by key. Each keeps the newest `kept`, for `kept_seconds` after it was changed or read.

    Every method raises RedisError when Redis is away.
    """

    def __init__(self, redis: Redis, kept: int, kept_seconds: int) -> None:
        self._redis = redis
        self._kept = kept
        self._kept_seconds = kept_seconds

    async def remember(self, key: str, code: str) -> None:
        """Put a code first."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(key, 0, code)
        pipeline.lpush(key, code)
        pipeline.ltrim(key, 0, self._kept - 1)
        pipeline.expire(key, self._kept_seconds)
        await pipeline.execute()

    async def forget(self, key: str, code: str) -> None:
        """Remove a code."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrem(key, 0, code)
        await pipeline.execute()

    async def read(self, key: str) -> list[str]:
        """Return the codes, the newest first, each once."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.lrange(key, 0, -1)
        pipeline.expire(key, self._kept_seconds)
        found, _ = cast("tuple[list[bytes], bool]", await pipeline.execute())
        # Two requests at the same moment may have added a code twice.
        return list(dict.fromkeys(code.decode() for code in found))
