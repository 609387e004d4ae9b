"""The web page: the files of `fairest_server/page`, as a browser gets them from the port of the WebSocket.

The files are plain modules, styles and markup, served as they are written, and the modules also joined into one, which
the markup asks for. Their paths hold a hash of all of them, so that a browser may keep them for ever and still gets the
new ones with the next version of the server.
"""

import gzip
import hashlib
import html
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from fairest_protocol.value import Value
from fairest_server.edge.http_pages import Page, PageRequest, text_page
from fairest_server.edge.joined_modules import join_modules

CONTENT_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX: Final = "index.html"
ENTRY: Final = "app"
"""The module with which the page begins."""
JOINED: Final = "joined.js"
INDEX_PATHS: Final = ("/", "/tv", "/practice", "/r/", "/m", "/ratings", "/p/")
"""Paths of the page: lobby, a race to watch, a game alone, a room by its code, finished matches, ratings, a player."""
TITLE: Final = "Fairest"
FOREVER: Final = "public, max-age=31536000, immutable"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY: Final = (
    ("Content-Security-Policy", POLICY),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
"""The page runs its own files only, connects to its own server only, and is shown in no other page."""


class PageFile(Value):
    """A file of the page, and the same compressed with gzip."""

    content: bytes
    compressed: bytes
    content_type: str


class PageFiles:
    """The files of the page, read and compressed once."""

    def __init__(self) -> None:
        sources = {file.name: file.read_bytes() for file in (files("fairest_server") / "page").iterdir()}
        modules = {name.removesuffix(".js"): text.decode() for name, text in sources.items() if name.endswith(".js")}
        sources[JOINED] = join_modules(modules, ENTRY).encode()
        digest = hashlib.sha256()
        for name in sorted(sources):
            digest.update(name.encode() + b"\0" + sources[name])
        self.base: Final = f"/page/{digest.hexdigest()[:12]}"
        """The path below which a browser finds the files."""
        self._markup = sources.pop(INDEX).decode().replace("{base}", self.base)
        self._index = _page_file(INDEX, self._fill(TITLE, "").encode())
        self._found = {name: _page_file(name, content) for name, content in sources.items()}

    def index(
        self, request: PageRequest, *, title: str = TITLE, head: str = "", status: HTTPStatus = HTTPStatus.OK
    ) -> Page:
        """Return the markup, with this title and the elements of `head`, which is markup itself."""
        is_plain = title == TITLE and not head
        file = self._index if is_plain else _page_file(INDEX, self._fill(title, head).encode())
        return _show(file, request, SECURITY, status=status)

    async def show_index(self, request: PageRequest) -> Page:
        """Return the markup."""
        return self.index(request)

    async def show_file(self, request: PageRequest) -> Page:
        """Return the file that is named."""
        file = self._found.get(request.name)
        if file is None:
            return text_page("There is no such file.", HTTPStatus.NOT_FOUND)
        return _show(file, request, (), FOREVER)

    def _fill(self, title: str, head: str) -> str:
        markup, end = self._markup.split("{head}")
        return f"{markup}<title>{html.escape(title)}</title>\n{head}{end}"


def _page_file(name: str, content: bytes) -> PageFile:
    return PageFile(content, gzip.compress(content, mtime=0), CONTENT_TYPES[name.rpartition(".")[2]])


def _show(
    file: PageFile,
    request: PageRequest,
    fields: tuple[tuple[str, str], ...],
    cache: str = "no-cache",
    status: HTTPStatus = HTTPStatus.OK,
) -> Page:
    content, fields = file.content, (("Vary", "Accept-Encoding"), *fields)
    if request.accepts_gzip:
        content, fields = file.compressed, (*fields, ("Content-Encoding", "gzip"))
    return Page(content, file.content_type, status, cache=cache, fields=fields)
