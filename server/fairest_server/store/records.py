"""Records of finished matches, which outlive their rooms."""

from redis.asyncio import Redis

from fairest_protocol.calculation.record import Record
from fairest_server.store import keys


class RecordStore:
    """Records by match id. Written once, whatever is retried."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def keep(self, record: Record) -> bool:
        """Store a finished match; whether it was not there yet. Raises RedisError; safe to call again."""
        text = "\n".join(record.lines())
        return bool(await self._redis.set(keys.record(record.match_id), text, nx=True, ex=keys.RECORD_SECONDS))
