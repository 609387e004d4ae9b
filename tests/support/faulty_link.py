"""A link between two real sockets with faults: slow, stalled, cut, mute, or dead without a sign (half-open)."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

Target = Path | tuple[str, int]
"""The address of the far end: a Unix socket, or host and port."""

KEPT_BYTES = 4096


@dataclass(eq=False)
class _Strand:
    """One connection through the link: the writers to both ends."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    is_dead: bool = False
    said: bytes = b""
    """The newest bytes from the near end."""
    is_gone: asyncio.Event = field(default_factory=asyncio.Event)

    def reset(self) -> None:
        self.is_gone.set()
        for writer in (self.near, self.far):
            _reset(writer)


@dataclass
class FaultyLink:
    """A proxy that passes bytes on, both ways, as its faults allow. A fault may be set at any time and holds for all
    connections.
    """

    target: Target
    port: int = 0
    latency_seconds: float = 0.0
    is_closed: bool = False
    """Whether new connections are refused."""
    muted: bytes = b""
    """If not empty, the far end's replies are lost on each connection over which these bytes were sent to it."""
    stalls_after: int = 0
    """If not 0, the link stalls when the far end has sent so many bytes more, and sets `has_stalled`."""
    has_stalled: asyncio.Event = field(default_factory=asyncio.Event)
    strands: set[_Strand] = field(default_factory=set)
    _carrying: set[asyncio.Task[None] | None] = field(default_factory=set)
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The near end of the link, as the URL of a Redis."""
        return f"redis://127.0.0.1:{self.port}"

    def stall(self) -> None:
        """Hold back all bytes until `flow`."""
        self._flowing.clear()

    def flow(self) -> None:
        """Pass on all bytes again, also those that were held back."""
        self._flowing.set()

    async def stall_after(self, count: int) -> None:
        """Hold back all bytes once the far end has sent `count` bytes from now on; return then."""
        self.stalls_after = count
        self.has_stalled.clear()
        await self.has_stalled.wait()

    def reset(self, said: bytes = b"") -> None:
        """End all connections with a TCP reset, or those that `said` was sent over; bytes on their way are lost."""
        for strand in list(self.strands):
            if said in strand.said:
                strand.reset()

    def half_open(self) -> None:
        """Let all present connections die silently: bytes sent into them vanish, and neither end is notified."""
        for strand in self.strands:
            strand.is_dead = True

    def redirect(self, target: Target) -> None:
        """Lead new connections to another target; reset the present ones."""
        self.target = target
        self.reset()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to the near end."""
        task = asyncio.current_task()
        self._carrying.add(task)
        try:
            await self._carry(reader, writer)
        finally:
            self._carrying.discard(task)

    async def end(self) -> None:
        """Reset all connections and wait for the tasks that carry them."""
        self.flow()
        self.reset()
        await asyncio.gather(*(task for task in self._carrying if task), return_exceptions=True)

    def _count(self, sent: int) -> None:
        self.stalls_after = max(0, self.stalls_after - sent)
        if not self.stalls_after:
            self.stall()
            self.has_stalled.set()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_closed:
            _reset(writer)
            return
        try:
            if isinstance(self.target, Path):
                far_reader, far_writer = await asyncio.open_unix_connection(self.target)
            else:
                far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            _reset(writer)
            return
        strand = _Strand(writer, far_writer)
        self.strands.add(strand)
        try:
            await asyncio.gather(self._pass(strand, reader, far_writer), self._pass(strand, far_reader, writer))
        except OSError:
            strand.reset()
        finally:
            self.strands.discard(strand)
            for each in (writer, far_writer):
                each.close()

    async def _pass(self, strand: _Strand, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Write each chunk when its latency has passed, in order; reading does not wait for it. None marks a reset."""
        due: asyncio.Queue[tuple[float, bytes | None]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        async def read() -> None:
            chunk: bytes | None = b"-"
            while chunk:
                try:
                    chunk = await reader.read(65536)
                except OSError:
                    chunk = None
                due.put_nowait((loop.time() + self.latency_seconds, chunk))

        reading = asyncio.create_task(read())
        try:
            while True:
                at, chunk = await due.get()
                await asyncio.sleep(at - loop.time())
                await self._flowing.wait()
                if writer is strand.far and chunk:
                    strand.said = (strand.said + chunk)[-KEPT_BYTES:]
                elif chunk and self.muted and self.muted in strand.said:
                    continue
                elif chunk and self.stalls_after:
                    self._count(len(chunk))
                if strand.is_dead:
                    await strand.is_gone.wait()
                if chunk is None or strand.is_gone.is_set():
                    raise ConnectionResetError
                if not chunk:
                    writer.write_eof()
                    return
                writer.write(chunk)
                await writer.drain()
        finally:
            reading.cancel()


def _reset(writer: asyncio.StreamWriter) -> None:
    connected = writer.get_extra_info("socket")
    if not writer.transport.is_closing() and connected.family != socket.AF_UNIX:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def let_fault_last(seconds: float) -> None:
    """Sleep while a fault lasts. The length of the fault is the subject of the test, and no event marks its end."""
    await asyncio.sleep(seconds)


@asynccontextmanager
async def faulty_link(target: Target, tls: ssl.SSLContext | None = None) -> AsyncIterator[FaultyLink]:
    """A link to this target, on a loopback port of its own, without faults at first; its near end may speak TLS."""
    link = FaultyLink(target)
    link.flow()
    server = await asyncio.start_server(link.carry, "127.0.0.1", 0, ssl=tls)
    link.port = server.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        server.close()
        await link.end()
        await server.wait_closed()
