"""The way out of one connection: its frames, written to the transport without waiting, and the end of its stream.

The queue is the socket's own write buffer. When more than `max_unsent_bytes` wait there, the reader has stalled and is
cut off: players resume where they were, spectators come back to a snapshot.
"""

import asyncio
from contextlib import suppress
from typing import Final

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_server import Refused
from fairest_server.edge.frame_stream import SEND_EOF, FrameStream
from fairest_server.edge.frames import PONG_HEAD, frame_text
from fairest_server.ops import metrics

CLOSING_SECONDS: Final = 2.0
"""Time limit for the closing handshake, and for the client's end of the stream behind ours."""
SLOW_BYTES_PER_SECOND: Final = 65_536
"""A long answer over HTTP gets more time: as much as a line of this rate takes for it."""
MAX_CLOSING_SECONDS: Final = 30.0
"""The most time for an answer; asyncio gives a TLS connection no more (`ssl_shutdown_timeout`)."""
MAX_UNSENT_PONG_BYTES: Final = 32_768
"""No pong is written while more than this is unsent; the newest one waits, and takes the place of older ones."""


class Outbox:
    """Frames for one client. Messages are written directly; what the library writes is fetched by `flush`."""

    __slots__ = (
        "_closing",
        "_is_full",
        "_max_unsent_bytes",
        "_pong",
        "_stream",
        "has_ended",
        "has_stalled",
        "is_open",
        "transport",
    )

    def __init__(self, transport: asyncio.Transport, stream: FrameStream, max_unsent_bytes: int) -> None:
        transport.set_write_buffer_limits(high=MAX_UNSENT_PONG_BYTES)
        self.transport: Final = transport
        self._stream = stream
        self._max_unsent_bytes = max_unsent_bytes
        self.has_stalled = False
        """Whether this connection was cut off because its reader had stalled."""
        self.is_open = False
        """Whether messages may be written: from the end of the opening handshake to the first close frame."""
        self.has_ended = False
        """Whether the last byte was written; nothing is sent after that, and what still arrives is discarded."""
        self._is_full = False
        self._pong: bytes | None = None
        self._closing: asyncio.TimerHandle | None = None

    def send(self, data: bytes) -> None:
        """Send one encoded message; does nothing on a connection that is closing."""
        transport = self.transport
        # The buffer is checked before the write: a record may by itself be larger than the limit, and its reader has
        # not stalled.
        if transport.get_write_buffer_size() > self._max_unsent_bytes:
            # `close` would wait for the very client that does not read.
            metrics.CUT_OFF.labels(metrics.CutOff.UNREAD).inc()
            self.has_stalled = True
            transport.abort()
        elif self.is_open and not transport.is_closing():
            transport.write(frame_text(data))

    def send_message(self, message: Message) -> None:
        """Encode and send a message; a refusal is counted."""
        if isinstance(message, Refused):
            metrics.REFUSALS.labels(message.code).inc()
        self.send(encode(message))

    def flush(self) -> None:
        """Write what the library has to send: answers to pings and close frames, and what it was asked for."""
        frames = []
        output = self._stream.take_output()
        for frame in output:
            if self._is_full and frame.startswith(PONG_HEAD):
                self._pong = frame
            else:
                # `SEND_EOF` is empty, and always the last.
                frames.append(frame)
        data = b"".join(frames)
        if data and not self.transport.is_closing():
            self.transport.write(data)
        if SEND_EOF in output:
            self._end()
        self.is_open = self._stream.is_open

    def ping(self, payload: bytes) -> None:
        """Send a ping; does nothing on a connection that is closing."""
        if self.is_open:
            self._stream.send_ping(payload)
            self.flush()

    def limit_closing(self, answer_bytes: int = 0) -> None:
        """Abort the connection unless it ends within CLOSING_SECONDS, or within the time for an answer of this size.

        The first call counts.
        """
        if self._closing is None:
            seconds = min(CLOSING_SECONDS + answer_bytes / SLOW_BYTES_PER_SECOND, MAX_CLOSING_SECONDS)
            self._closing = asyncio.get_running_loop().call_later(seconds, self.transport.abort)

    def set_full(self, *, is_full: bool) -> None:
        """Hold pongs back while the transport has much to send; afterwards write the newest."""
        self._is_full = is_full
        if not is_full and self._pong is not None and not self.has_ended and not self.transport.is_closing():
            self.transport.write(self._pong)
            self._pong = None

    def release(self) -> None:
        """Cancel the timer of a connection that has ended."""
        self.is_open = False
        if self._closing is not None:
            self._closing.cancel()

    def _end(self) -> None:
        self.has_ended = True
        self.limit_closing()
        if self.transport.is_closing():
            return
        # Behind unread bytes of the client, `close` would reset the connection, and the client might lose our last
        # frames. TLS has no half-closed connections.
        if self.transport.can_write_eof():
            # Fails if the client has reset the connection meanwhile, of which we hear next.
            with suppress(OSError):
                self.transport.write_eof()
        else:
            self.transport.close()
