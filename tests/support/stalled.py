"""Clients that never read: a socket with a small receive buffer that speaks WebSocket by hand."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Hello

_REQUEST = (
    "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: fairest.v1\r\n\r\n"
)


class StalledClient:
    """A connection whose client sends messages and never reads."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    async def send(self, message: Message) -> None:
        """Send a message; wait while the server does not read. Raises OSError when the server has disconnected us."""
        data = encode(message)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        await asyncio.get_running_loop().sock_sendall(self._socket, b"\x81" + length + mask + masked)

    async def is_cut_off(self) -> bool:
        """Return whether the server's end is gone from the system's table; a client that never reads is not told."""
        ends = self._socket.getpeername(), self._socket.getsockname()
        wanted = [f":{port:04X}" for _, port in ends]
        rows = (await asyncio.to_thread(Path("/proc/net/tcp").read_text)).splitlines()[1:]
        return not any(row.split()[1].endswith(wanted[0]) and row.split()[2].endswith(wanted[1]) for row in rows)


@asynccontextmanager
async def stalled_client(url: str, token: str | None = None) -> AsyncIterator[StalledClient]:
    """Connect and send hello; from then on the client reads nothing."""
    with socket.socket() as connected:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connected.setblocking(False)
        host, _, port = url.removeprefix("ws://").partition(":")
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connected, (host, int(port)))
        await loop.sock_sendall(connected, _REQUEST.encode())
        await loop.sock_recv(connected, 1024)
        client = StalledClient(connected)
        await client.send(Hello(token=token))
        yield client
