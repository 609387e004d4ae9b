"""What is answered over plain HTTP on the port of the WebSocket."""

from collections.abc import Callable
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

Respond = Callable[[ServerConnection, Request], Response | None]


def make_responder(public_key: bytes) -> Respond:
    """Answers `GET /key` with the key that checks this deployment's signatures; leaves the rest to the WebSocket."""

    def respond(connection: ServerConnection, request: Request) -> Response | None:
        if request.path.split("?")[0] == "/key":
            return connection.respond(HTTPStatus.OK, f"{public_key.hex()}\n")
        return None

    return respond
