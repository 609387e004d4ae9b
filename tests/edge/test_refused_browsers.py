"""A browser whose connection is refused reads why: an `error` and a close code. It gets nothing else from us."""

import asyncio
import ssl
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Opcode
from websockets.typing import Origin, Subprotocol

from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.from_client import Hello
from fairest_protocol.messages.from_server import Error
from fairest_protocol.messages.refusals import Breach
from fairest_server.app import running
from fairest_server.edge import outbox
from fairest_server.live.drain import Drain
from fairest_server.settings import Settings
from fairest_server.store.bans import Ban, BanStore
from tests.support.certificates import make_certificate
from tests.support.limited import Limited
from tests.support.raw_websocket import UPGRADE, RawClient, frame, raw_connection
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import open_client

FRIEND = "https://friend.example"
EVIL = "https://evil.example"


async def refusal_of(url: str, origin: str = FRIEND) -> tuple[str, str, int | None]:
    """Return the code and the sentence of the `error` that a browser is sent, and the close code."""
    errors = []
    protocols = [Subprotocol("fairest.v1")]
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        connect(url, origin=Origin(origin), subprotocols=protocols, proxy=None) as socket,
    ):
        assert socket.subprotocol == "fairest.v1"
        with suppress(ConnectionClosed):
            while True:
                errors.append(decode_from_server(await socket.recv()))
    [error] = errors
    assert isinstance(error, Error)
    return error.code, error.sentence, socket.close_code


def request_of(origin: str) -> bytes:
    """Return the handshake of a browser with a page of this origin."""
    return UPGRADE.replace(b"\r\n\r\n", b"\r\nOrigin: %b\r\n\r\n" % origin.encode())


async def receive_all(client: RawClient) -> bytes:
    """Return all bytes up to the end of the stream."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await client.reader.read()


def client_context(cert: Path) -> ssl.SSLContext:
    """Return the TLS context of a client that trusts the server with this certificate, by its address too."""
    context = ssl.create_default_context(cafile=cert)
    context.check_hostname = False
    return context


def gauge(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


async def test_a_page_of_another_site_reads_that_it_may_not_connect(limited: Limited) -> None:
    async with limited() as url:
        code, sentence, close_code = await refusal_of(url, EVIL)
    assert (code, close_code) == ("other_site", 4411)
    assert sentence == f"Pages of '{EVIL}' may not connect here (--own-hosts, --origins)."


async def test_a_browser_reads_that_its_address_has_too_many_connections(limited: Limited) -> None:
    async with limited(connections_per_address=1, origins=FRIEND) as url, open_client(url):
        assert await refusal_of(url) == (
            "too_many_connections",
            "Too many connections from your address; close one of them.",
            1013,
        )


async def test_a_browser_reads_that_the_server_is_full(limited: Limited) -> None:
    async with limited(max_connections=1, origins=FRIEND) as url, open_client(url):
        assert await refusal_of(url) == ("server_full", "This server is full; try again later.", 1013)


async def test_a_browser_reads_that_it_is_banned(limited: Limited, redis: Redis) -> None:
    await BanStore(redis).put(Ban(network="127.0.0.0/8", since_ms=0, until_ms=None, reason="bad manners"))
    async with limited(origins=FRIEND) as url:
        assert await refusal_of(url) == ("banned", "You are banned from this server: bad manners", 4410)


async def test_a_browser_is_sent_elsewhere_by_a_process_that_drains(redis_url: str) -> None:
    drain = Drain()
    async with running(Settings(port=0, redis_url=redis_url, origins=FRIEND), drain=drain) as url:
        drain.request(None)
        assert await refusal_of(url) == ("restarting", "This process is about to end; connect to another one.", 1012)


async def test_a_page_of_another_site_learns_nothing_of_a_ban(limited: Limited, redis: Redis) -> None:
    await BanStore(redis).put(Ban(network="127.0.0.0/8", since_ms=0, until_ms=None, reason="bad manners"))
    async with limited() as url:
        assert (await refusal_of(url, EVIL))[0] == "other_site"


async def test_a_page_of_another_site_does_not_learn_that_the_server_is_full(limited: Limited) -> None:
    async with limited(max_connections=1) as url, open_client(url):
        assert (await refusal_of(url, EVIL))[0] == "other_site"


async def test_a_program_is_refused_by_the_status_of_http(limited: Limited) -> None:
    async with limited(max_connections=1) as url, open_client(url):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, proxy=None)
        assert refused.value.response.status_code == 503


async def test_a_request_with_an_origin_that_opens_no_websocket_is_refused_by_the_status_of_http(
    limited: Limited,
) -> None:
    async with limited() as url, raw_connection(url) as client:
        client.writer.write(request_of(EVIL).replace(b"Upgrade: websocket\r\n", b"").replace(b"GET / ", b"GET /other "))
        answer = await receive_all(client)
    assert answer.startswith(b"HTTP/1.1 403 ") and b"may not connect here" in answer


async def test_a_browser_that_offers_only_other_protocols_is_refused_by_the_status_of_http(limited: Limited) -> None:
    async with limited() as url, raw_connection(url) as client:
        client.writer.write(request_of(EVIL).replace(b"fairest.v1", b"other.v1"))
        assert (await receive_all(client)).startswith(b"HTTP/1.1 403 ")


async def test_two_origins_are_refused_by_the_status_of_http(limited: Limited) -> None:
    async with limited() as url, raw_connection(url) as client:
        client.writer.write(request_of(f"{EVIL}\r\nOrigin: {FRIEND}"))
        assert (await receive_all(client)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("is_encrypted", [False, True])
async def test_a_refused_browser_is_sent_all_at_once_and_nothing_is_waited_for(
    limited: Limited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_encrypted: bool
) -> None:
    # No time limit ends the stream here: the server does.
    monkeypatch.setattr(outbox, "CLOSING_SECONDS", 3_600.0)
    monkeypatch.setattr(outbox, "MAX_CLOSING_SECONDS", 3_600.0)
    served, tls = limited, None
    if is_encrypted:
        cert, key = make_certificate(tmp_path)
        served, tls = partial(limited, tls_cert=cert, tls_key=key), client_context(cert)
    async with served() as url, raw_connection(url, tls) as client:
        client.writer.write(request_of(EVIL))
        head, _, frames = (await receive_all(client)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    sentence = f"Pages of '{EVIL}' may not connect here (--own-hosts, --origins)."
    error = encode(Error(code=Breach.OTHER_SITE, sentence=sentence))
    assert frames == b"\x81\x7e%b%b\x88\x0c\x11\x3bother_site" % (len(error).to_bytes(2, "big"), error)


async def test_a_refused_browser_does_not_count_as_a_connection(limited: Limited) -> None:
    before = gauge("fairest_connections")
    async with limited(connections_per_address=1) as url, AsyncExitStack() as stack:
        for _ in range(3):
            client = await stack.enter_async_context(raw_connection(url))
            client.writer.write(request_of(EVIL))
            await receive_all(client)
        # None of them has closed its end.
        assert gauge("fairest_connections") == before
        await stack.enter_async_context(open_client(url))


async def test_a_refused_browser_counts_as_turned_away(limited: Limited) -> None:
    before = gauge("fairest_turned_away_total", reason="origin")
    async with limited() as url:
        await refusal_of(url, EVIL)
    assert gauge("fairest_turned_away_total", reason="origin") == before + 1


async def test_messages_of_a_refused_browser_are_not_read(limited: Limited) -> None:
    before = gauge("fairest_messages_total", type="hello")
    async with limited() as url, raw_connection(url) as client:
        client.writer.write(request_of(EVIL) + frame(Opcode.TEXT, encode(Hello())))
        answer = await receive_all(client)
    assert b"welcome" not in answer and gauge("fairest_messages_total", type="hello") == before


async def test_a_refused_browser_that_never_reads_and_never_closes_is_cut_off(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSING_SECONDS", 0.1)
    before = gauge("fairest_sockets")

    async def is_gone() -> bool:
        return gauge("fairest_sockets") == before

    async with limited() as url, raw_connection(url) as client:
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.writer.write(request_of(EVIL))
        await until(partial(turned_away_since, gauge("fairest_turned_away_total", reason="origin")), "it is refused")
        await until(is_gone, "its socket is closed")


async def turned_away_since(count: float) -> bool:
    return gauge("fairest_turned_away_total", reason="origin") > count


async def test_a_refused_browser_that_sends_without_end_is_cut_off(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSING_SECONDS", 0.1)
    async with limited() as url, raw_connection(url) as client, asyncio.timeout(PATIENCE_SECONDS):
        client.writer.write(request_of(EVIL))
        with suppress(OSError):
            while True:
                client.writer.write(frame(Opcode.TEXT, b"x" * 4_000))
                await client.writer.drain()
                # The server runs in this loop too.
                await asyncio.sleep(0)


async def test_refused_browsers_use_up_the_new_sockets_of_their_address(limited: Limited) -> None:
    before = gauge("fairest_turned_away_total", reason="sockets")

    async def is_held_off() -> bool:
        async with raw_connection(url) as client:
            with suppress(OSError):
                client.writer.write(request_of(EVIL))
                await receive_all(client)
        return gauge("fairest_turned_away_total", reason="sockets") > before

    async with limited(connections_per_address=1) as url:
        await until(is_held_off, "the address may have no new sockets for now")
