"""The server's end of a WebSocket: an `asyncio.Protocol` over the public sans-I/O layer of `websockets`.

A text message that arrives whole, while nothing else waits, may be handled where it arrives (the fast path). All other
bytes go through `Incoming`, which parses them in turns, charges each frame, and keeps the order of messages
(docs/decisions/0049-own-websocket-edge.md).
"""

import asyncio
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol, cast

from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from fairest_server.edge.addresses import is_trusted
from fairest_server.edge.frame_budget import FrameBudget
from fairest_server.edge.frame_stream import FrameStream, Rejection
from fairest_server.edge.frames import unframe_text
from fairest_server.edge.http_pages import answer, text_page
from fairest_server.edge.incoming import Incoming
from fairest_server.edge.keepalive import Keepalive, Tick
from fairest_server.edge.outbox import Outbox
from fairest_server.edge.round_trip import ROUND_TRIP_HEADER, RoundTrip, stated_round_trip_us
from fairest_server.edge.turns import Turns
from fairest_server.ops import metrics
from fairest_server.ops.metrics import CutOff
from fairest_server.settings import Settings

FastPath = Callable[[bytes], bool]
"""Handles a text message at once and returns True, or returns False to leave it to `recv`."""

OPENING_SECONDS: Final = 2.0
"""Time limit for the request of an opening handshake."""
ANSWER_SECONDS: Final = 8.0
"""Time limit for its answer, longer than that of any page."""
HANDSHAKE_MESSAGES: Final = 2
"""A handshake, with the session that follows, takes as long as this many messages, or longer."""
MAX_HEAD_BYTES: Final = 16_384
"""Largest head of a request."""
_END_OF_HEAD: Final = b"\r\n\r\n"
_TOO_LONG: Final = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


class WebSocketOwner(Protocol):
    """The server of a connection, which shares its settings and turns with all others."""

    @property
    def settings(self) -> Settings:
        """The settings of the server."""

    @property
    def turns(self) -> Turns:
        """The turns in which all its connections parse."""

    def on_made(self, websocket: "WebSocket") -> None:
        """Keep a connection that has begun."""

    def on_request(self, websocket: "WebSocket", request: Request) -> None:
        """Take the request of an opening handshake, to be answered by `accept` or `respond`."""

    def on_lost(self, websocket: "WebSocket") -> None:
        """Forget a connection that has ended."""


class WebSocket(asyncio.Protocol):
    """One connection, from the end of its TCP or TLS handshake to its own end."""

    __slots__ = (
        "_has_ended",
        "_head",
        "_keepalive",
        "_lost",
        "_owner",
        "_request",
        "_stream",
        "_timer",
        "close_code",
        "fast_path",
        "incoming",
        "is_made",
        "is_opening",
        "outbox",
        "peer",
        "round_trip",
    )

    def __init__(self, owner: WebSocketOwner, peer: str) -> None:
        self._owner = owner
        self.peer: Final = peer
        """The address at the other end of the socket."""
        self.fast_path: FastPath | None = None
        """Called with each text message that arrives whole while nothing else waits. Set by the session just before it
        awaits `recv`, and cleared when that returns, so a fast-path message never overtakes a queued one.
        """
        self.close_code: int | None = None
        """The close code of the client, or 1006; None until the end."""
        self.is_made = False
        """Whether the TCP or TLS handshake is over, so that `connection_lost` follows."""
        self.is_opening = True
        """Whether the request was not answered yet."""
        self._has_ended = False
        self._head: bytearray | None = bytearray()
        """The head of the request so far; None when it is complete."""

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, for at most OPENING_SECONDS."""
        loop, settings = asyncio.get_running_loop(), self._owner.settings
        self._lost = loop.create_future()
        self._stream = FrameStream(settings.max_frame_bytes)
        self.outbox = Outbox(cast("asyncio.Transport", transport), self._stream, settings.max_unsent_bytes)
        is_direct = not is_trusted(self.peer, settings.proxy_networks)
        self.round_trip = RoundTrip(self.outbox.ping, transport.get_extra_info("socket"), is_direct=is_direct)
        self._keepalive = Keepalive(self.round_trip)
        budget = FrameBudget(settings, time.monotonic())
        self.incoming = Incoming(self.outbox, self._stream, budget, self._keepalive, self._owner.turns)
        self._timer = loop.call_later(OPENING_SECONDS, self._open_late)
        self.is_made = True
        self._owner.on_made(self)

    def data_received(self, data: bytes) -> None:
        """Offer a whole text message to `fast_path`; leave everything else to `Incoming`."""
        if self.incoming.is_clear and self.fast_path is not None:
            text = unframe_text(data)
            if text is not None and self.fast_path(text):
                return
        if self._head is None:
            self.incoming.arrive(data)
        else:
            self._receive_head(self._head, data)

    def eof_received(self) -> None:
        """Parse a last slice, which may hold a close frame; the transport then closes by itself."""
        self.incoming.parse_slice()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature of asyncio
        """Wake all that wait for this connection, and let go of everything that refers to it."""
        self._timer.cancel()
        self._has_ended, self.fast_path, self.is_opening = True, None, False
        self.round_trip.on_answer = None
        self.outbox.release()
        self.close_code, failure = self._stream.end()
        if failure is not None:
            metrics.CUT_OFF.labels(failure).inc()
        self.incoming.lose()
        self._owner.on_lost(self)
        self._owner.turns.add(self)

    def pause_writing(self) -> None:
        """Hold pongs back: the transport has much to send."""
        self.outbox.set_full(is_full=True)

    def resume_writing(self) -> None:
        """Send pongs again."""
        self.outbox.set_full(is_full=False)

    # Called by the server and the session.

    def accept(self, request: Request) -> None:
        """Answer a request to open a WebSocket; `outbox.is_open` then says whether it was a valid one."""
        if self.round_trip.beyond_us is None:
            self.round_trip.beyond_us = stated_round_trip_us(request.headers.get_all(ROUND_TRIP_HEADER))
        is_open, self.is_opening = self._stream.accept(request), False
        self._timer.cancel()
        self.outbox.flush()
        if is_open:
            self._timer = asyncio.get_running_loop().call_later(self._owner.settings.heartbeat_seconds, self._beat)
            self.incoming.begin()

    def respond(self, response: Response, rejection: Rejection | None = None) -> None:
        """Answer a request over plain HTTP, or by `rejection` if that is given and can be; this ends the connection."""
        self.is_opening = False
        self._timer.cancel()
        if rejection is None or not self._stream.reject(rejection):
            self._stream.respond(response)
        self.outbox.limit_closing(len(response.body))
        self.outbox.flush()

    def begin_close(self, code: int, reason: str) -> None:
        """Begin the closing handshake; does nothing on a connection that is not open."""
        if self.outbox.is_open:
            if self.incoming.is_flooded:
                self._stream.fail(code, reason)
            else:
                self._stream.send_close(code, reason)
            self.outbox.flush()
            self.outbox.limit_closing()
            self.incoming.close()

    async def wait_closed(self) -> None:
        """Wait for the end of the connection. Safe to cancel."""
        await asyncio.shield(self._lost)

    def take_turn(self) -> int:
        """Parse the head of the request and have it answered, or wake those that wait for the end of the connection.

        Return how many messages that costs as much as.
        """
        if self._has_ended:
            if not self._lost.done():
                self._lost.set_result(None)
            return 1
        if not self.is_opening:
            return 0
        request = self._stream.receive_request(self._request)
        self.outbox.flush()
        if request is not None:
            self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._open_late)
            self._owner.on_request(self, request)
        return HANDSHAKE_MESSAGES

    def _receive_head(self, head: bytearray, data: bytes) -> None:
        head += data
        end = head.find(_END_OF_HEAD) + len(_END_OF_HEAD)
        if max(end, 0 if end >= len(_END_OF_HEAD) else len(head)) > MAX_HEAD_BYTES:
            self._head = None
            self.respond(answer(text_page("The head of this request is too long.", _TOO_LONG)))
            return
        if end < len(_END_OF_HEAD):
            return
        self._head = None
        self._request = bytes(head[:end])
        self.incoming.arrive(bytes(head[end:]))
        # Many clients may connect at once: their handshakes wait for each other, and not the moves of players for all.
        self._owner.turns.add(self)

    def _open_late(self) -> None:
        metrics.CUT_OFF.labels(CutOff.HANDSHAKE).inc()
        self.outbox.transport.abort()

    def _beat(self) -> None:
        """Send a ping, or end a client that has not answered the last one."""
        if not self.outbox.is_open:
            return
        match self._keepalive.tick(is_behind=self.incoming.is_behind):
            case Tick.PING:
                self._stream.send_ping(self._keepalive.ping())
            case Tick.SILENT:
                metrics.CUT_OFF.labels(CutOff.SILENT).inc()
                self._stream.fail(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
            case Tick.WAIT:
                pass
        self.round_trip.ping()
        self.outbox.flush()
        self._timer = asyncio.get_running_loop().call_later(self._owner.settings.heartbeat_seconds, self._beat)
