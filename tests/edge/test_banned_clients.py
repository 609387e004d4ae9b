"""Clients of banned players and addresses that try to get round the ban."""

from collections.abc import Sequence

import pytest
from redis.asyncio import Redis
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.frames import Opcode

from fairest_protocol.messages.from_client import Hello, Renew
from fairest_protocol.messages.from_server import Renewed, Welcome
from fairest_server.edge import outbox
from fairest_server.live.bans import Bans
from fairest_server.store import keys
from fairest_server.store.bans import Ban, BanStore, parse_network
from fairest_server.store.players import Players
from tests.support.isolated_room import SteadyClock
from tests.support.limited import Limited
from tests.support.raw_http import ask
from tests.support.raw_websocket import frame, raw_websocket
from tests.support.waiting import until
from tests.support.wire_client import open_client, open_raw_client

Headers = Sequence[tuple[str, str]]


async def ban_network(redis: Redis, text: str) -> None:
    await BanStore(redis).put(Ban(network=str(parse_network(text)), since_ms=0, until_ms=None, reason=None))


async def status_with(url: str, headers: Headers) -> int:
    """The HTTP status of the answer to an opening handshake with these headers; 101 is a connection."""
    try:
        async with connect(url, additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as reason:
        return reason.response.status_code


@pytest.mark.parametrize(
    ("network", "headers"),
    [
        ("203.0.113.7", [("X-Forwarded-For", "203.0.113.7")]),
        ("203.0.113.7", [("X-Forwarded-For", "198.51.100.1, 203.0.113.7")]),
        ("203.0.113.7", [("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.7")]),
        ("203.0.113.7", [("X-Forwarded-For", "203.0.113.7,")]),
        ("203.0.113.7", [("X-Forwarded-For", "203.0.113.7, 127.0.0.1")]),
        ("203.0.113.7", [("X-Forwarded-For", "203.0.113.7:4711")]),
        ("203.0.113.7", [("X-Forwarded-For", "::ffff:203.0.113.7")]),
        ("203.0.113.7", [("X-Forwarded-For", "[::FFFF:cb00:7107]:4711")]),
        ("203.0.113.7", [("Forwarded", "for=198.51.100.1"), ("X-Forwarded-For", "203.0.113.7")]),
        ("203.0.113.7", [("X-Real-IP", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.7")]),
        ("::ffff:203.0.113.7", [("X-Forwarded-For", "203.0.113.7")]),
        ("203.0.113.0/24", [("X-Forwarded-For", "203.0.113.254")]),
        ("2001:db8:0:aa01::1", [("X-Forwarded-For", "2001:db8:0:aa01:ffff:ffff:ffff:ffff")]),
        ("2001:db8:0:aa01::1", [("X-Forwarded-For", "2001:0DB8:0000:AA01::7%eth0")]),
        ("2001:db8:0:aa01::1/56", [("X-Forwarded-For", "2001:db8:0:aaff::1")]),
    ],
)
async def test_a_banned_address_is_banned_however_a_trusted_proxy_writes_it(
    limited: Limited, redis: Redis, network: str, headers: Headers
) -> None:
    await ban_network(redis, network)
    async with limited(trusted_proxies="127.0.0.1") as url:
        assert await status_with(url, headers) == 403


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Forwarded-For", "198.51.100.1")],
        [("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "198.51.100.2")],
        [("Forwarded", "for=198.51.100.1;by=127.0.0.1")],
        [("X-Real-IP", "198.51.100.1")],
        [("CF-Connecting-IP", "198.51.100.1"), ("True-Client-IP", "198.51.100.1")],
    ],
)
async def test_a_banned_address_that_claims_to_be_another_one_is_banned(
    limited: Limited, redis: Redis, headers: Headers
) -> None:
    await ban_network(redis, "127.0.0.1")
    async with limited() as url:
        assert await status_with(url, headers) == 403


async def test_nobody_is_banned_by_the_address_that_a_client_claims(limited: Limited, redis: Redis) -> None:
    await ban_network(redis, "203.0.113.7")
    async with limited() as url:
        assert await status_with(url, [("X-Forwarded-For", "203.0.113.7")]) == 101


def test_a_ban_of_a_network_of_56_bits_holds_for_each_network_of_64_bits_in_it() -> None:
    bans = Bans(SteadyClock())
    bans.replace([Ban(network=str(parse_network("2001:db8:0:aa17::9/56")), since_ms=0, until_ms=None, reason=None)])
    held = [bans.of_address(f"2001:db8:0:aa{number:02x}::/64") is not None for number in range(256)]
    assert (all(held), bans.of_address("2001:db8:0:ab00::/64")) == (True, None)


async def test_a_ban_by_a_name_that_was_changed_reaches_its_player(limited: Limited, redis: Redis) -> None:
    players, store = Players(redis), BanStore(redis)
    async with limited() as url:
        async with open_client(url, name="mallory") as first, open_client(url, token=first.token, name="harmless"):
            player_id = await players.find("MALLORY")
        await store.put(Ban(player=player_id, name="mallory", since_ms=0, until_ms=None, reason=None))

        async def is_banned() -> bool:
            async with open_raw_client(url) as again:
                await again.send(Hello(token=first.token))
                return not isinstance(await again.receive(), Welcome)

        await until(is_banned, "the player is banned under its new name")


async def test_a_banned_player_that_has_renewed_its_token_is_banned(limited: Limited, redis: Redis) -> None:
    renewed = "N" * 43
    async with limited() as url:
        async with open_client(url, name="mallory") as client:
            player_id = await Players(redis).find("mallory")
            await client.send(Renew(token=renewed))
            await client.receive_a(Renewed)
        await BanStore(redis).put(Ban(player=player_id, name="mallory", since_ms=0, until_ms=None, reason=None))

        async def is_banned() -> bool:
            async with open_raw_client(url) as again:
                await again.send(Hello(token=renewed))
                return not isinstance(await again.receive(), Welcome)

        await until(is_banned, "the player is banned with its new token")


async def test_names_are_not_changed_without_end(limited: Limited) -> None:
    async with limited(players_per_address=2) as url, open_client(url, name="ann") as ann:
        async with open_client(url, token=ann.token, name="bob"):
            pass
        async with open_raw_client(url) as again:
            refused = await again.expect_refusal(Hello(token=ann.token, name="cid"))
            assert (refused.code, "names were changed" in refused.sentence) == ("too_many_players", True)


async def test_a_player_that_is_banned_in_the_queue_leaves_it_although_its_client_stays(
    limited: Limited, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSING_SECONDS", 3_600.0)
    monkeypatch.setattr(outbox, "MAX_CLOSING_SECONDS", 3_600.0)
    async with limited(heartbeat_seconds=3_600) as url, raw_websocket(url) as mallory:
        for message in (b'{"type":"hello","name":"mallory"}', b'{"type":"queue"}'):
            mallory.writer.write(frame(Opcode.TEXT, message))
        while b'"queued"' not in (await mallory.receive())[1]:
            pass
        player_id = await Players(redis).find("mallory")
        await BanStore(redis).put(Ban(player=player_id, name="mallory", since_ms=0, until_ms=None, reason=None))

        # It does not answer the close frame, so that its connection stays.
        async def is_empty() -> bool:
            return await redis.hlen(keys.TICKETS) == 0

        await until(is_empty, "no ticket is left")


@pytest.mark.parametrize("path", ["/rounds", "/matches", "/leaderboard", "/lobby", "/key"])
async def test_a_banned_address_may_read_what_it_needs_to_check_the_server(
    limited: Limited, redis: Redis, path: str
) -> None:
    await ban_network(redis, "127.0.0.1")
    async with limited() as url:
        assert (await status_with(url, []), (await ask(url, path)).status) == (403, 200)
