"""The address of a room, at which the client connects when it knows the room's code."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from http import HTTPStatus

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.room_address import open_at_room, requested_room, room_address
from fairest_protocol.messages.fields import SUBPROTOCOL
from fairest_protocol.messages.from_client import Create, Join, Queue, Watch
from fairest_protocol.messages.options import RoomOptions

ROOM = "amber-quiet-lynx"


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("ws://127.0.0.1:8765", f"ws://127.0.0.1:8765/r/{ROOM}"),
        ("ws://127.0.0.1:8765/", f"ws://127.0.0.1:8765/r/{ROOM}"),
        ("wss://example.org/fairest", f"wss://example.org/fairest/r/{ROOM}"),
        ("wss://example.org/fairest/", f"wss://example.org/fairest/r/{ROOM}"),
        ("wss://[::1]:8765?key=1", f"wss://[::1]:8765/r/{ROOM}?key=1"),
    ],
)
def test_the_address_of_a_room_is_below_the_path_of_the_server(server: str, address: str) -> None:
    assert room_address(server, ROOM) == address


def test_only_a_request_for_a_certain_room_names_one() -> None:
    requests = (Join(room=ROOM), Watch(room=ROOM), Create(options=RoomOptions()), Queue(rules="classic"))
    assert [requested_room(each) for each in requests] == [ROOM, ROOM, None, None]


class Proxy:
    """A server that notes the path of each request, and answers with a status those to the address of a room."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.status: HTTPStatus | None = None
        self.server: Server

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        self.paths.append(request.path)
        return connection.respond(self.status, "") if self.status and "/r/" in request.path else None


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    made = Proxy()

    async def serve_one(connection: ServerConnection) -> None:
        await connection.recv()

    async with serve(
        serve_one, "127.0.0.1", 0, process_request=made.process_request, subprotocols=[Subprotocol(SUBPROTOCOL)]
    ) as made.server:
        yield made


async def test_a_client_that_knows_its_room_connects_at_its_address(proxy: Proxy) -> None:
    await (await open_at_room(proxy.url, ROOM)).close()
    assert proxy.paths == [f"/r/{ROOM}"]


async def test_a_client_without_a_room_connects_at_the_address_of_the_server(proxy: Proxy) -> None:
    await (await open_at_room(proxy.url, None)).close()
    assert proxy.paths == ["/"]


@pytest.mark.parametrize("status", [HTTPStatus.NOT_FOUND, HTTPStatus.OK, HTTPStatus.BAD_GATEWAY])
async def test_behind_a_proxy_that_does_not_know_the_address_the_servers_own_is_opened(
    proxy: Proxy, status: HTTPStatus
) -> None:
    proxy.status = status
    await (await open_at_room(proxy.url, ROOM)).close()
    assert proxy.paths == [f"/r/{ROOM}", "/"]


@pytest.mark.parametrize("status", [HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE])
async def test_a_client_that_is_not_let_in_does_not_ask_twice(proxy: Proxy, status: HTTPStatus) -> None:
    proxy.status = status
    with pytest.raises(InvalidStatus):
        await open_at_room(proxy.url, ROOM)
    assert proxy.paths == [f"/r/{ROOM}"]


async def test_every_second_attempt_is_at_the_address_of_the_server(proxy: Proxy) -> None:
    connection = Connection(proxy.url, Identity(), Join(room=ROOM))
    async with aclosing(connection.updates()) as updates:
        async for _ in updates:
            if len(proxy.paths) == 4:
                break
    assert proxy.paths == [f"/r/{ROOM}", "/", f"/r/{ROOM}", "/"]
