"""Closed connections and rooms are freed at once: they leave nothing in memory for the garbage collector."""

import asyncio
import gc
import ssl
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Create, Hello, Join, Leave, Resume, Watch
from fairest_protocol.messages.from_server import Error, Left, Snapshot
from fairest_server.app import running
from fairest_server.edge.session import Session
from fairest_server.edge.websocket import WebSocket
from fairest_server.live.live_room import LiveRoom
from fairest_server.ops.gc_policy import NEWEST, configure_gc
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.long_tests import parametrize_with_long
from tests.support.raw_websocket import UPGRADE
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, open_raw_client, racing_players

Client = Callable[[str], Awaitable[None]]
DEADLINE_SECONDS = 50.0
"""Below the time limit of a test."""


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Turn the garbage collector off, so that reference cycles stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(
    params=[
        pytest.param(asyncio.new_event_loop, id="asyncio", marks=pytest.mark.long),
        pytest.param(uvloop.new_event_loop, id="uvloop"),
    ]
)
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    """Run on asyncio's event loop and on uvloop, which end sockets differently; a server process has uvloop."""
    with asyncio.Runner(loop_factory=request.param) as runner:
        yield runner


async def serve_until_nothing_is_left(settings: Settings, client: Client) -> None:
    """Serve a client, then wait until every object that served it has been freed."""
    before = serving_objects()

    async def is_gone() -> bool:
        return all(any(each is old for old in before) for each in serving_objects())

    # A task that hangs is cancelled, and its traceback says where it was: the time limit of the runner cannot.
    async with asyncio.timeout(DEADLINE_SECONDS), running(settings) as url:
        await client(url)
        await until(is_gone, "nothing that served the client is left")


def serving_objects() -> list[object]:
    # Not `isinstance`, which asks proxies what they stand for.
    return [each for each in gc.get_objects() if type(each) in (WebSocket, ServerProtocol, Session, LiveRoom)]


async def closes(url: str) -> None:
    async with open_client(url):
        pass


async def aborts(url: str) -> None:
    async with open_client(url) as client:
        client.socket.transport.abort()


async def aborts_before_hello(url: str) -> None:
    async with open_raw_client(url) as client:
        client.socket.transport.abort()


async def sends_junk(url: str) -> None:
    async with open_client(url) as client:
        await client.send("junk")
        await client.receive_a(Error)
        with pytest.raises(ConnectionClosed):
            await client.socket.recv()


async def is_cut_off_for(url: str, frame: Message | bytes) -> None:
    # The exceptions that the server raises for it must not keep stack frames.
    async with open_raw_client(url) as client:
        await client.send(frame)
        await client.receive_a(Error)
        with pytest.raises(ConnectionClosed):
            await client.socket.recv()


async def sends_a_binary_frame(url: str) -> None:
    await is_cut_off_for(url, b"binary")


async def sends_another_message_than_hello(url: str) -> None:
    await is_cut_off_for(url, Create())


async def sends_an_invented_token(url: str) -> None:
    await is_cut_off_for(url, Hello(token="A" * 43))


async def sends_text_that_is_not_utf8(url: str) -> None:
    async with open_client(url) as client:
        await client.socket.send(b"\xff", text=True)
        with pytest.raises(ConnectionClosed):
            await client.socket.recv()


async def sends_an_invalid_frame(url: str) -> None:
    async with open_client(url) as client:
        client.socket.transport.write(b"\xff" * 20)
        with pytest.raises(ConnectionClosed):
            await client.socket.recv()


async def never_sends_hello(url: str) -> None:
    async with open_raw_client(url) as client:
        await client.receive_a(Error)
        with pytest.raises(ConnectionClosed):
            await client.socket.recv()


ELSEWHERE = "https://elsewhere.example"
NO_KEY = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


async def send_request(url: str, request: bytes, *, waits: bool = True) -> None:
    host, _, port = url.rpartition("/")[2].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    if waits:
        await reader.read()
    writer.transport.abort()


async def requests_a_page(url: str) -> None:
    await send_request(url, b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")


async def sends_bytes_that_are_not_http(url: str) -> None:
    await send_request(url, b"\x16\x03\x01\r\n\r\n")


async def sends_half_a_request(url: str) -> None:
    await send_request(url, b"GET / HTT")


async def requests_an_upgrade_without_a_key(url: str) -> None:
    await send_request(url, NO_KEY)


async def requests_an_upgrade_without_a_key_and_aborts(url: str) -> None:
    await send_request(url, NO_KEY, waits=False)


async def offers_another_subprotocol(url: str) -> None:
    with pytest.raises(InvalidStatus):
        await connect(url, subprotocols=[Subprotocol("other.v1")], proxy=None)


async def comes_from_another_origin(url: str) -> None:
    async with connect(url, origin=Origin(ELSEWHERE), proxy=None) as socket:
        await socket.recv()
        with pytest.raises(ConnectionClosed):
            await socket.recv()


async def comes_from_another_origin_and_aborts(url: str) -> None:
    await send_request(url, UPGRADE.replace(b"\r\n\r\n", b"\r\nOrigin: %b\r\n\r\n" % ELSEWHERE.encode()), waits=False)


async def comes_from_another_origin_with_another_subprotocol(url: str) -> None:
    with pytest.raises(InvalidStatus):
        await connect(url, origin=Origin(ELSEWHERE), subprotocols=[Subprotocol("other.v1")], proxy=None)


async def asks_whether_it_may_request_a_page(url: str) -> None:
    await send_request(url, b"OPTIONS /lobby HTTP/1.1\r\nHost: here\r\nOrigin: %b\r\n\r\n" % ELSEWHERE.encode())


async def requests_a_record_that_does_not_exist(url: str) -> None:
    await send_request(url, b"GET /records/%b HTTP/1.1\r\nHost: here\r\n\r\n" % (b"0" * 32))


async def joins_a_room_that_does_not_exist(url: str) -> None:
    async with open_client(url) as client:
        await client.expect_refusal(Join(room="quiet-amber-otter"))


async def leaves_its_room(url: str) -> None:
    async with open_client(url) as client:
        await client.enter(Create(options=QUICK))
        await client.send(Leave())
        await client.receive_a(Left)


async def aborts_in_its_room(url: str) -> None:
    async with open_client(url) as client:
        await client.enter(Create(options=QUICK))
        client.socket.transport.abort()


async def resumes_over_another_connection(url: str) -> None:
    async with open_client(url) as client:
        room = (await client.enter(Create(options=QUICK))).room
        async with open_client(url, token=client.token) as again:
            await again.send(Resume(room=room, position=0))
            await again.receive_a(Snapshot)
            with suppress(ConnectionClosed):
                while True:
                    await client.socket.recv()


async def races_and_is_watched(url: str) -> None:
    async with racing_players(url) as (first, second), open_client(url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await first.play("sa")
        await second.play("stop")
        await first.play("stop")


@pytest.mark.usefixtures("without_collector")
@parametrize_with_long(
    "client",
    [
        closes,
        aborts,
        aborts_before_hello,
        sends_junk,
        sends_a_binary_frame,
        sends_another_message_than_hello,
        sends_an_invented_token,
        sends_text_that_is_not_utf8,
        sends_an_invalid_frame,
        never_sends_hello,
        requests_a_page,
        sends_bytes_that_are_not_http,
        sends_half_a_request,
        requests_an_upgrade_without_a_key,
        requests_an_upgrade_without_a_key_and_aborts,
        offers_another_subprotocol,
        comes_from_another_origin,
        comes_from_another_origin_and_aborts,
        comes_from_another_origin_with_another_subprotocol,
        asks_whether_it_may_request_a_page,
        requests_a_record_that_does_not_exist,
        joins_a_room_that_does_not_exist,
        leaves_its_room,
        aborts_in_its_room,
        resumes_over_another_connection,
        races_and_is_watched,
    ],
    quick=1,
)
def test_nothing_stays_in_memory_of_a_client_that(
    client: Client, runner: asyncio.Runner, settings_for_tests: Settings
) -> None:
    runner.run(serve_until_nothing_is_left(settings_for_tests, client))


async def closes_an_encrypted_connection(url: str) -> None:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    async with connect(url, ssl=trusting, proxy=None):
        pass


@pytest.mark.long
@pytest.mark.usefixtures("without_collector")
@parametrize_with_long(
    "client", [closes_an_encrypted_connection, sends_bytes_that_are_not_http, sends_half_a_request], quick=1
)
def test_nothing_stays_in_memory_behind_tls_of_a_client_that(
    client: Client, settings_for_tests: Settings, tmp_path: Path
) -> None:
    cert, key = make_certificate(tmp_path)
    settings = settings_for_tests.model_copy(update={"tls_cert": cert, "tls_key": key})
    # asyncio's own TLS keeps a connection whose handshake fails in memory.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_until_nothing_is_left(settings, client))


WAVES = 600
"""Each makes at least two collections, so that a threshold of a thousand would be passed."""


class Cycle:
    """An object that points at itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def server_gc_policy() -> Iterator[None]:
    """Set the collector as a server process does."""
    thresholds = gc.get_threshold()
    configure_gc()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("server_gc_policy")
def test_a_young_reference_cycle_is_collected() -> None:
    gone = weakref.ref(Cycle())
    kept = [[number] for number in range(2 * NEWEST)]
    assert kept and gone() is None


@pytest.mark.long
@pytest.mark.usefixtures("server_gc_policy")
def test_older_generations_are_never_collected_however_often_the_youngest_is() -> None:
    collections = [each["collections"] for each in gc.get_stats()]
    for _ in range(WAVES):
        assert [[number] for number in range(2 * NEWEST)]
    newest, *older = [each["collections"] - before for each, before in zip(gc.get_stats(), collections, strict=True)]
    assert newest >= WAVES
    assert older == [0, 0]
