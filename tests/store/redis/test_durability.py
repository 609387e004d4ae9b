"""The promise of a Redis, read from its own settings."""

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.durability import judge_durability, read_durability
from tests.support.processes import redis_process
from tests.support.redis_cluster import redis_cluster


@pytest.mark.parametrize(
    ("settings", "promise"),
    [
        ({"appendonly": "no"}, "none: accepted moves are in memory only"),
        (
            {"appendonly": "yes", "appendfsync": "everysec"},
            "a power cut, or a Redis killed during a flush, may cost the last two seconds",
        ),
        (
            {"appendonly": "yes", "appendfsync": "always"},
            "an accepted move is on disk: none is lost when Redis is killed or the power fails",
        ),
        (
            {"appendonly": "yes", "appendfsync": "no"},
            "an accepted move survives a killed Redis; a power cut may cost what the system has not written",
        ),
    ],
)
def test_the_promise_follows_from_the_settings(settings: dict[str, str], promise: str) -> None:
    assert judge_durability(settings).promise == promise


def test_a_redis_that_forgets_rooms_when_it_is_full_is_warned_of() -> None:
    settings = {"appendonly": "yes", "appendfsync": "always", "maxmemory": "1000000", "maxmemory-policy": "allkeys-lru"}
    assert judge_durability(settings).warnings == (
        "maxmemory-policy is not noeviction: rooms vanish when memory is full",
    )


async def test_the_promise_is_read_from_the_redis_that_is_used(redis: Redis) -> None:
    assert "memory only" in (await read_durability(redis)).promise


async def test_a_cluster_promises_what_its_weakest_node_promises() -> None:
    with redis_cluster("--appendonly", "yes", "--appendfsync", "always") as cluster:
        cluster.nodes[1].call("CONFIG", "SET", "appendfsync", "everysec")
        async with make_client(cluster.url) as redis:
            assert (await read_durability(redis)).level == "everysec"


@pytest.mark.long
async def test_a_node_that_does_not_answer_is_named_and_the_others_are_read() -> None:
    with redis_cluster("--appendonly", "yes", "--appendfsync", "always") as cluster:
        cluster.nodes[1].kill()
        async with make_client(cluster.url) as redis:
            found = await read_durability(redis)
        assert found.level == "always"
        assert found.warnings == (f"the node {cluster.nodes[1].address} does not answer, so its settings are unknown",)


@pytest.mark.long
async def test_a_cluster_of_which_no_node_answers_any_more_is_an_error() -> None:
    with redis_cluster() as cluster:
        async with make_client(cluster.url) as redis:
            await read_durability(redis)
            for node in cluster.nodes:
                node.kill()
            with pytest.raises((RedisError, OSError)):
                await read_durability(redis)


async def test_a_redis_that_hides_its_settings_promises_nothing_that_is_known() -> None:
    with redis_process() as process:
        process.call("ACL SETUSER", "ann", "on", ">secret", "+@all", "-config")
        async with make_client(f"{process.url}?username=ann&password=secret") as redis:
            found = await read_durability(redis)
    assert found.promise == "unknown: this Redis does not let us read its settings"


def test_a_redis_that_keeps_nothing_on_disk_is_warned_of() -> None:
    assert judge_durability({"appendonly": "no"}).warnings == (
        "appendonly is off: a Redis that is killed forgets rooms and records",
    )


def test_a_redis_that_keeps_everything_is_not_warned_of() -> None:
    settings = {"appendonly": "yes", "appendfsync": "always", "maxmemory": "1000000", "maxmemory-policy": "noeviction"}
    assert judge_durability(settings).warnings == ()


@pytest.mark.parametrize("limit", [{"maxmemory": "0"}, {}])
def test_a_redis_without_a_limit_of_memory_may_have_any_policy(limit: dict[str, str]) -> None:
    settings = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "allkeys-lru"}
    assert judge_durability(settings | limit).warnings == ()


async def test_the_policy_of_a_running_redis_is_read() -> None:
    with redis_process() as process:
        process.call("CONFIG SET", "maxmemory", "100000000")
        process.call("CONFIG SET", "maxmemory-policy", "allkeys-lru")
        async with make_client(process.url) as redis:
            found = await read_durability(redis)
    assert "maxmemory-policy is not noeviction: rooms vanish when memory is full" in found.warnings
