"""The way out: frames to one connection, at once and without waiting, or the end of a connection that does not read."""

from typing import Final

from websockets.asyncio.server import ServerConnection, broadcast

MAX_UNSENT_BYTES: Final = 256 * 1024
"""What may lie unsent for one connection: many times a player's whole round, so only a stalled reader gets here."""


class Outbox:
    """Frames for one connection. The queue is the socket's own write buffer; full means that the reader has stalled
    and is cut off: players resume where they were, spectators come back to a snapshot.
    """

    def __init__(self, websocket: ServerConnection) -> None:
        self._websocket = websocket

    def send(self, data: bytes) -> None:
        """Send one text frame; nothing happens on a connection that is closing."""
        broadcast((self._websocket,), data, text=True)
        transport = self._websocket.transport
        if transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            # `close` would wait for the very reader that does not read.
            transport.abort()
