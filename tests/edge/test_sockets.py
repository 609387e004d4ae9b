"""Sockets are counted from the moment they are accepted, before a byte is read or TLS begins."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from websockets.frames import Close, Opcode

from fairest_server.app import running
from fairest_server.edge.socket_counts import SPARE, SPARE_IN_ALL, SocketCounts
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.limited import Limited
from tests.support.raw_websocket import RawClient, frame, raw_connection, raw_websocket
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client


@pytest.fixture(params=["tcp", "tls"])
def serving(limited: Limited, tmp_path: Path, request: pytest.FixtureRequest) -> Limited:
    """A server with these settings, with and without TLS."""
    encrypted = {}
    if request.param == "tls":
        encrypted["tls_cert"], encrypted["tls_key"] = make_certificate(tmp_path)
    return partial(limited, hello_seconds=10 * PATIENCE_SECONDS, **encrypted)


async def half_open(stack: AsyncExitStack, url: str, count: int) -> list[RawClient]:
    """Connections that send nothing, each accepted by the server."""
    return [await stack.enter_async_context(raw_connection(url)) for _ in range(count)]


def sockets() -> float:
    return REGISTRY.get_sample_value("fairest_sockets") or 0


async def test_half_open_handshakes_above_the_limit_of_an_address_are_closed_at_once(serving: Limited) -> None:
    async with serving(connections_per_address=5) as url, AsyncExitStack() as stack:
        clients = await half_open(stack, url, 5 + SPARE + 3)
        async with asyncio.timeout(PATIENCE_SECONDS):
            # They send nothing, so only the limit can end them before the time limit does.
            ended = [await client.reader.read() for client in clients[-3:]]
        assert ended == [b""] * 3


async def test_half_open_handshakes_are_counted_as_sockets(serving: Limited) -> None:
    before = sockets()

    async def are_counted() -> bool:
        return sockets() == before + 7

    async with serving() as url, AsyncExitStack() as stack:
        await half_open(stack, url, 7)
        await until(are_counted, "half-open handshakes are counted")


async def test_sockets_that_have_ended_are_not_counted_any_more(serving: Limited) -> None:
    before = sockets()

    async def are_gone() -> bool:
        return sockets() == before

    async with serving(connections_per_address=5) as url:
        async with AsyncExitStack() as stack:
            await half_open(stack, url, 5 + SPARE)
        await until(are_gone, "sockets are not counted any more")


async def test_a_refused_socket_is_counted_as_turned_away(serving: Limited) -> None:
    def turned_away() -> float:
        return REGISTRY.get_sample_value("fairest_turned_away_total", {"reason": "sockets"}) or 0

    before = turned_away()
    async with serving(connections_per_address=5) as url, AsyncExitStack() as stack:
        clients = await half_open(stack, url, 5 + SPARE + 1)
        await clients[-1].reader.read()
        assert turned_away() == before + 1


async def test_a_handshake_that_is_not_ended_in_time_is_cut_off_and_counted(serving: Limited) -> None:
    def cut_off() -> float:
        return REGISTRY.get_sample_value("fairest_cut_off_total", {"reason": "handshake"}) or 0

    before = cut_off()
    async with serving(hello_seconds=0.2) as url, raw_connection(url) as client:
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await client.reader.read() == b""
    assert cut_off() == before + 1


async def test_a_server_with_half_open_handshakes_ends(serving: Limited) -> None:
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE_SECONDS), serving() as url:
        await half_open(stack, url, 3)


async def test_half_open_handshakes_of_one_address_leave_room_for_its_players(redis_url: str) -> None:
    """Fewer than an address may have: the limit is one for all sockets of an address, open or not."""
    settings = Settings(port=0, redis_url=redis_url, connections_per_address=5)
    async with running(settings) as url, AsyncExitStack() as stack:
        await half_open(stack, url, 3)
        async with open_client(url):
            pass


async def test_pages_are_counted_only_while_they_are_answered(redis_url: str) -> None:
    settings = Settings(port=0, redis_url=redis_url, connections_per_address=2)
    async with running(settings) as url:
        for _ in range(2 * 2 + SPARE):
            async with raw_connection(url) as client:
                client.writer.write(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")
                assert b" 200 " in await client.reader.readline()


def counts(now: Callable[[], float] = lambda: 0.0, **settings: object) -> SocketCounts:
    return SocketCounts(Settings.model_validate(settings), now)


def test_all_addresses_together_have_a_limit() -> None:
    counted = counts(max_connections=10)
    added = [counted.try_add(f"203.0.{number // 250}.{number % 250}") for number in range(10 + SPARE_IN_ALL + 5)]
    assert added == [True] * (10 + SPARE_IN_ALL) + [False] * 5


def test_a_trusted_proxy_has_no_limit_of_its_own() -> None:
    counted = counts(connections_per_address=1, trusted_proxies="10.0.0.0/8")
    assert all(counted.try_add("10.0.0.1") for _ in range(200))


def test_an_address_of_ipv6_counts_as_its_network() -> None:
    counted = counts(connections_per_address=1)
    assert [counted.try_add(f"2001:db8::{number}") for number in range(1 + SPARE + 1)][-1] is False


def test_an_address_that_connects_again_and_again_has_to_wait() -> None:
    now = 0.0
    counted = counts(lambda: now, connections_per_address=10)

    def reconnect() -> bool:
        if not counted.try_add("203.0.113.7"):
            return False
        counted.remove("203.0.113.7")
        return True

    assert [reconnect() for _ in range(2 * 10 + SPARE + 1)] == [True] * (2 * 10 + SPARE) + [False]
    now = 1.0
    assert [reconnect() for _ in range(19)] == [True] * 18 + [False]


async def test_two_origins_or_hosts_are_refused_in_words(redis_url: str) -> None:
    async with running(Settings(port=0, redis_url=redis_url)) as url:
        for name in (b"Origin", b"Host"):
            async with raw_connection(url) as client:
                headers = name + b": http://localhost\r\n"
                client.writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n" + headers * 2 + b"\r\n")
                answer = await client.reader.read()
                assert answer.startswith(b"HTTP/1.1 400 ")
                assert b"A request has one " + name + b" header" in answer


async def test_a_page_whose_name_leads_here_may_not_connect(redis_url: str) -> None:
    async with running(Settings(port=0, redis_url=redis_url)) as url, raw_connection(url) as client:
        host = b"evil.example:" + url.rpartition(":")[2].encode()
        client.writer.write(b"GET /connect HTTP/1.1\r\nHost: " + host + b"\r\nOrigin: http://" + host + b"\r\n\r\n")
        assert (await client.reader.read()).startswith(b"HTTP/1.1 403 ")


async def test_a_refused_connection_does_not_keep_its_client_waiting(redis_url: str) -> None:
    settings = Settings(port=0, redis_url=redis_url, connections_per_address=1)
    async with running(settings) as url, raw_websocket(url), raw_connection(url) as client:
        client.writer.write(b"GET /connect HTTP/1.1\r\nHost: here\r\n\r\n")
        assert (await client.reader.read()).startswith(b"HTTP/1.1 429 ")


async def test_a_client_that_closes_its_socket_right_behind_its_close_frame_is_no_fault_of_the_server(
    redis_url: str,
) -> None:
    before = sockets()

    async def have_ended() -> bool:
        return sockets() == before

    async with running(Settings(port=0, redis_url=redis_url)) as url:
        with capture_logs() as logged:
            for _ in range(20):
                async with raw_websocket(url) as client:
                    client.writer.write(frame(Opcode.CLOSE, Close(1000, "").serialize()))
                    client.writer.close()
            await until(have_ended, "all sockets have ended")
    assert [each for each in logged if each["log_level"] == "error"] == []
