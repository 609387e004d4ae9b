"""Records of finished matches, which outlive their rooms."""

from redis.asyncio import Redis

from fairest_protocol.calculation.record import Record
from fairest_server.store import keys


class RecordStore:
    """Records by match id. A record that is stored is never written again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def keep(self, record: Record) -> bool:
        """Store the record of a match; return False if it was stored already. Raises RedisError; safe to call again."""
        text = "\n".join(record.lines())
        return bool(await self._redis.set(keys.record(record.match_id), text, nx=True, ex=keys.RECORD_SECONDS))
