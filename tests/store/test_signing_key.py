"""The private key of a deployment on a real Redis: the first one stays."""

from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.signing_key import PRIVATE_KEY_BYTES, load_private_key


async def test_all_processes_of_a_deployment_load_the_same_key(redis: Redis) -> None:
    assert await load_private_key(redis) == await load_private_key(redis)


async def test_a_new_key_has_32_random_bytes(redis: Redis) -> None:
    first = await load_private_key(redis)
    await redis.delete(keys.SIGNING_KEY)
    assert len(first) == len(await load_private_key(redis)) == PRIVATE_KEY_BYTES == 32
    assert await load_private_key(redis) != first


async def test_a_deployment_without_a_key_takes_the_one_that_it_is_given(redis: Redis) -> None:
    assert await load_private_key(redis, bytes(32)) == bytes(32)


async def test_a_deployment_that_has_a_key_keeps_it(redis: Redis) -> None:
    await load_private_key(redis, bytes(32))
    assert await load_private_key(redis, b"x" * 32) == bytes(32)
