"""What is answered over plain HTTP on the port of the WebSocket."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

Page = Callable[[], str]
Respond = Callable[[ServerConnection, Request], Response | None]


def make_responder(pages: Mapping[str, Page]) -> Respond:
    """Answers `GET` of each of these paths with its line; leaves the rest to the WebSocket."""

    def respond(connection: ServerConnection, request: Request) -> Response | None:
        page = pages.get(request.path.split("?")[0])
        return None if page is None else connection.respond(HTTPStatus.OK, f"{page()}\n")

    return respond
