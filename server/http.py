"""What is answered over plain HTTP on the port of the WebSocket."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

Respond = Callable[[ServerConnection, Request], Response | None]


def make_responder(pages: Mapping[str, str]) -> Respond:
    """Answers `GET` of each of these paths with its line; leaves the rest to the WebSocket."""

    def respond(connection: ServerConnection, request: Request) -> Response | None:
        line = pages.get(request.path.split("?")[0])
        return None if line is None else connection.respond(HTTPStatus.OK, f"{line}\n")

    return respond
