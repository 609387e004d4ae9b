"""The move of a player to the address of its room, to the process that serves the room by preference.

The move begins while nothing is at stake: we wait for an opponent, or are not ready yet. A second WebSocket is opened
at the address. Until we are welcome there and have seen our seat, we go on where we are. A move that fails is not
reported.
"""

import asyncio
from collections.abc import Callable, Container
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.room_address import room_address
from fairest_cli.session.server_socket import ServerSocket
from fairest_cli.session.websocket import open_websocket
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Hello, Resume
from fairest_protocol.messages.from_server import Welcome

WELCOME_SECONDS: Final = 5.0
"""A server that does not welcome us within this time is left alone."""
_NOTHING_AT_STAKE: Final = (Phase.WAITING, Phase.READY)
_LAST_REQUESTS: Final = ("ready", "leave")
"""Requests after which we stay where we are: their answers come here."""


Known = tuple[KnownRoom, Container[str]]
"""Our knowledge of the room, and the types of our requests on the present socket."""


def request_to_move(model: KnownRoom, asked: Container[str], room: str) -> Resume | None:
    """Return the request for our seat in `room` on another socket, None if something is at stake by now."""
    own = model.own
    is_idle = model.phase in _NOTHING_AT_STAKE and own is not None and own.entropy_hash is None
    if model.room != room or not is_idle or any(each in asked for each in _LAST_REQUESTS):
        return None
    return Resume(room=room, position=model.position, tag=model.tag)


async def try_move(socket: ServerSocket, hello: Hello, room: str, known: Callable[[], Known]) -> None:
    """Go on at the address of our room, if the server that is found there shows us our seat. Once for each socket."""
    if socket.was_offered_address:
        return
    socket.was_offered_address = True
    try:
        websocket = await open_websocket(room_address(known()[0].server_url, room))
    except (OSError, TimeoutError, InvalidHandshake, InvalidURI):
        return
    has_moved = False
    try:
        async with asyncio.timeout(WELCOME_SECONDS):
            await websocket.send(encode(hello).decode())
            answer = decode_from_server(await websocket.recv())
        if isinstance(answer, Welcome) and answer.key == known()[0].seal_check.key:
            has_moved = await socket.try_exchange(websocket, lambda: request_to_move(*known(), room))
    except (ConnectionClosed, TimeoutError, ProtocolViolation):
        return
    finally:
        if not has_moved:
            websocket.transport.abort()
