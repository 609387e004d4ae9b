"""Finished matches, kept when their rooms are gone."""

from redis.asyncio import Redis

from protocol.calculation.record import Record
from server.store import keys


class Archive:
    """Records by match id. Written once, whatever is retried."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def keep(self, record: Record) -> None:
        """Store a finished match. Raises RedisError; safe to call again."""
        text = "\n".join(record.lines())
        await self._redis.set(keys.record(record.match_id), text, nx=True, ex=keys.RECORD_SECONDS)
