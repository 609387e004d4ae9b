"""The private key of a deployment on a real Redis: the first one stays."""

from typing import Any, cast

from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.cluster_client import partition_count
from fairest_server.store.signing_key import (
    PRIVATE_KEY_BYTES,
    copy_private_key,
    forget_private_key,
    load_private_key,
    put_private_key,
    read_copied_key,
    read_private_key,
)
from tests.support.redis_cluster import RedisCluster


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


async def test_the_key_of_a_deployment_is_read_without_making_one(redis: Redis) -> None:
    assert await read_private_key(redis) is None
    assert await load_private_key(redis) == await read_private_key(redis)


async def test_each_bucket_of_a_cluster_has_a_copy_of_the_key_and_a_single_redis_has_none(redis: Redis) -> None:
    await copy_private_key(redis, bytes(32))
    copies = [await redis.get(keys.signing_key_copy(number)) for number in range(keys.BUCKETS)]
    assert copies == [bytes(32) if partition_count(redis) > 1 else None] * keys.BUCKETS


async def test_a_key_that_is_put_replaces_the_copies(cluster: RedisCluster) -> None:
    async with make_client(cluster.url) as redis:
        await copy_private_key(redis, bytes(32))
        await put_private_key(redis, b"x" * 32)
        assert await read_copied_key(redis) == b"x" * 32


async def test_a_key_that_is_forgotten_leaves_no_copies(cluster: RedisCluster) -> None:
    async with make_client(cluster.url) as redis:
        await copy_private_key(redis, bytes(32))
        await forget_private_key(redis)
        assert await read_copied_key(redis) is None


async def test_the_nodes_that_answer_get_a_copy_of_the_key(cluster: RedisCluster) -> None:
    cluster.nodes[0].call("CONFIG", "SET", "min-replicas-to-write", 1)
    try:
        async with make_client(cluster.url) as redis:
            await copy_private_key(redis, bytes(32))
            assert await read_copied_key(redis) == bytes(32)
    finally:
        cluster.nodes[0].call("CONFIG", "SET", "min-replicas-to-write", 0)


async def test_a_copy_that_cannot_be_read_does_not_matter(cluster: RedisCluster) -> None:
    async with make_client(cluster.url) as redis:
        await copy_private_key(redis, bytes(32))
        await redis.delete(keys.signing_key_copy(0))
        await cast("Any", redis.rpush(keys.signing_key_copy(0), "no string"))
        assert await read_copied_key(redis) == bytes(32)
