"""A WebSocket client of few instructions, so that the server keeps a core busy and not its load.

It implements the part of RFC 6455 that the load needs: whole text frames, pings, and a mask of zeros.
"""

import asyncio
import struct
from collections.abc import Callable
from typing import cast

_REQUEST = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: fairest.v1\r\n\r\n"
)
_TEXT, _CLOSE, _PING = 0x1, 0x8, 0x9


def frame(payload: bytes, opcode: int = _TEXT) -> bytes:
    """Return a whole frame as a client sends it."""
    size = len(payload)
    length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


class WebSocketClient(asyncio.Protocol):
    """One connection. `on_open` is called after the handshake, `on_text` with the payload of every text frame."""

    def __init__(self, on_open: Callable[[], None], on_text: Callable[[bytes], None]) -> None:
        self._on_open = on_open
        self._on_text = on_text
        self._unread = b""
        self._is_open = False
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.send_frame: Callable[[bytes], None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.send_frame = self._transport.write
        self.send_frame(_REQUEST)

    def connection_lost(self, reason: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(str(reason or "closed"))

    def data_received(self, data: bytes) -> None:
        if self._unread:
            data = self._unread + data
        start = 0 if self._is_open else self._finish_handshake(data)
        end = len(data)
        while end - start >= 2:
            size, begin = data[start + 1], start + 2
            if size == 126:
                if end - start < 4:
                    break
                size, begin = struct.unpack_from("!H", data, start + 2)[0], start + 4
            elif size == 127:
                if end - start < 10:
                    break
                size, begin = struct.unpack_from("!Q", data, start + 2)[0], start + 10
            if end - begin < size:
                break
            payload, opcode = data[begin : begin + size], data[start] & 0x0F
            start = begin + size
            if opcode == _TEXT:
                self._on_text(payload)
            elif opcode == _PING:
                self._transport.write(frame(payload, 0xA))
            elif opcode == _CLOSE:
                self.closed.set_result(payload[2:].decode() or "closed")
                self._transport.close()
                return
        self._unread = data[start:]

    def stop_reading(self) -> None:
        """Leave further data in the system's buffers."""
        self._transport.pause_reading()

    def close(self) -> None:
        """Abort the connection without a close frame."""
        if not self.closed.done():
            self.closed.set_result("by us")
        self._transport.abort()

    def _finish_handshake(self, data: bytes) -> int:
        """Check the answer to the handshake and return the offset of the first frame. Raises ConnectionError."""
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            raise ConnectionError("the answer to the handshake came in pieces")
        assert data.startswith(b"HTTP/1.1 101"), data[:200]
        self._is_open = True
        self._on_open()
        return end
