"""What outlives the rooms: finished matches, and the key that signs them."""

import secrets
from typing import Final, cast

from redis.asyncio import Redis

from fairest_protocol.calculation.record import Record
from fairest_server.store import keys

PRIVATE_KEY_BYTES: Final = 32


class Archive:
    """Records by match id. Written once, whatever is retried."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def keep(self, record: Record) -> bool:
        """Store a finished match; whether it was not there yet. Raises RedisError; safe to call again."""
        text = "\n".join(record.lines())
        return bool(await self._redis.set(keys.record(record.match_id), text, nx=True, ex=keys.RECORD_SECONDS))


async def load_private_key(redis: Redis, own: bytes | None = None) -> bytes:
    """The private key of this deployment: where there is none, `own` or a new one becomes it. Raises RedisError."""
    await redis.set(keys.SIGNING_KEY, own or secrets.token_bytes(PRIVATE_KEY_BYTES), nx=True)
    return cast("bytes", await redis.get(keys.SIGNING_KEY))
