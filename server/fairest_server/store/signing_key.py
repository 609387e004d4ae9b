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


async def read_private_key(redis: Redis) -> bytes | None:
    """Return the private key of this deployment, or None if it has none. Raises RedisError."""
    return cast("bytes | None", await redis.get(keys.SIGNING_KEY))


async def put_private_key(redis: Redis, private: bytes) -> None:
    """Make this the private key of the deployment, whichever it had. Raises RedisError."""
    await redis.set(keys.SIGNING_KEY, private)


async def forget_private_key(redis: Redis) -> None:
    """Delete the private key of this deployment. Raises RedisError."""
    await redis.delete(keys.SIGNING_KEY)
