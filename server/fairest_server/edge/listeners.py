"""The two ports of a process: the public one for WebSockets and a few pages, the admin port for pages only."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from websockets.http11 import Request

from fairest_protocol.messages.refusals import CloseCode
from fairest_server.edge.address_limits import AddressLimits
from fairest_server.edge.admission import Admission
from fairest_server.edge.certificate import Certificate
from fairest_server.edge.draining import drain_when_asked
from fairest_server.edge.handshake import Handshake
from fairest_server.edge.http_pages import Page, PageRequest, Pages, make_responder
from fairest_server.edge.lookup import Lookup
from fairest_server.edge.public_pages import health_pages, shared_pages, site_pages
from fairest_server.edge.race_queue import RaceQueue
from fairest_server.edge.read_budget import ReadBudget
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.renewal import Renewal
from fairest_server.edge.room_address import room_of_target
from fairest_server.edge.room_entry import RoomEntry
from fairest_server.edge.room_handover import IS_SUPPORTED, RoomHandover
from fairest_server.edge.room_places import RoomPlaces
from fairest_server.edge.server import Server, os_error_text
from fairest_server.edge.session import Session
from fairest_server.edge.tournament_desk import TournamentDesk
from fairest_server.edge.websocket import WebSocket
from fairest_server.live.room_counts import count_rooms
from fairest_server.live.room_server import RoomServer
from fairest_server.ops import metrics
from fairest_server.settings import Settings, public_url
from fairest_server.store.control import Control
from fairest_server.store.lobby import Lobby
from fairest_server.store.player_rooms import PlayerRooms
from fairest_server.store.players import Players
from fairest_server.store.redis.durability import Durability
from fairest_server.store.room_openings import RoomOpenings
from fairest_server.store.tickets import Tickets

DRAIN_SECONDS: Final = 1.0
"""Time limit for all closing handshakes when this process ends, which may take five seconds altogether."""


class CannotListen(Exception):
    """A port cannot be used; the text says which, and why."""

    def __init__(self, host: str, port: int, reason: OSError) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {os_error_text(reason)}")


@asynccontextmanager
async def public_port(
    settings: Settings,
    rooms: RoomServer,
    players: Players,
    player_rooms: PlayerRooms,
    openings: RoomOpenings,
    lobby: Lobby,
    tickets: Tickets,
    control: Control,
    durability: Durability,
    certificate: Certificate | None,
) -> AsyncIterator[str]:
    """Serve players and spectators for as long as the context lasts; yields the URL. Raises `CannotListen`."""
    refusals, connection_numbers = RefusalLog(), itertools.count(1)
    admission = Admission(settings, rooms.drain, rooms.bans, refusals)
    limits = AddressLimits(settings)
    hello = Handshake(players, player_rooms, rooms, limits.may_enroll, settings.hello_seconds)
    handover = _make_handover(settings, rooms.process_id)
    places = RoomPlaces(handover, lambda: rooms.processes.alive, has_tls=settings.tls_cert is not None)
    room_entry = RoomEntry(rooms, openings, limits, settings, places)
    desk = TournamentDesk(rooms, openings, settings)
    lookup = Lookup(rooms, lobby, Renewal(players, control, limits.may_enroll), desk)
    queue = RaceQueue(
        tickets, rooms.processes, rooms.clock, rooms.slices, rooms.ratings.points, room_entry.offer_address
    )

    async def handle(websocket: WebSocket, request: Request) -> None:
        connection_id = f"{rooms.process_id}-{next(connection_numbers)}"
        with admission.counted_connection(websocket.peer, request) as address:
            # They are not read again, and take 2 KiB for as long as the connection lasts.
            request.headers.clear()
            session = Session(websocket, connection_id, address, settings, hello, room_entry, rooms, lookup, queue)
            session.came_for = room_of_target(request.path)
            await session.serve()

    budget = ReadBudget(admission, settings)
    shared, site = shared_pages(rooms, lobby, durability, budget), site_pages(rooms, budget, limits)
    tls = certificate.context if certificate else None
    pages = make_responder(health_pages(rooms), shared, admission, site)
    server = Server(settings, pages, handle, refusals, tls, handover)
    with _as_cannot_listen(settings.host, settings.port):
        port = await server.listen(settings.host, settings.port, reuse_port=settings.reuse_port)
    draining = asyncio.create_task(
        drain_when_asked(rooms.drain, server, rooms.connections, is_shared=settings.reuse_port)
    )
    no_more_pairs = asyncio.Event()
    pairing = asyncio.create_task(queue.run(no_more_pairs))
    try:
        yield public_url(settings, port)
    finally:
        draining.cancel()
        no_more_pairs.set()
        await pairing
        await server.close(CloseCode.RESTARTING, "restarting", DRAIN_SECONDS)


@asynccontextmanager
async def admin_port(settings: Settings, rooms: RoomServer) -> AsyncIterator[str | None]:
    """Serve the operator's pages for as long as the context lasts; yields their URL. Raises `CannotListen`."""
    if settings.admin_port is None:
        yield None
        return

    async def page_metrics(_: PageRequest) -> Page:
        counts = count_rooms(rooms.registry.rooms.values())
        metrics.PLAYERS.set(counts.players)
        metrics.SPECTATORS.set(counts.spectators)
        metrics.RACES.set(counts.races)
        metrics.REDIS_SILENT.set(rooms.clock.silent_seconds)
        metrics.TASKS.set(len(asyncio.all_tasks()))
        return Page(metrics.expose(), metrics.CONTENT_TYPE)

    pages: Pages = {**health_pages(rooms), "/metrics": page_metrics}
    server = Server(settings, make_responder(pages), _handle_none, RefusalLog())
    with _as_cannot_listen(settings.admin_host, settings.admin_port):
        port = await server.listen(settings.admin_host, settings.admin_port)
    try:
        yield f"http://{settings.admin_host}:{port}"
    finally:
        await server.close(CloseCode.RESTARTING, "restarting", DRAIN_SECONDS)


def _make_handover(settings: Settings, process_id: str) -> RoomHandover | None:
    """Return the handover between the processes on this port, None without one. TLS hides what a request asks for."""
    if settings.handover_folder is None or settings.tls_cert is not None or not IS_SUPPORTED:
        return None
    return RoomHandover(settings.handover_folder, process_id)


async def _handle_none(_: WebSocket, __: Request) -> None:
    raise AssertionError("no request to the admin port opens a WebSocket")


@contextmanager
def _as_cannot_listen(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise CannotListen(host, port, reason) from reason
