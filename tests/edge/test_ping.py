"""`ping`, the sign of life for programs that cannot send WebSocket pings."""

import time

from prometheus_client import REGISTRY

from fairest_protocol.messages.from_client import Ping
from fairest_protocol.messages.from_server import Error, Pong
from fairest_protocol.messages.refusals import Breach
from tests.support.limited import Limited
from tests.support.waiting import until
from tests.support.wire_client import open_client, open_raw_client, racing_players

HOUR_MS = 3_600_000


async def test_a_ping_is_answered_with_the_time_of_the_server(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.send(Ping())
        assert abs((await client.receive_a(Pong)).now_ms - time.time() * 1000) < HOUR_MS


async def test_pings_are_answered_in_order_with_times_that_do_not_go_back(server_url: str) -> None:
    async with open_client(server_url) as client:
        for _ in range(3):
            await client.send(Ping())
        times = [(await client.receive_a(Pong)).now_ms for _ in range(3)]
        assert times == sorted(times)


async def test_a_ping_is_answered_in_a_race(server_url: str) -> None:
    async with racing_players(server_url) as (player, _):
        await player.send(Ping())
        assert (await player.receive_a(Pong)).now_ms > 0


async def test_a_ping_before_hello_ends_the_connection(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Ping())
        assert (await client.receive_a(Error)).code is Breach.HELLO_FIRST


def throttled() -> float:
    return REGISTRY.get_sample_value("fairest_throttled_total") or 0.0


async def test_a_ping_costs_one_message(limited: Limited) -> None:
    """`hello` and nine pings use up a burst of ten, and the tenth ping makes its client wait."""
    async with limited(messages_burst=10, messages_per_second=1 / 3600) as url, open_client(url) as client:
        counts = []
        for _ in range(10):
            counts.append(throttled())
            await client.send(Ping())
            await client.receive_a(Pong)

        async def is_throttled() -> bool:
            return throttled() == counts[0] + 1

        await until(is_throttled, "the tenth ping is charged")
        assert counts == [counts[0]] * 10
