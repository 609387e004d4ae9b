"""The way out of one connection: its frames, written to the transport without waiting, and the end of its stream."""

import asyncio
from contextlib import suppress
from typing import Final

from fairest_server.edge.frame_stream import SEND_EOF, FrameStream
from fairest_server.edge.frames import PONG_HEAD, frame_text

CLOSING_SECONDS: Final = 2.0
"""Time limit for the closing handshake, and for the client's end of the stream behind ours."""
SLOW_BYTES_PER_SECOND: Final = 65_536
"""A long answer over HTTP gets more time: as much as a line of this rate takes for it."""
MAX_CLOSING_SECONDS: Final = 30.0
"""The most time for an answer; asyncio gives a TLS connection no more (`ssl_shutdown_timeout`)."""
MAX_UNSENT_PONG_BYTES: Final = 32_768
"""No pong is written while more than this is unsent; the newest one waits, and takes the place of older ones."""


class Outgoing:
    """Frames for one client. Messages are written directly; what the library writes is fetched by `flush`."""

    __slots__ = ("_closing", "_is_full", "_pong", "_stream", "has_ended", "is_open", "transport")

    def __init__(self, transport: asyncio.Transport, stream: FrameStream) -> None:
        transport.set_write_buffer_limits(high=MAX_UNSENT_PONG_BYTES)
        self.transport: Final = transport
        self._stream = stream
        self.is_open = False
        """Whether messages may be written: from the end of the opening handshake to the first close frame."""
        self.has_ended = False
        """Whether the last byte was written; nothing is sent after that, and what still arrives is discarded."""
        self._is_full = False
        self._pong: bytes | None = None
        self._closing: asyncio.TimerHandle | None = None

    def write_text(self, data: bytes) -> None:
        """Send one message; does nothing on a connection that is closing."""
        if self.is_open and not self.transport.is_closing():
            self.transport.write(frame_text(data))

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
