"""The settings of the clients of Redis."""

import pytest

from fairest_server.store.redis.clients import make_client, without_secrets


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
