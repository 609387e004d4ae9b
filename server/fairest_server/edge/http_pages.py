"""Pages over plain HTTP: small answers to GET, each of one line, one JSON text, or the lines of a record.

Scripts of other sites may read the shared pages if their origin may connect (CORS). They send no cookies and need none:
a shared page is the same for everybody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

from redis.exceptions import RedisError
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from fairest_protocol.value import Value
from fairest_server.edge.admission import Admission
from fairest_server.live.record_finder import RecordUnavailable

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
METHODS: Final = ("GET", "HEAD", "OPTIONS")
PAGE_SECONDS: Final = 6.0
"""Time limit for a page, longer than that of a read from the archive."""
PREFLIGHT_SECONDS: Final = 600
"""The time for which a browser need not ask again whether a site may read a page."""


Fields = tuple[tuple[str, str], ...]
"""Headers of an answer: their names with their values."""


class Page(Value):
    """The answer to a request for a page.

    `retry_seconds` is when to ask again, or None. `cache` says how long a browser may keep the page, `fields` are
    further headers.
    """

    body: bytes
    content_type: str = TEXT
    status: HTTPStatus = HTTPStatus.OK
    retry_seconds: int | None = None
    cache: str = "no-store"
    fields: Fields = ()


class PageRequest(Value):
    """A request for a page, from a client at `address` as the limits count it. `name` says which one of many pages.

    `params` is the query of the URL; if a parameter is given twice, the last value counts. `accepts_gzip` says whether
    the client can read an answer that is compressed with gzip. `origin` is the scheme and the host under which it knows
    the server, empty for a page that answers under every host.
    """

    address: str
    name: str
    params: Mapping[str, str]
    accepts_gzip: bool = False
    origin: str = ""


class PageRefused(Exception):
    """A request for a page that is answered with another one, which says why."""

    def __init__(self, page: Page) -> None:
        super().__init__(page.body.decode().strip())
        self.page = page


Show = Callable[[PageRequest], Awaitable[Page]]
"""Shows a page. May raise `PageRefused`, and RedisError, OSError and `RecordUnavailable` if it cannot be read now."""
Pages = Mapping[str, Show]
"""Pages by their paths. A path that ends with a slash is that of many pages, each with a name behind the slash."""
Respond = Callable[[str, Request], Awaitable[Response | None]]
"""Answers a request from the peer at an address, or returns None if the request may open a WebSocket.

Raises `RequestRefused`.
"""


def text_page(text: str, status: HTTPStatus = HTTPStatus.OK, retry_seconds: int | None = None) -> Page:
    """Return a page of one line."""
    return Page(f"{text}\n".encode(), status=status, retry_seconds=retry_seconds)


def bad_request(sentence: str) -> PageRefused:
    """Return the refusal to raise for a malformed path or parameter."""
    return PageRefused(text_page(sentence, HTTPStatus.BAD_REQUEST))


def not_found(sentence: str) -> PageRefused:
    """Return the refusal to raise for a page that is not there."""
    return PageRefused(text_page(sentence, HTTPStatus.NOT_FOUND))


def unavailable() -> PageRefused:
    """Return the refusal to raise for a page that may be there in a moment."""
    return PageRefused(text_page("The server cannot answer right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE))


def make_responder(
    pages: Pages, shared: Pages | None = None, admission: Admission | None = None, site: Pages | None = None
) -> Respond:
    """Return a function that answers requests for pages, and lets others through to the WebSocket.

    `pages` are for programs such as a balancer, under whatever name they know the server by. `shared` are also for the
    scripts of sites that `admission` allows. Without it no request may open a WebSocket, and other paths are not found.
    `site` are for browsers; a request for one of these paths that asks for a WebSocket gets one.
    """

    async def respond(peer: str, request: Request) -> Response | None:
        path, _, query = request.path.partition("?")
        found, fields, origin = _find(pages, path), Fields(), ""
        if found is None and admission is not None:
            found = _find(shared or {}, path) or (None if _wants_websocket(request) else _find(site or {}, path))
            if found is not None:
                fields = _sharing_fields(admission.check_page(peer, request))
                origin = admission.origin_of(peer, request)
        if found is None:
            return _pass_on(peer, request, admission)
        if request.method == "OPTIONS":
            return _preflight(fields)
        if request.method not in METHODS:
            return _not_allowed(METHODS)
        show, name = found
        address = peer if admission is None else admission.address_of(peer, request)
        params = {key: values[-1] for key, values in parse_qs(query).items()}
        page = await _show(show, PageRequest(address, name, params, _accepts_gzip(request), origin))
        return answer(page, fields, has_body=request.method != "HEAD")

    return respond


async def _show(show: Show, request: PageRequest) -> Page:
    """Return the page, or the one that says why it is not shown."""
    try:
        async with asyncio.timeout(PAGE_SECONDS):
            return await show(request)
    except PageRefused as refusal:
        return refusal.page
    except (RedisError, OSError, RecordUnavailable):
        return unavailable().page


def answer(page: Page, fields: Fields = (), *, has_body: bool = True) -> Response:
    """Return the response that serves a page with these headers besides its own, and ends the connection."""
    own = [
        ("Content-Type", page.content_type),
        ("Content-Length", str(len(page.body))),
        ("Cache-Control", page.cache),
        ("X-Content-Type-Options", "nosniff"),
    ]
    if page.retry_seconds is not None:
        own.append(("Retry-After", str(page.retry_seconds)))
    return _respond(page.status, (*own, *page.fields, *fields), page.body if has_body else b"")


def _wants_websocket(request: Request) -> bool:
    return "websocket" in ",".join(request.headers.get_all("Upgrade")).lower()


def _accepts_gzip(request: Request) -> bool:
    """Return whether the client names gzip among its encodings. A client that refuses it by `q=0` is not known."""
    return "gzip" in ",".join(request.headers.get_all("Accept-Encoding")).lower()


def _find(pages: Pages, path: str) -> tuple[Show, str] | None:
    """Return the page of a path, and its name in a path of many pages."""
    if path in pages:
        return pages[path], ""
    folder, slash, name = path.rpartition("/")
    show = pages.get(folder + slash) if folder else None
    return (show, name) if show is not None else None


def _sharing_fields(origin: str | None) -> Fields:
    """Return the headers by which a browser lets scripts of `origin` read a page; None allows no other site."""
    # The answer depends on the origin also if it allows none.
    varying = ("Vary", "Origin")
    return (varying,) if origin is None else (varying, ("Access-Control-Allow-Origin", origin))


def _pass_on(peer: str, request: Request, admission: Admission | None) -> Response | None:
    """Let a request that asks for no page of ours through to the WebSocket, if it may. Raises `RequestRefused`."""
    if admission is None:
        return answer(text_page("There is nothing here.", HTTPStatus.NOT_FOUND))
    if request.method != "GET":
        return _not_allowed(("GET",))
    admission.check(peer, request)
    return None


def _preflight(fields: Fields) -> Response:
    """Return the answer to the question of a browser whether a script may send a request that is not a simple one."""
    methods = ", ".join(METHODS)
    fields = (("Allow", methods), ("Access-Control-Allow-Methods", methods), *fields)
    return _respond(HTTPStatus.NO_CONTENT, (*fields, ("Access-Control-Max-Age", str(PREFLIGHT_SECONDS))), b"")


def _not_allowed(methods: tuple[str, ...]) -> Response:
    page = text_page(f"The methods here are {', '.join(methods)}.", HTTPStatus.METHOD_NOT_ALLOWED)
    return answer(page, (("Allow", ", ".join(methods)),))


def _respond(status: HTTPStatus, fields: Fields, body: bytes) -> Response:
    return Response(status.value, status.phrase, Headers([*fields, ("Connection", "close")]), body)
