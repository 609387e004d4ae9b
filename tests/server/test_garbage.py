"""What is gone is gone at once: no connection and no room leaves anything that would have to be searched for."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from protocol.messages.fields import Message
from protocol.messages.from_client import Create, Hello, Join, Leave, Resume, Watch
from protocol.messages.from_server import Error, Left, Snapshot
from server.connection import Connection
from server.garbage import NEWEST, look_seldom
from server.hosted_room import HostedRoom
from server.wire import Wire
from tests.talker import QUICK, raw, talking, two_racing, until


@pytest.fixture
def without_search() -> Iterator[None]:
    """No search for circles, so that they stay."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def nothing_is_left() -> bool:
    # Not `isinstance`, which asks proxies what they stand for.
    return not any(type(each) in (Wire, ServerProtocol, Connection, HostedRoom) for each in gc.get_objects())


async def closes(url: str) -> None:
    async with talking(url):
        pass


async def breaks_off(url: str) -> None:
    async with talking(url) as talker:
        talker.socket.transport.abort()


async def breaks_off_before_it_says_hello(url: str) -> None:
    async with raw(url) as talker:
        talker.socket.transport.abort()


async def says_what_nobody_understands(url: str) -> None:
    async with talking(url) as talker:
        await talker.say("junk")
        await talker.hear_a(Error)
        with pytest.raises(ConnectionClosed):
            await talker.socket.recv()


async def is_cut_off_for(url: str, frame: Message | bytes) -> None:
    # What the server raises for it, again and again, may keep no frames of the stack.
    async with raw(url) as talker:
        await talker.say(frame)
        await talker.hear_a(Error)
        with pytest.raises(ConnectionClosed):
            await talker.socket.recv()


async def sends_what_is_no_text(url: str) -> None:
    await is_cut_off_for(url, b"binary")


async def says_something_else_than_hello(url: str) -> None:
    await is_cut_off_for(url, Create())


async def has_made_up_its_token(url: str) -> None:
    await is_cut_off_for(url, Hello(token="A" * 43))


async def sends_a_frame_that_is_none(url: str) -> None:
    async with talking(url) as talker:
        talker.socket.transport.write(b"\xff" * 20)
        with pytest.raises(ConnectionClosed):
            await talker.socket.recv()


async def never_says_hello(url: str) -> None:
    async with raw(url) as talker:
        await talker.hear_a(Error)
        with pytest.raises(ConnectionClosed):
            await talker.socket.recv()


async def sends(url: str, request: bytes) -> None:
    host, _, port = url.rpartition("/")[2].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    await reader.read()
    writer.close()


async def asks_for_a_page(url: str) -> None:
    await sends(url, b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")


async def sends_no_request(url: str) -> None:
    await sends(url, b"\x16\x03\x01\r\n\r\n")


async def sends_half_a_request(url: str) -> None:
    await sends(url, b"GET / HTT")


async def speaks_another_protocol(url: str) -> None:
    with pytest.raises(InvalidStatus):
        await connect(url, subprotocols=[Subprotocol("other.v1")], proxy=None)


async def comes_from_another_page(url: str) -> None:
    with pytest.raises(InvalidStatus):
        await connect(url, origin=Origin("https://elsewhere.example"), proxy=None)


async def asks_for_a_room_that_is_not_there(url: str) -> None:
    async with talking(url) as talker:
        await talker.refused(Join(room="quiet-amber-otter"))


async def leaves_its_room(url: str) -> None:
    async with talking(url) as talker:
        await talker.enter(Create(options=QUICK))
        await talker.say(Leave())
        await talker.hear_a(Left)


async def breaks_off_in_its_room(url: str) -> None:
    async with talking(url) as talker:
        await talker.enter(Create(options=QUICK))
        talker.socket.transport.abort()


async def comes_back_over_another_connection(url: str) -> None:
    async with talking(url) as talker:
        room = (await talker.enter(Create(options=QUICK))).room
        async with talking(url, token=talker.token) as again:
            await again.say(Resume(room=room, position=0))
            await again.hear_a(Snapshot)
            with suppress(ConnectionClosed):
                while True:
                    await talker.socket.recv()


async def races_and_is_watched(url: str) -> None:
    async with two_racing(url) as (first, second), talking(url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await first.play("sa")
        await second.play("stop")
        await first.play("stop")


@pytest.mark.usefixtures("without_search")
@pytest.mark.parametrize(
    "client",
    [
        closes,
        breaks_off,
        breaks_off_before_it_says_hello,
        says_what_nobody_understands,
        sends_what_is_no_text,
        says_something_else_than_hello,
        has_made_up_its_token,
        sends_a_frame_that_is_none,
        never_says_hello,
        asks_for_a_page,
        sends_no_request,
        sends_half_a_request,
        speaks_another_protocol,
        comes_from_another_page,
        asks_for_a_room_that_is_not_there,
        leaves_its_room,
        breaks_off_in_its_room,
        comes_back_over_another_connection,
        races_and_is_watched,
    ],
)
async def test_nothing_stays_in_memory_of_a_client_that(
    client: Callable[[str], Awaitable[None]], server_url: str
) -> None:
    await client(server_url)
    await until(nothing_is_left)


class Knot:
    """An object that points at itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def looking_seldom() -> Iterator[None]:
    """As in a server process."""
    thresholds = gc.get_threshold()
    look_seldom()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("looking_seldom")
def test_a_circle_is_found_while_it_is_new() -> None:
    gone = weakref.ref(Knot())
    kept = [[number] for number in range(2 * NEWEST)]
    assert kept and gone() is None


@pytest.mark.usefixtures("looking_seldom")
def test_what_has_been_there_for_a_while_is_not_searched_again() -> None:
    searches = [each["collections"] for each in gc.get_stats()[1:]]
    kept = [[number] for number in range(100 * NEWEST)]
    assert kept and [each["collections"] for each in gc.get_stats()[1:]] == searches
