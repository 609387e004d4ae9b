"""Bans: what counts as a network, and what Redis holds."""

import pytest
from redis.asyncio import Redis

from fairest_server.live.bans import Bans
from fairest_server.live.redis_clock import RedisClock
from fairest_server.store import keys
from fairest_server.store.bans import BadNetwork, Ban, BanStore, parse_network


def ban_of(network: str, until_ms: int | None = None) -> Ban:
    return Ban(network=network, since_ms=1, until_ms=until_ms, reason=None)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("1.2.3.4", "1.2.3.4/32"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::/48", "2001:db8::/48"),
        ("::ffff:203.0.113.7", "203.0.113.7/32"),
        ("::FFFF:CB00:7107", "203.0.113.7/32"),
        ("::ffff:203.0.113.0/120", "203.0.113.0/24"),
    ],
)
def test_an_address_is_banned_as_a_network(text: str, network: str) -> None:
    assert str(parse_network(text)) == network


@pytest.mark.parametrize("text", ["0.0.0.0/0", "::/0", "10.0.0.0/7", "::ffff:0:0/96", "1.2.3", "ann"])
def test_a_text_that_is_no_network_or_too_large_a_one_is_refused(text: str) -> None:
    with pytest.raises(BadNetwork):
        parse_network(text)


@pytest.mark.parametrize(
    ("address", "is_banned"),
    [
        ("10.9.8.7", True),
        ("11.0.0.1", False),
        ("2001:db8::/64", True),
        ("2001:db9::/64", False),
        ("'proxy text'", False),
    ],
)
def test_an_address_is_compared_with_the_banned_networks(address: str, is_banned: bool) -> None:
    bans = Bans(RedisClock())
    bans.replace([ban_of("10.0.0.0/8"), ban_of("2001:db8::/48")])
    assert (bans.of_address(address) is not None) is is_banned


def test_a_ban_that_is_over_does_not_hold() -> None:
    assert (ban_of("10.0.0.0/8", 5).holds(4), ban_of("10.0.0.0/8", 5).holds(5)) == (True, False)


async def test_a_change_gives_the_bans_another_version(redis: Redis) -> None:
    store = BanStore(redis)
    await store.put(ban_of("10.0.0.0/8"))
    first, _ = await store.read()
    await store.remove("10.0.0.0/8")
    assert await store.read() != (first, [])
    assert (await store.read())[1] == []


async def test_a_ban_that_is_over_is_removed_with_the_next_change(redis: Redis) -> None:
    store = BanStore(redis)
    await store.put(ban_of("10.0.0.0/8", until_ms=5))
    await store.put(ban_of("11.0.0.0/8"))
    assert [each.network for each in (await store.read())[1]] == ["11.0.0.0/8"]


async def test_an_entry_that_is_not_a_ban_is_left_out(redis: Redis) -> None:
    await redis.hset(keys.BANS, mapping={"network:x": "{", "version": "3"})
    assert await BanStore(redis).read() == ("3", [])


async def test_the_clock_of_the_bans_is_that_of_redis(redis: Redis) -> None:
    def in_ms(time: tuple[int, int]) -> int:
        return time[0] * 1000 + time[1] // 1000

    before, now_ms, after = await redis.time(), await BanStore(redis).now_ms(), await redis.time()
    assert in_ms(before) <= now_ms <= in_ms(after)


def test_the_ban_of_a_player_is_named_by_the_name() -> None:
    ban = Ban(player="0" * 64, name="ann", since_ms=0, until_ms=None, reason=None)
    assert (ban.subject, ban.field) == ("ann", "player:" + "0" * 64)


def test_the_ban_of_a_network_is_named_by_the_network() -> None:
    assert (ban_of("10.0.0.0/8").subject, ban_of("10.0.0.0/8").field) == ("10.0.0.0/8", "network:10.0.0.0/8")


def test_a_ban_of_nobody_has_no_name() -> None:
    assert Ban(since_ms=0, until_ms=None, reason=None).subject == ""


async def test_without_bans_there_is_no_version(redis: Redis) -> None:
    assert await BanStore(redis).read() == ("", [])


async def test_the_version_counts_the_changes(redis: Redis) -> None:
    store = BanStore(redis)
    await store.put(ban_of("10.0.0.0/8"))
    await store.put(ban_of("11.0.0.0/8"))
    assert (await store.read())[0] == "2"


async def test_bans_behind_an_entry_that_is_not_one_are_read(redis: Redis) -> None:
    await redis.hset(keys.BANS, "network:x", "{")
    await BanStore(redis).put(ban_of("10.0.0.0/8"))
    assert (await BanStore(redis).read())[1] == [ban_of("10.0.0.0/8")]


@pytest.mark.parametrize("subject", ["10.0.0.0/8", "10.1.2.3/8"])
async def test_the_bans_that_are_removed_are_returned(redis: Redis, subject: str) -> None:
    store = BanStore(redis)
    await store.put(ban_of("10.0.0.0/8"))
    await store.put(ban_of("11.0.0.0/8"))
    assert await store.remove(subject) == [ban_of("10.0.0.0/8")]
    assert (await store.read())[1] == [ban_of("11.0.0.0/8")]


async def test_a_subject_that_is_not_banned_has_no_bans_to_remove(redis: Redis) -> None:
    assert await BanStore(redis).remove("ann") == []
