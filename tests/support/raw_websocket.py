"""A WebSocket client that writes any bytes: for floods, and for frames that no library sends."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from websockets.frames import Close, Frame, Opcode

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: fairest.v1\r\n\r\n"
)


def frame(opcode: Opcode, data: bytes = b"", *, fin: bool = True) -> bytes:
    """Return a frame as a client sends it."""
    return Frame(opcode, data, fin).serialize(mask=True)


@dataclass
class RawClient:
    """An open connection, with all frames that the server has sent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    frames: list[tuple[Opcode, bytes]] = field(default_factory=list)

    async def flood(self, data: bytes) -> None:
        """Write the same bytes again and again, until the server ends the connection."""
        receiving = asyncio.create_task(self.receive_all())
        with suppress(OSError):
            while not receiving.done():
                self.writer.write(data)
                await asyncio.wait({receiving, asyncio.ensure_future(self._drain())}, return_when="FIRST_COMPLETED")
        await receiving

    async def _drain(self) -> None:
        with suppress(OSError):
            await self.writer.drain()
        # The server may run in this loop too.
        await asyncio.sleep(0)

    async def receive_all(self) -> None:
        """Receive frames until the server ends the connection."""
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                self.frames.append(await self.receive())

    async def receive(self) -> tuple[Opcode, bytes]:
        """Return the next frame. Raises IncompleteReadError at the end of the stream."""
        first, size = await self.reader.readexactly(2)
        if size == 126:
            size = int.from_bytes(await self.reader.readexactly(2), "big")
        return Opcode(first & 0x0F), await self.reader.readexactly(size)

    @property
    def close_code(self) -> int | None:
        """The code of the close frame that the server has sent, or None."""
        return next((Close.parse(data).code for opcode, data in self.frames if opcode is Opcode.CLOSE), None)


@asynccontextmanager
async def raw_connection(url: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawClient]:
    """Open a TCP or TLS connection and send nothing."""
    host, _, port = url.rpartition("/")[2].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=tls)
    try:
        yield RawClient(reader, writer)
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def raw_websocket(url: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawClient]:
    """Open a WebSocket and send no frame."""
    async with raw_connection(url, tls) as client:
        client.writer.write(UPGRADE)
        head = await client.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        yield client
