"""The ports of a process: the public one, of WebSockets and a few pages, and the operator's own, of pages only."""

import asyncio
import itertools
import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError
from websockets.asyncio.server import Server, ServerConnection, serve

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.refusals import CloseCode
from fairest_server.edge.admission import Admission
from fairest_server.edge.fast_websocket import FastWebSocket
from fairest_server.edge.http_pages import JSON, Page, Pages, QueryParams, make_responder, text_page
from fairest_server.edge.session import Session
from fairest_server.live.registry import RoomRegistry
from fairest_server.ops import metrics
from fairest_server.settings import Settings, public_url
from fairest_server.store.lobby import Lobby
from fairest_server.store.players import Players
from fairest_server.store.redis.durability import Durability

BACKLOG: Final = 4_096
"""So many who connect at the same moment wait in the system, which by itself allows no more (`net.core.somaxconn`).
Whoever finds no place there knocks again after 1, 3, 7 and 15 s: with the 100 that asyncio asks for, two thousand
players took 15 s to come back, and 2.5 s with these.
"""
CLOSE_SECONDS: Final = 2.0
"""How long a client may take over the opening and the closing handshake."""
DRAIN_SECONDS: Final = 1.0
"""The same for the closing handshake when this process ends: the whole end may take five seconds."""


class CannotListen(Exception):
    """A port or a certificate is not to be had; the text says which, and why."""


@asynccontextmanager
async def public_port(
    settings: Settings, rooms: RoomRegistry, players: Players, lobby: Lobby, durability: Durability
) -> AsyncIterator[str]:
    """Serve players and spectators for as long as the context lasts; yields the URL. Raises `CannotListen`."""
    door, links = Admission(settings), itertools.count(1)

    async def handle(websocket: ServerConnection) -> None:
        assert isinstance(websocket, FastWebSocket), "the server makes its connections so"
        connection_id = f"{rooms.process_id}-{next(links)}"
        with door.counted_connection(websocket) as address:
            for handshake in (websocket.request, websocket.response):
                if handshake is not None:
                    # 2 KiB that nobody asks for again.
                    handshake.headers.clear()
            await Session(websocket, rooms, players, lobby, connection_id, address, settings, door.may_enroll).serve()

    async def tell_key(_: QueryParams) -> Page:
        return text_page(rooms.key.public.hex())

    async def tell_durability(_: QueryParams) -> Page:
        return text_page(durability.promise)

    async def tell_lobby(ask: QueryParams) -> Page:
        number = ask.get("page", "0")
        if not number.isdecimal() or len(number) > 6:
            return text_page(f"page is a number from 0, not {number[:40]!r}", HTTPStatus.BAD_REQUEST)
        try:
            return Page(encode(await lobby.page(int(number))), JSON)
        except (RedisError, OSError):
            return text_page("The lobby cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)

    pages: Pages = {**_health(rooms), "/key": tell_key, "/durability": tell_durability, "/lobby": tell_lobby}
    tls = _load_tls(settings)
    with _as_cannot_listen(settings.host, settings.port):
        server = await serve(
            handle,
            settings.host,
            settings.port,
            create_connection=FastWebSocket,
            ssl=tls,
            # asyncio's own patience is a minute, for connections that nobody counts yet.
            ssl_handshake_timeout=settings.hello_seconds if tls else None,
            reuse_port=settings.reuse_port or None,
            backlog=BACKLOG,
            process_request=make_responder(pages, door.check),
            compression=None,
            max_size=settings.max_frame_bytes,
            max_queue=16,
            open_timeout=CLOSE_SECONDS,
            # Above what the outbox allows, so that pings never wait for a reader that has stalled.
            write_limit=2 * settings.max_unsent_bytes,
            ping_interval=settings.heartbeat_seconds,
            ping_timeout=settings.heartbeat_seconds,
            close_timeout=CLOSE_SECONDS,
            server_header="fairest",
        )
    _limit_silence(server, 2 * settings.heartbeat_seconds)
    try:
        yield public_url(settings, _port(server))
    finally:
        await _close(server)


@asynccontextmanager
async def admin_port(settings: Settings, rooms: RoomRegistry) -> AsyncIterator[str | None]:
    """Serve the operator's pages for as long as the context lasts; yields their URL. Raises `CannotListen`."""
    if settings.admin_port is None:
        yield None
        return

    async def tell_metrics(_: QueryParams) -> Page:
        metrics.REDIS_SILENT.set(rooms.silent_seconds)
        metrics.TASKS.set(len(asyncio.all_tasks()))
        return Page(metrics.expose(), metrics.CONTENT_TYPE)

    pages: Pages = {**_health(rooms), "/metrics": tell_metrics}
    with _as_cannot_listen(settings.admin_host, settings.admin_port):
        server = await serve(
            _serve_nobody,
            settings.admin_host,
            settings.admin_port,
            create_connection=FastWebSocket,
            process_request=make_responder(pages, None),
        )
    try:
        yield f"http://{settings.admin_host}:{_port(server)}"
    finally:
        await _close(server)


def _health(rooms: RoomRegistry) -> Pages:
    """Whether this process lives, and whether it should be sent players."""

    async def tell_alive(_: QueryParams) -> Page:
        return text_page("alive")

    async def tell_ready(_: QueryParams) -> Page:
        if rooms.clock.decision_window():
            return text_page("ready")
        return text_page(f"redis has been silent for {rooms.silent_seconds:.1f} s", HTTPStatus.SERVICE_UNAVAILABLE)

    return {"/livez": tell_alive, "/readyz": tell_ready}


async def _serve_nobody(websocket: ServerConnection) -> None:
    await websocket.close()


def _load_tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
    except (OSError, ssl.SSLError) as reason:
        # ssl.SSLError is an OSError; its number is none of the system's.
        why = reason.reason if isinstance(reason, ssl.SSLError) else reason.strerror
        raise CannotListen(f"cannot serve TLS with {settings.tls_cert} and {settings.tls_key}: {why}") from reason
    return context


def _limit_silence(server: Server, seconds: float) -> None:
    """Let the system end connections, ours or closed ones, on which what was sent is not taken for so long.

    Accepted sockets inherit the option. Without it, what a stalled reader left unread stays in the system's memory for
    minutes after we have cut it off. Linux only.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        for listening in server.sockets:
            listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


async def _close(server: Server) -> None:
    """Send everybody elsewhere; who does not read is cut off, since closing would wait for them for ever."""
    server.close(code=CloseCode.RESTARTING, reason="restarting")
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            await server.wait_closed()
    except TimeoutError:
        for websocket in server.connections:
            websocket.transport.abort()
        await server.wait_closed()


def _port(server: Server) -> int:
    return int(server.sockets[0].getsockname()[1])


@contextmanager
def _as_cannot_listen(rooms: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise CannotListen(f"cannot listen on {rooms}:{port}: {os_error_text(reason)}") from reason


def os_error_text(reason: OSError) -> str:
    """What the system says, without what asyncio adds to it."""
    return os.strerror(reason.errno) if reason.errno and reason.errno > 0 else str(reason)
