"""The private key that signs commitments and records: one for each deployment."""

import secrets
from typing import Final, cast

from redis.asyncio import Redis

from fairest_server.store import keys

PRIVATE_KEY_BYTES: Final = 32


async def load_private_key(redis: Redis, own: bytes | None = None) -> bytes:
    """Return the private key of this deployment, which is `own` or a new one if it has none. Raises RedisError."""
    await redis.set(keys.SIGNING_KEY, own or secrets.token_bytes(PRIVATE_KEY_BYTES), nx=True)
    return cast("bytes", await redis.get(keys.SIGNING_KEY))
