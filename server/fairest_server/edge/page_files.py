"""The web page: the files of `fairest_server/page`, as a browser gets them from the port of the WebSocket.

The files are plain modules, styles and markup, served as they are written. Their paths hold a hash of all of them, so
that a browser may keep them for ever and still gets the new ones with the next version of the server.
"""

import gzip
import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from fairest_protocol.value import Value
from fairest_server.edge.http_pages import Page, PageRequest, Pages, text_page

CONTENT_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX: Final = "index.html"
INDEX_PATHS: Final = ("/", "/tv", "/r/", "/m", "/m/")
"""The paths of the page: the lobby, a race to watch, a room by its code, the finished matches, one by its id."""
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


def site_pages() -> Pages:
    """Return the pages of the site by their paths. Reads and compresses the files once."""
    sources = {file.name: file.read_bytes() for file in (files("fairest_server") / "page").iterdir()}
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name])
    base = f"/page/{digest.hexdigest()[:12]}"
    index = _page_file(INDEX, sources.pop(INDEX).replace(b"{base}", base.encode()))
    found = {name: _page_file(name, content) for name, content in sources.items()}

    async def show_index(request: PageRequest) -> Page:
        return _show(index, request, SECURITY)

    async def show_file(request: PageRequest) -> Page:
        return _show_named(found, request)

    return {**dict.fromkeys(INDEX_PATHS, show_index), f"{base}/": show_file}


def _page_file(name: str, content: bytes) -> PageFile:
    return PageFile(content, gzip.compress(content, mtime=0), CONTENT_TYPES[name.rpartition(".")[2]])


def _show_named(found: Mapping[str, PageFile], request: PageRequest) -> Page:
    file = found.get(request.name)
    if file is None:
        return text_page("There is no such file.", HTTPStatus.NOT_FOUND)
    return _show(file, request, (), FOREVER)


def _show(file: PageFile, request: PageRequest, fields: tuple[tuple[str, str], ...], cache: str = "no-cache") -> Page:
    fields = (("Vary", "Accept-Encoding"), *fields)
    if request.accepts_gzip:
        return Page(file.compressed, file.content_type, cache=cache, fields=(*fields, ("Content-Encoding", "gzip")))
    return Page(file.content, file.content_type, cache=cache, fields=fields)
