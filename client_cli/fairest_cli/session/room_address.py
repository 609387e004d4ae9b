"""The address of a room: the server's URL with the path `/r/CODE`, at which a client that knows the code connects.

The path is a hint. A server, or a balancer in front of several, sends the players of a room to one process by it, which
makes their race cheaper; any process of the server would do.
"""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidStatus

from fairest_cli.session.websocket import EntryRequest, open_websocket
from fairest_protocol.messages.from_client import Join, Watch

_REFUSALS: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""The answers of a Fairest server that lets a client in at no address."""


def room_address(server_url: str, room: str) -> str:
    """Return the address of a room of a server."""
    parts = urlsplit(server_url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/r/{room}").geturl()


def requested_room(request: EntryRequest) -> str | None:
    """Return the room that a request names, None if the server chooses one."""
    return request.room if isinstance(request, (Join, Watch)) else None


async def open_at_room(server_url: str, room: str | None) -> ClientConnection:
    """Open a WebSocket at the address of a room, or without a room at that of the server.

    A proxy that was set up for the path of the server alone does not know a room's address. Then this opens the
    server's. Raises OSError, TimeoutError, InvalidHandshake and InvalidURI.
    """
    if room is not None:
        try:
            return await open_websocket(room_address(server_url, room))
        except InvalidStatus as reason:
            if reason.response.status_code in _REFUSALS:
                raise
    return await open_websocket(server_url)
