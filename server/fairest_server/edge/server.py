"""A port that speaks WebSocket and HTTP: its listening sockets, the sockets that it accepts, and their connections.

Sockets are accepted here, and not by the event loop, so that each is counted before its TLS handshake begins.
"""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

import structlog
from websockets.frames import CloseCode
from websockets.http11 import Request

from fairest_server.edge.http_pages import Respond, answer, text_page
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.request_refused import RequestRefused
from fairest_server.edge.room_handover import RoomHandover
from fairest_server.edge.socket_counts import SocketCounts
from fairest_server.edge.turns import Turns
from fairest_server.edge.websocket import WebSocket
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import CutOff, Part, TurnedAway
from fairest_server.settings import Settings

BACKLOG: Final = 4_096
"""Connections that the system queues until they are accepted; 4,096 is also the usual limit (`net.core.somaxconn`).
A client that finds the queue full tries again after 1, 3, 7 and 15 s: two thousand players took 15 s to come back with
asyncio's default of 100, and 2.5 s with this.
"""
ACCEPTS_PER_TURN: Final = 1
"""Sockets that are accepted in one turn of the event loop: to make a connection of one takes 0.1 ms."""
RECEIVE_BUFFER_BYTES: Final = 32_768
"""The system's buffer for what a client has sent and we have not read; without this it grows to 6 MB for a flood."""
NO_FILES_SECONDS: Final = 1.0
"""The time after which accepting is tried again when the process has no more files."""
_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOG = structlog.get_logger(__name__)

Handle = Callable[[WebSocket, Request], Awaitable[None]]
"""Serves an open connection until its end."""


class Server:
    """The listening sockets of one port, with all connections to it."""

    def __init__(
        self,
        settings: Settings,
        respond: Respond,
        handle: Handle,
        refusals: RefusalLog,
        tls: ssl.SSLContext | None = None,
        handover: RoomHandover | None = None,
    ) -> None:
        self.settings: Final = settings
        self.turns: Final = Turns()
        self._respond = respond
        self._handle = handle
        self._counts = SocketCounts(settings)
        self._refusals = refusals
        self._tls = tls
        self._handover = handover
        self._listeners: list[socket.socket] = []
        self._handshakes: set[asyncio.Task[None]] = set()
        """One for each accepted socket that is not a connection yet: its TLS handshake is under way."""
        self._connections: set[WebSocket] = set()
        self._serving: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Accept connections from now on; return the port. Raises OSError."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        try:
            for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
                listener = socket.create_server(address, family=family, backlog=BACKLOG, reuse_port=reuse_port)
                self._listeners.append(listener)
        except OSError:
            self.stop_listening()
            raise
        for listener in self._listeners:
            listener.setblocking(False)
            # Accepted sockets inherit these.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _limit_silence(listener, 2 * self.settings.heartbeat_seconds)
            if self._handover is not None:
                self._handover.prepare(listener)
            self._accept_from(listener)
        if self._handover is not None:
            self._handover.open(self.adopt)
        return int(self._listeners[0].getsockname()[1])

    def stop_listening(self) -> None:
        """Accept no more connections. Those that exist stay."""
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        self._listeners.clear()
        if self._handover is not None:
            self._handover.leave()

    async def close(self, code: int, reason: str, seconds: float) -> None:
        """Close all connections with this code; abort those that are still there after `seconds`."""
        self.stop_listening()
        if self._handover is not None:
            self._handover.close()
        # A task that is cancelled before it has begun would leave its socket open.
        await asyncio.sleep(0)
        for task in self._handshakes:
            task.cancel()
        for websocket in self._connections:
            if websocket.is_opening:
                websocket.outbox.transport.abort()
            else:
                websocket.begin_close(code, reason)
        ends = [asyncio.create_task(websocket.wait_closed()) for websocket in self._connections]
        ends += [*self._handshakes, *self._serving]
        if ends:
            await asyncio.wait(ends, timeout=seconds)
        for websocket in self._connections:
            websocket.outbox.transport.abort()
        await asyncio.gather(*ends, return_exceptions=True)

    # As the owner of its connections.

    def on_made(self, websocket: WebSocket) -> None:
        """Keep a connection whose TCP or TLS handshake is over."""
        self._connections.add(websocket)

    def on_request(self, websocket: WebSocket, request: Request) -> None:
        """Answer a request that has arrived, and serve the connection that it may become."""
        _keep(self._serving, asyncio.create_task(self._serve(websocket, request)))

    def on_lost(self, websocket: WebSocket) -> None:
        """Forget a connection that has ended."""
        self._connections.discard(websocket)
        self._uncount(websocket.peer)

    async def _serve(self, websocket: WebSocket, request: Request) -> None:
        try:
            response = await self._respond(websocket.peer, request)
            if not websocket.is_opening:
                # The client has gone meanwhile.
                return
            if response is not None:
                websocket.respond(response)
                return
            websocket.accept(request)
            if websocket.outbox.is_open:
                await self._handle(websocket, request)
        except RequestRefused as refused:
            if websocket.is_opening:
                response = answer(text_page(refused.sentence, refused.status))
                websocket.respond(response, refused.rejection_of(request))
        except Exception as fault:
            report(Part.CONNECTION, fault)
            if websocket.is_opening:
                websocket.respond(answer(text_page("The server has a fault.", HTTPStatus.INTERNAL_SERVER_ERROR)))
            websocket.begin_close(CloseCode.INTERNAL_ERROR, "")
        finally:
            websocket.begin_close(CloseCode.NORMAL_CLOSURE, "")

    def _accept_some(self, listener: socket.socket) -> None:
        """Accept some of the sockets that wait; the event loop calls this as long as there are more."""
        for _ in range(ACCEPTS_PER_TURN):
            try:
                accepted, address = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as reason:
                if reason.errno not in _NO_FILES:
                    raise
                _LOG.error(Event.NOT_ACCEPTED, reason=os_error_text(reason))
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                loop.call_later(NO_FILES_SECONDS, self._accept_from, listener)
                return
            accepted.setblocking(False)
            self._accept(accepted, str(address[0]), self._handover)

    def _accept_from(self, listener: socket.socket) -> None:
        if listener in self._listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept_some, listener)

    def adopt(self, accepted: socket.socket) -> None:
        """Serve a socket that another process has accepted."""
        try:
            peer = str(accepted.getpeername()[0])
        except OSError:
            # The client has gone.
            accepted.close()
            return
        self._accept(accepted, peer, None)

    def _accept(self, accepted: socket.socket, peer: str, handover: RoomHandover | None) -> None:
        """Serve a socket, or pass it to the process of its room by `handover`. Close it if there are too many."""
        if not self._counts.try_add(peer):
            accepted.close()
            self._refusals.add(TurnedAway.SOCKETS, peer, "Too many sockets, or too many new ones in a short time.")
            return
        metrics.SOCKETS.inc()

        def settle(is_taken: bool) -> None:
            if is_taken:
                accepted.close()
                self._uncount(peer)
            else:
                _keep(self._handshakes, asyncio.create_task(self._connect(accepted, peer)))

        if handover is None or not handover.try_pass(accepted, settle):
            settle(is_taken=False)

    async def _connect(self, accepted: socket.socket, peer: str) -> None:
        """Make a connection of an accepted socket: with TLS, complete its handshake in time."""
        websocket = WebSocket(self, peer)
        seconds = self.settings.hello_seconds if self._tls else None
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: websocket, accepted, ssl=self._tls, ssl_handshake_timeout=seconds
            )
        except OSError:
            metrics.CUT_OFF.labels(CutOff.HANDSHAKE).inc()
        finally:
            if not websocket.is_made:
                self._uncount(peer)

    def _uncount(self, peer: str) -> None:
        self._counts.remove(peer)
        metrics.SOCKETS.dec()


def os_error_text(reason: OSError) -> str:
    """Return the system's text for an error, without what asyncio adds to it."""
    return os.strerror(reason.errno) if reason.errno and reason.errno > 0 else str(reason)


def _keep(tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
    """Refer to a task until it ends, since the event loop does not."""
    tasks.add(task)
    task.add_done_callback(tasks.discard)


def _limit_silence(listener: socket.socket, seconds: float) -> None:
    """Let the system drop a connection, open or closed, whose peer has not acknowledged sent data for `seconds`.

    Accepted sockets inherit the option. Without it, the data that a stalled reader left unread stays in the system's
    memory for minutes after the reader was cut off. Linux only.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listener.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))
