"""The way out: frames to one connection, at once and without waiting, or the end of a connection that does not read."""

from fairest_server.edge.fast_websocket import FastWebSocket
from fairest_server.ops import metrics


class Outbox:
    """Frames for one connection. The queue is the socket's own write buffer; full means that the reader has stalled
    and is cut off: players resume where they were, spectators come back to a snapshot.
    """

    __slots__ = ("_max_unsent_bytes", "_websocket", "has_stalled")

    def __init__(self, websocket: FastWebSocket, max_unsent_bytes: int) -> None:
        self._websocket = websocket
        self._max_unsent_bytes = max_unsent_bytes
        self.has_stalled = False
        """Whether this connection was cut off because its reader had stalled."""

    def send(self, data: bytes) -> None:
        """Send one text frame; nothing happens on a connection that is closing."""
        # Looked at before: a record may be larger than all that may lie here, and its reader has done nothing yet.
        if self._websocket.transport.get_write_buffer_size() > self._max_unsent_bytes:
            # `close` would wait for the very reader that does not read.
            metrics.CUT_OFF.labels("unread").inc()
            self.has_stalled = True
            self._websocket.transport.abort()
        else:
            self._websocket.write_text(data)
