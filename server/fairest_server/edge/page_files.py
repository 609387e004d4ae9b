"""The web page: the files of `fairest_server/page`, as a browser gets them from the port of the WebSocket.

The files are plain modules, styles and markup, served as they are written. The modules are also joined into two
scripts: the one that draws the first board stands in the markup, as the styles do, and the markup asks for the other
one. The paths of files hold a hash of all of them, so that a browser may keep them for ever and still gets the new ones
with the next version of the server.
"""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from fairest_protocol.value import Value
from fairest_server.edge.http_pages import Fields, Page, PageRequest, text_page
from fairest_server.edge.joined_modules import join_modules

CONTENT_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX: Final = "index.html"
STYLE: Final = "style.css"
FIRST: Final = "first_view"
"""The module that draws the room which the markup brings; its script stands in the markup."""
ENTRY: Final = "app"
"""The module with which the page begins, behind that one."""
JOINED: Final = "joined.js"
INDEX_PATHS: Final = ("/", "/tv", "/practice", "/today", "/t", "/t/", "/m", "/me", "/ratings", "/p/")
"""Paths of the page with the same markup: lobby, a race to watch, a game alone, the daily deal, tournaments,
finished matches, the own player, ratings, a player.
"""
TITLE: Final = "Fairest"
FOREVER: Final = "public, max-age=31536000, immutable"
COMPRESSION: Final = 6
"""The level of gzip for the markup of one request, which takes 1 ms; files are compressed once, as well as possible."""


class PageFile(Value):
    """A file of the page, and the same compressed with gzip."""

    content: bytes
    compressed: bytes
    content_type: str


class PageFiles:
    """The files of the page, joined and compressed. `page_files` has those of this process."""

    def __init__(self) -> None:
        sources = {file.name: file.read_bytes() for file in (files("fairest_server") / "page").iterdir()}
        modules = {name.removesuffix(".js"): text.decode() for name, text in sources.items() if name.endswith(".js")}
        sources[JOINED] = join_modules(modules, ENTRY, behind=FIRST).encode()
        digest = hashlib.sha256()
        for name in sorted(sources):
            digest.update(name.encode() + b"\0" + sources[name])
        self.base: Final = f"/page/{digest.hexdigest()[:12]}"
        """The path below which a browser finds the files."""
        style, first = sources[STYLE].decode(), join_modules(modules, FIRST)
        self._security = security_fields(script=first, style=style)
        parts = re.split(r"\{head\}|\{view\}", sources.pop(INDEX).decode())
        parts = [_fill(part, {"base": self.base, "style": style, "first": first}) for part in parts]
        self._before_head, self._before_view, self._end = parts
        self._index = _page_file(INDEX, self._markup(TITLE).encode())
        self._found = {name: _page_file(name, content) for name, content in sources.items()}

    def index(
        self,
        request: PageRequest,
        *,
        title: str = TITLE,
        head: str = "",
        view: str = "",
        status: HTTPStatus = HTTPStatus.OK,
    ) -> Page:
        """Return the markup, with this title, the elements of `head`, which is markup, and the JSON of `view`."""
        is_plain = title == TITLE and not head and not view
        file = self._index
        if not is_plain:
            file = _page_file(INDEX, self._markup(title, head, view).encode(), COMPRESSION)
        return _show(file, request, self._security, status=status)

    async def show_index(self, request: PageRequest) -> Page:
        """Return the markup."""
        return self.index(request)

    async def show_file(self, request: PageRequest) -> Page:
        """Return the file that is named."""
        file = self._found.get(request.name)
        if file is None:
            return text_page("There is no such file.", HTTPStatus.NOT_FOUND)
        return _show(file, request, (), FOREVER)

    def _markup(self, title: str, head: str = "", view: str = "") -> str:
        # Of the characters of JSON, `<` alone could end the element.
        view = view.replace("<", "\\u003c")
        data = f'<script type="application/json" id="first-view">{view}</script>\n' if view else ""
        title = f"<title>{html.escape(title)}</title>\n"
        return "".join((self._before_head, title, head, self._before_view, data, self._end))


@cache
def page_files() -> PageFiles:
    """Return the files of the page, which are read once in a process: joining and compressing them takes 40 ms."""
    return PageFiles()


def security_fields(script: str, style: str) -> Fields:
    """Return the headers of a page with this script and these styles in its markup.

    It runs nothing but these and its own files, connects to its own server only, and is shown in no other page. The
    hashes let the two in the markup run, and nothing else that might come to stand there.
    """
    policy = (
        f"default-src 'none'; script-src 'self' {_hash_of(script)}; style-src 'self' {_hash_of(style)}; "
        "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return (
        ("Content-Security-Policy", policy),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    )


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _fill(markup: str, contents: Mapping[str, str]) -> str:
    return re.sub(r"\{(base|style|first)\}", lambda found: contents[found[1]], markup)


def _page_file(name: str, content: bytes, level: int = 9) -> PageFile:
    return PageFile(content, gzip.compress(content, level, mtime=0), CONTENT_TYPES[name.rpartition(".")[2]])


def _show(
    file: PageFile,
    request: PageRequest,
    fields: Fields,
    cache: str = "no-cache",
    status: HTTPStatus = HTTPStatus.OK,
) -> Page:
    content, fields = file.content, (("Vary", "Accept-Encoding"), *fields)
    if request.accepts_gzip:
        content, fields = file.compressed, (*fields, ("Content-Encoding", "gzip"))
    return Page(content, file.content_type, status, cache=cache, fields=fields)
