"""Outgoing frames of one connection: written at once, or the connection is cut off because its client does not read."""

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_server import Refused
from fairest_server.edge.outgoing import Outgoing
from fairest_server.ops import metrics


class Outbox:
    """Frames for one connection. The queue is the socket's own write buffer; when it is full, the reader has stalled
    and is cut off: players resume where they were, spectators come back to a snapshot.
    """

    __slots__ = ("_max_unsent_bytes", "_outgoing", "has_stalled")

    def __init__(self, outgoing: Outgoing, max_unsent_bytes: int) -> None:
        self._outgoing = outgoing
        self._max_unsent_bytes = max_unsent_bytes
        self.has_stalled = False
        """Whether this connection was cut off because its reader had stalled."""

    def send(self, data: bytes) -> None:
        """Send one encoded message; does nothing on a connection that is closing."""
        # The buffer is checked before the write: a record may by itself be larger than the limit, and its reader has
        # not stalled.
        if self._outgoing.transport.get_write_buffer_size() > self._max_unsent_bytes:
            # `close` would wait for the very client that does not read.
            metrics.CUT_OFF.labels(metrics.CutOff.UNREAD).inc()
            self.has_stalled = True
            self._outgoing.transport.abort()
        else:
            self._outgoing.write_text(data)

    def send_message(self, message: Message) -> None:
        """Encode and send a message; a refusal is counted."""
        if isinstance(message, Refused):
            metrics.REFUSALS.labels(message.code).inc()
        self.send(encode(message))
