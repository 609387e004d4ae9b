"""Pages over plain HTTP: small answers to GET, each of one line or one JSON text."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from urllib.parse import parse_qs

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from fairest_protocol.value import Value
from fairest_server.edge.admission import ConnectionRefused

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


class Page(Value):
    """The answer to a request for a page."""

    body: bytes
    content_type: str = TEXT
    status: HTTPStatus = HTTPStatus.OK


QueryParams = Mapping[str, str]
"""The parameters of a URL's query. If a parameter is given twice, the last value counts."""
Pages = Mapping[str, Callable[[QueryParams], Awaitable[Page]]]
Respond = Callable[[str, Request], Awaitable[Response | None]]
"""Answers a request from the peer at an address, or returns None if the request may open a WebSocket."""


def text_page(text: str, status: HTTPStatus = HTTPStatus.OK) -> Page:
    """Return a page of one line."""
    return Page(f"{text}\n".encode(), status=status)


def make_responder(pages: Pages, check: Callable[[str, Request], None] | None) -> Respond:
    """Return a function that answers a request for one of `pages`, and lets any other through to the WebSocket.

    `check` raises `ConnectionRefused` for a request that may not open a WebSocket. Without it, no request may, and
    every other path is not found.
    """

    async def respond(peer: str, request: Request) -> Response | None:
        path, _, query = request.path.partition("?")
        page = pages.get(path)
        try:
            if page is not None:
                return answer(await page({name: values[-1] for name, values in parse_qs(query).items()}))
            if check is None:
                return answer(text_page("There is nothing here.", HTTPStatus.NOT_FOUND))
            check(peer, request)
        except ConnectionRefused as reason:
            return answer(text_page(str(reason), reason.status))
        return None

    return respond


def answer(page: Page) -> Response:
    """Return the response that serves a page and ends the connection."""
    headers = Headers(
        {
            "Content-Type": page.content_type,
            "Content-Length": str(len(page.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        }
    )
    return Response(page.status.value, page.status.phrase, headers, page.body)
