"""The key of a deployment: it is given back to a Redis that lost it, and copied now and then on a Cluster."""

import pytest
from structlog.testing import capture_logs

from fairest_server.live.signing import COPY_STRIDE, DeploymentKey, SigningKey, load_deployment_key
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.redis_cluster import RedisCluster

OWN = bytes(range(32))
OTHER = bytes(32)


async def test_a_deployment_without_a_key_draws_one_and_keeps_it(redis: BatchingRedis) -> None:
    first, second = await load_deployment_key(redis), await load_deployment_key(redis)
    assert first.public == second.public


async def test_a_redis_that_lost_the_key_is_given_it_again(redis: BatchingRedis) -> None:
    await DeploymentKey(redis, SigningKey(OWN)).keep()
    assert await redis.get(keys.SIGNING_KEY) == OWN


async def test_a_key_that_another_process_stored_meanwhile_is_the_key_from_then_on(redis: BatchingRedis) -> None:
    key = DeploymentKey(redis, SigningKey(OWN))
    await redis.set(keys.SIGNING_KEY, OTHER)
    with capture_logs() as logged:
        await key.keep()
    assert (key.public, [line["key"] for line in logged]) == (SigningKey(OTHER).public, [key.public.hex()])


async def test_the_copies_of_a_key_are_written_when_it_is_kept_first_and_each_time_that_it_was_kept_so_often(
    cluster: RedisCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[bytes] = []

    async def copy(_: object, private: bytes) -> None:
        copied.append(private)

    monkeypatch.setattr("fairest_server.live.signing.copy_private_key", copy)
    async with make_client(cluster.url) as redis:
        key = DeploymentKey(redis, SigningKey(OWN))
        counts = []
        for _ in range(2 * COPY_STRIDE + 1):
            await key.keep()
            counts.append(len(copied))
    assert counts == [1] * COPY_STRIDE + [2] * COPY_STRIDE + [3]
