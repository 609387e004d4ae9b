"""The two ports of a process: the public one for WebSockets and a few pages, the admin port for pages only."""

import asyncio
import itertools
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Final

from redis.exceptions import RedisError
from websockets.asyncio.server import Server, ServerConnection, serve

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.refusals import CloseCode
from fairest_protocol.version import installed_version
from fairest_server.edge.admission import Admission
from fairest_server.edge.certificate import Certificate
from fairest_server.edge.draining import drain_when_asked
from fairest_server.edge.fast_websocket import FastWebSocket
from fairest_server.edge.handshake import Handshake
from fairest_server.edge.http_pages import JSON, Page, Pages, QueryParams, make_responder, text_page
from fairest_server.edge.session import Session
from fairest_server.live.room_counts import count_rooms
from fairest_server.live.room_server import RoomServer
from fairest_server.ops import metrics
from fairest_server.settings import Settings, public_url
from fairest_server.store.lobby import Lobby
from fairest_server.store.players import Players
from fairest_server.store.redis.durability import Durability

BACKLOG: Final = 4_096
"""Connections that the system queues until they are accepted; 4,096 is also the usual limit (`net.core.somaxconn`).
A client that finds the queue full tries again after 1, 3, 7 and 15 s: two thousand players took 15 s to come back with
asyncio's default of 100, and 2.5 s with this.
"""
CLOSE_SECONDS: Final = 2.0
"""Time limit for the opening and the closing handshake of a WebSocket."""
DRAIN_SECONDS: Final = 1.0
"""Time limit for all closing handshakes when this process ends, which may take five seconds altogether."""


class CannotListen(Exception):
    """A port cannot be used; the text says which, and why."""


@asynccontextmanager
async def public_port(
    settings: Settings,
    rooms: RoomServer,
    players: Players,
    lobby: Lobby,
    durability: Durability,
    certificate: Certificate | None,
) -> AsyncIterator[str]:
    """Serve players and spectators for as long as the context lasts; yields the URL. Raises `CannotListen`."""
    admission, connection_numbers = Admission(settings, rooms.drain, rooms.bans), itertools.count(1)
    hello = Handshake(players, rooms, admission.may_enroll, settings.hello_seconds)

    async def handle(websocket: ServerConnection) -> None:
        assert isinstance(websocket, FastWebSocket), "as create_connection says"
        connection_id = f"{rooms.process_id}-{next(connection_numbers)}"
        with admission.counted_connection(websocket) as address:
            for upgrade in (websocket.request, websocket.response):
                if upgrade is not None:
                    # The headers are not read again, and take 2 KiB for as long as the connection lasts.
                    upgrade.headers.clear()
            session = Session(websocket, connection_id, address, settings, hello, rooms, players, lobby)
            await session.serve()

    async def page_key(_: QueryParams) -> Page:
        return text_page(rooms.key.public.hex())

    async def page_durability(_: QueryParams) -> Page:
        return text_page(durability.promise)

    async def page_lobby(params: QueryParams) -> Page:
        number = params.get("page", "0")
        if not number.isdecimal() or len(number) > 6:
            return text_page(f"page is a number from 0, not {number[:40]!r}", HTTPStatus.BAD_REQUEST)
        try:
            return Page(encode(await lobby.page(int(number))), JSON)
        except (RedisError, OSError):
            return text_page("The lobby cannot be read right now; try again.", HTTPStatus.SERVICE_UNAVAILABLE)

    pages: Pages = {**_health_pages(rooms), "/key": page_key, "/durability": page_durability, "/lobby": page_lobby}
    with _as_cannot_listen(settings.host, settings.port):
        server = await serve(
            handle,
            settings.host,
            settings.port,
            create_connection=FastWebSocket,
            ssl=certificate.context if certificate else None,
            # asyncio's default is a minute, during which a connection is not counted yet.
            ssl_handshake_timeout=settings.hello_seconds if certificate else None,
            reuse_port=settings.reuse_port or None,
            backlog=BACKLOG,
            process_request=make_responder(pages, admission.check),
            compression=None,
            max_size=settings.max_frame_bytes,
            max_queue=16,
            open_timeout=CLOSE_SECONDS,
            # Above the limit of the outbox, so that a ping never waits for a reader that has stalled.
            write_limit=2 * settings.max_unsent_bytes,
            ping_interval=settings.heartbeat_seconds,
            ping_timeout=settings.heartbeat_seconds,
            close_timeout=CLOSE_SECONDS,
            server_header="fairest",
        )
    _limit_silence(server, 2 * settings.heartbeat_seconds)
    draining = asyncio.create_task(
        drain_when_asked(rooms.drain, server, rooms.connections, is_shared=settings.reuse_port)
    )
    try:
        yield public_url(settings, _port(server))
    finally:
        draining.cancel()
        await _close(server)


@asynccontextmanager
async def admin_port(settings: Settings, rooms: RoomServer) -> AsyncIterator[str | None]:
    """Serve the operator's pages for as long as the context lasts; yields their URL. Raises `CannotListen`."""
    if settings.admin_port is None:
        yield None
        return

    async def page_metrics(_: QueryParams) -> Page:
        counts = count_rooms(rooms.registry.rooms.values())
        metrics.PLAYERS.set(counts.players)
        metrics.SPECTATORS.set(counts.spectators)
        metrics.RACES.set(counts.races)
        metrics.REDIS_SILENT.set(rooms.clock.silent_seconds)
        metrics.TASKS.set(len(asyncio.all_tasks()))
        return Page(metrics.expose(), metrics.CONTENT_TYPE)

    pages: Pages = {**_health_pages(rooms), "/metrics": page_metrics}
    with _as_cannot_listen(settings.admin_host, settings.admin_port):
        server = await serve(
            _close_at_once,
            settings.admin_host,
            settings.admin_port,
            create_connection=FastWebSocket,
            process_request=make_responder(pages, None),
        )
    try:
        yield f"http://{settings.admin_host}:{_port(server)}"
    finally:
        await _close(server)


def _health_pages(rooms: RoomServer) -> Pages:
    """Return the pages for a liveness probe and for a balancer: whether the process lives, and may get players."""

    async def page_alive(_: QueryParams) -> Page:
        return text_page(f"alive fairest {installed_version()}")

    async def page_ready(_: QueryParams) -> Page:
        if rooms.drain.is_draining:
            return text_page("draining", HTTPStatus.SERVICE_UNAVAILABLE)
        if rooms.clock.decision_window():
            return text_page("ready")
        return text_page(
            f"redis has been silent for {rooms.clock.silent_seconds:.1f} s", HTTPStatus.SERVICE_UNAVAILABLE
        )

    return {"/livez": page_alive, "/readyz": page_ready}


async def _close_at_once(websocket: ServerConnection) -> None:
    await websocket.close()


def _limit_silence(server: Server, seconds: float) -> None:
    """Let the system drop a connection, open or closed, whose peer has not acknowledged sent data for `seconds`.

    Accepted sockets inherit the option. Without it, the data that a stalled reader left unread stays in the system's
    memory for minutes after the reader was cut off. Linux only.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        for listener in server.sockets:
            listener.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


async def _close(server: Server) -> None:
    """Close all connections with `restarting`, so that clients connect elsewhere. One whose client does not read is
    aborted after DRAIN_SECONDS: its closing handshake would never end.
    """
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
def _as_cannot_listen(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise CannotListen(f"cannot listen on {host}:{port}: {os_error_text(reason)}") from reason


def os_error_text(reason: OSError) -> str:
    """Return the system's text for an error, without what asyncio adds to it."""
    return os.strerror(reason.errno) if reason.errno and reason.errno > 0 else str(reason)
