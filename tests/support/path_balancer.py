"""A balancer in front of two processes: one serves the addresses of all rooms, the other one everything else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum

from tests.support.limited import limited_server

HEAD_BYTES = 4096


class Fault(Enum):
    """The treatment of a connection to the address of a room."""

    CLOSED = "the balancer closes it"
    SILENT = "nothing is answered"
    REFUSED = "the balancer answers with 502"
    HELD = "it is held until `release`"


@dataclass(eq=False)
class PathBalancer:
    """`fault` holds for connections that begin from then on. If one process is gone, the other serves all."""

    elsewhere: str
    rooms: str
    fault: Fault | None = None
    port: int = 0
    targets: list[str] = field(default_factory=list)
    """The target of each request, in order."""
    _carrying: set[asyncio.Task[None]] = field(default_factory=set)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def moves(self) -> int:
        """The number of requests for the address of a room."""
        return sum(target.startswith("/r/") for target in self.targets)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of its own: asyncio reports the cancelled task of a stream's callback as an error.
        carrying = asyncio.create_task(self._carry(reader, writer))
        self._carrying.add(carrying)
        carrying.add_done_callback(self._carrying.discard)
        await asyncio.wait([carrying])

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.read(HEAD_BYTES)
            target = head.split(b" ", 2)[1].decode()
            self.targets.append(target)
            is_room = target.startswith("/r/")
            if is_room and self.fault is Fault.HELD:
                await self._released.wait()
            elif is_room and self.fault is not None:
                await self._fail(self.fault, reader, writer)
                return
            far_reader, far_writer = await self._open(is_room=is_room)
            far_writer.write(head)
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        except (OSError, IndexError):
            return
        finally:
            writer.close()

    def release(self) -> None:
        """Let the held connections go on, and those that begin from now on."""
        self.fault = None
        self._released.set()

    async def end(self) -> None:
        tasks = list(self._carrying)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fail(self, fault: Fault, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if fault is Fault.SILENT:
            await reader.read()
        elif fault is Fault.REFUSED:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()

    async def _open(self, *, is_room: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for url in (self.rooms, self.elsewhere) if is_room else (self.elsewhere, self.rooms):
            host, _, port = url.removeprefix("ws://").rpartition(":")
            with suppress(ConnectionRefusedError):
                return await asyncio.open_connection(host, int(port))
        raise ConnectionRefusedError


@asynccontextmanager
async def path_balancer(elsewhere: str, rooms: str) -> AsyncIterator[PathBalancer]:
    balancer = PathBalancer(elsewhere, rooms)
    server = await asyncio.start_server(balancer.carry, "127.0.0.1", 0)
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        yield balancer
    finally:
        server.close()
        await balancer.end()


@asynccontextmanager
async def balanced_servers(redis_url: str) -> AsyncIterator[PathBalancer]:
    """Two servers behind a balancer. The one that does not serve the addresses of rooms knows of both."""
    async with (
        limited_server(redis_url) as rooms,
        limited_server(redis_url) as elsewhere,
        path_balancer(elsewhere, rooms) as balancer,
    ):
        yield balancer


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on bytes until either end is gone."""
    try:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
