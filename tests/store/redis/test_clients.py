"""The settings of the clients of Redis."""

from collections.abc import Sequence
from typing import Any

import pytest
from redis.asyncio import ConnectionPool
from redis.exceptions import RedisError

from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import describe_unfit, make_client, without_secrets
from fairest_server.store.redis.driver import RedisCommand


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        pytest.param("socket_timeout", 7.0, id="replies have the time limit of the caller"),
        pytest.param("socket_connect_timeout", 2.0, id="a connection is made within two seconds"),
        pytest.param("health_check_interval", 0, id="redis-py sends no pings of its own"),
    ],
)
async def test_a_connection_has_this_setting(option: str, expected: float) -> None:
    async with make_client("redis://localhost:1", timeout_seconds=7.0) as client:
        assert client.connection_pool.connection_kwargs[option] == expected


async def test_a_reply_has_two_seconds_unless_the_caller_says_otherwise() -> None:
    async with make_client("redis://localhost:1") as client:
        assert client.connection_pool.connection_kwargs["socket_timeout"] == 2.0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("rediss://ann:hunter2@host:6379/0", "rediss://host:6379/0"),
        ("redis+cluster://:hunter2@one:1,two:2", "redis+cluster://one:1,two:2"),
        ("redis://host/0?password=hunter2", "redis://host/0"),
        ("unix:///run/redis.sock?db=1&password=hunter2", "unix:///run/redis.sock"),
        ("ann:hunter2@host", "host"),
    ],
)
def test_a_url_is_shown_without_user_password_and_parameters(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


class Told(BatchingRedis):
    """A Redis that describes itself by these words."""

    def __init__(self, **told: object) -> None:
        super().__init__(connection_pool=ConnectionPool())
        self.told = told

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        return [self.told if words[0] == "INFO" else 0 for words, _ in commands]


@pytest.mark.parametrize(
    ("told", "begins"),
    [
        ({"redis_mode": "sentinel"}, "redis://host:1 is a Sentinel"),
        ({"server_mode": "sentinel"}, "redis://host:1 is a Sentinel"),
        (
            {"redis_mode": "cluster", "cluster_enabled": 1},
            "the Redis at redis://host:1 is a node of a Cluster; give --redis-url redis+cluster://host:1",
        ),
        ({"redis_mode": "standalone", "cluster_enabled": 0}, None),
    ],
    ids=["a Sentinel of Redis", "a Sentinel of another engine", "a node of a Cluster", "a single Redis"],
)
async def test_no_server_starts_on_a_redis_of_another_kind(told: dict[str, object], begins: str | None) -> None:
    unfit = await describe_unfit(Told(**told), "redis://ann:secret@host:1")
    assert unfit is None if begins is None else str(unfit).startswith(begins)


async def test_no_server_starts_on_a_cluster_of_which_no_node_answers() -> None:
    url = "redis+cluster://127.0.0.1:9"
    async with make_client(url) as client:
        with pytest.raises(RedisError, match="no node of the Cluster says which slots it serves"):
            await describe_unfit(client, url)


async def test_a_node_of_a_cluster_replies_within_the_time_limit_of_the_caller() -> None:
    async with make_client("redis+cluster://one:1", timeout_seconds=7.0) as client:
        assert client.connection_pool.connection_kwargs["socket_timeout"] == 7.0
