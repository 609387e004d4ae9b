"""A WebSocket client of few instructions, so that the server keeps a core busy and not its load.

It implements the part of RFC 6455 that the load needs: whole text frames, pings, and a mask of zeros.
"""

import asyncio
import ssl
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from fairest_protocol.messages.fields import SUBPROTOCOL

_TEXT, _CLOSE, _PING = 0x1, 0x8, 0x9
_ABNORMAL: Final = 1006
"""The close code of RFC 6455 for a connection that ended without a close frame."""
_MAX_HEADER_BYTES: Final = 16_384
CONNECT_SECONDS: Final = 10.0
"""Time limit for the TCP connection and TLS. That of the answer to the opening handshake is the server's."""


class Target(NamedTuple):
    """The server that a load connects to. `tls` is None for `ws://`."""

    host: str
    port: int
    path: str = "/"
    tls: ssl.SSLContext | None = None

    def at_room(self, room: str | None) -> "Target":
        """Return the address of a room, or with None this."""
        return self if room is None else self._replace(path=f"{self.path.rstrip('/')}/r/{room}")

    @property
    def request(self) -> bytes:
        """The opening handshake."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            f"GET {self.path} HTTP/1.1\r\nHost: {host}:{self.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        ).encode()


def parse_target(url: str) -> Target:
    """Return the server that a WebSocket URL names. Raises ValueError for a URL that is not one."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if (
        port == 0
        or parts.scheme not in ("ws", "wss")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or parts.username
    ):
        raise ValueError(f"a server looks like ws://127.0.0.1:8765 or wss://example.org, not {url!r}")
    tls = ssl.create_default_context() if parts.scheme == "wss" else None
    return Target(parts.hostname, port or (443 if tls else 80), parts.path or "/", tls)


class Closed(NamedTuple):
    """The end of a connection: its close code and reason, and the HTTP status if it never opened (else 0)."""

    code: int
    reason: str
    http_status: int = 0


def frame(payload: bytes, opcode: int = _TEXT) -> bytes:
    """Return a whole frame as a client sends it."""
    size = len(payload)
    length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


class WebSocketClient(asyncio.Protocol):
    """One connection. `on_open` is called after the handshake, `on_text` with the payload of every text frame."""

    def __init__(self, target: Target, on_open: Callable[[], None], on_text: Callable[[bytes], None]) -> None:
        self._target = target
        self._on_open = on_open
        self._on_text = on_text
        self._unread = b""
        self._is_open = False
        self.closed: asyncio.Future[Closed] = asyncio.get_running_loop().create_future()
        self.send_frame: Callable[[bytes], None]

    async def connect(self) -> None:
        """Connect and send the opening handshake. Raises OSError; cancelling closes the connection."""
        target = self._target
        host_name = target.host if target.tls else None
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().create_connection(
                lambda: self, target.host, target.port, ssl=target.tls, server_hostname=host_name
            )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the opening handshake."""
        self._transport = cast("asyncio.Transport", transport)
        self.send_frame = self._transport.write
        self.send_frame(self._target.request)

    def connection_lost(self, reason: Exception | None) -> None:
        """Note that the connection ended without a close frame."""
        self._set_closed(Closed(_ABNORMAL, str(reason or "the connection broke")))

    def data_received(self, data: bytes) -> None:
        """Handle the frames that are complete; keep the rest until more arrives."""
        if self._unread:
            data = self._unread + data
        start = 0 if self._is_open else self._finish_handshake(data)
        end = len(data)
        while self._is_open and end - start >= 2:
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
                code = struct.unpack_from("!H", payload)[0] if len(payload) >= 2 else 1005
                self._set_closed(Closed(code, payload[2:].decode(errors="replace")))
                self._transport.close()
                return
        self._unread = data[start:]

    def stop_reading(self) -> None:
        """Leave further data in the system's buffers."""
        self._transport.pause_reading()

    def mute(self) -> None:
        """Skip all further messages, because a newer connection speaks for the client."""
        self._on_text = lambda _: None

    def close(self) -> None:
        """End the connection: with a close frame if it is open, whose answer is not awaited."""
        self._set_closed(Closed(1000, "by us"))
        if self._is_open and not self._transport.is_closing():
            self._transport.write(frame(struct.pack("!H", 1000), _CLOSE))
        self._transport.close()

    def abort(self) -> None:
        """Break the connection without a close frame."""
        self._set_closed(Closed(_ABNORMAL, "by us"))
        self._transport.abort()

    def _set_closed(self, closed: Closed) -> None:
        if not self.closed.done():
            self.closed.set_result(closed)

    def _finish_handshake(self, data: bytes) -> int:
        """Read the answer to the handshake once it is whole; return the offset of the first frame."""
        end = data.find(b"\r\n\r\n") + 4
        status = data.split(b" ", 2)[1:2]
        if end < 4 and len(data) < _MAX_HEADER_BYTES:
            return 0
        if status == [b"101"]:
            self._is_open = True
            self._on_open()
            return end
        code = int(status[0]) if status and status[0].isdigit() else 0
        sentence = data[end:].decode(errors="replace").strip()[:200]
        self._set_closed(Closed(_ABNORMAL, sentence or "the answer is not one of a WebSocket server", code or 400))
        self._transport.abort()
        return len(data)
