"""Incoming messages of one connection: frames decoded in order, read no faster than a token bucket allows."""

import time

from fairest_protocol.messages.codec import decode_from_client
from fairest_protocol.messages.from_client import FromClient
from fairest_server.edge.close_errors import binary_frame, too_fast
from fairest_server.edge.incoming import Flooded
from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.edge.websocket import FastPath, WebSocket
from fairest_server.ops import metrics


class Inbox:
    """Messages that wait in the connection's queue. Those that take the fast path never come here."""

    __slots__ = ("_bucket", "_flood_seconds", "_websocket")

    def __init__(self, websocket: WebSocket, bucket: TokenBucket, flood_seconds: float) -> None:
        """`bucket` is shared with the fast path: one allowance holds for both ways."""
        self._websocket = websocket
        self._bucket = bucket
        self._flood_seconds = flood_seconds

    async def receive(self, fast_path: FastPath | None = None) -> FromClient:
        """Return the next message; while this waits, `fast_path` is offered each message that arrives whole.

        Raises ProtocolViolation for a frame that is not a message, and for a client that has sent too many frames for
        too long; Disconnected at the end. Safe to cancel.
        """
        self._websocket.fast_path = fast_path
        try:
            frame = await self._websocket.incoming.recv()
        except Flooded as flood:
            metrics.FLOODS.labels(flood.kind).inc()
            raise too_fast() from None
        # Other frames may be queued behind this one; a message on the fast path would overtake them.
        self._websocket.fast_path = None
        if isinstance(frame, bytes):
            raise binary_frame()
        message = decode_from_client(frame)
        metrics.MESSAGES.add(message.type)
        return message

    def throttle(self, tokens: int = 1) -> None:
        """Hold later messages back until the bucket has `tokens` for the message just handled.

        They wait in the end in the client's own socket. Raises `too_fast` once the bucket has been empty for
        `flood_seconds`.
        """
        now = time.monotonic()
        wait_seconds = self._bucket.take(now, tokens)
        if wait_seconds:
            metrics.THROTTLED.inc()
            since = self._bucket.empty_since
            if since is not None and now - since > self._flood_seconds:
                metrics.FLOODS.labels(metrics.FrameKind.TEXT).inc()
                raise too_fast()
            self._websocket.incoming.hold(wait_seconds)
