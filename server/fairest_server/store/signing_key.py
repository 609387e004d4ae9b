"""The private key that signs commitments and records: one for each deployment.

On a Cluster each bucket has a copy of it, so that a process can start while the node of the key is away.
"""

import asyncio
import secrets
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.redis.cluster_client import partition_count

PRIVATE_KEY_BYTES: Final = 32


async def load_private_key(redis: Redis, own: bytes | None = None) -> bytes:
    """Return the private key of this deployment, which is `own` or a new one if it has none. Raises RedisError."""
    await redis.set(keys.SIGNING_KEY, own or secrets.token_bytes(PRIVATE_KEY_BYTES), nx=True)
    return cast("bytes", await redis.get(keys.SIGNING_KEY))


async def copy_private_key(redis: Redis, private: bytes) -> None:
    """Give each bucket of a Cluster a copy of this key, as far as its node answers."""
    await asyncio.gather(*(redis.set(name, private) for name in _copies(redis)), return_exceptions=True)


async def read_copied_key(redis: Redis) -> bytes | None:
    """Return the key by one of its copies, or None if no node that answers has one."""
    found: list[Any] = await asyncio.gather(*(redis.get(name) for name in _copies(redis)), return_exceptions=True)
    return next((copy for copy in found if isinstance(copy, bytes)), None)


async def read_private_key(redis: Redis) -> bytes | None:
    """Return the private key of this deployment, or None if it has none. Raises RedisError."""
    return cast("bytes | None", await redis.get(keys.SIGNING_KEY))


async def put_private_key(redis: Redis, private: bytes) -> None:
    """Make this the private key of the deployment, whichever it had. Raises RedisError; safe to call again."""
    for name in (keys.SIGNING_KEY, *_copies(redis)):
        await redis.set(name, private)


async def forget_private_key(redis: Redis) -> None:
    """Delete the private key of this deployment. Raises RedisError; safe to call again."""
    for name in (keys.SIGNING_KEY, *_copies(redis)):
        await redis.delete(name)


def _copies(redis: Redis) -> list[str]:
    """Return the keys of the copies; none on a single Redis."""
    count = partition_count(redis)
    return [keys.signing_key_copy(number) for number in range(count)] if count > 1 else []
