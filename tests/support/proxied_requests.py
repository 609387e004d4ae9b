"""A server behind a proxy that only takes requests, and keeps their headers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.datastructures import Headers

from tests.support.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def proxied_requests() -> AsyncIterator[tuple[str, "asyncio.Queue[Headers]"]]:
    """Serve for as long as the context lasts; yields the address, and the headers of each request for a WebSocket.

    Every request is answered: a check of a balancer that the server is alive with 200, all else with 403.
    """
    requests: asyncio.Queue[Headers] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = Headers()
        for name, _, value in (line.partition(":") for line in lines if line):
            headers[name] = value.strip()
        is_check = "/readyz" in first
        if not is_check:
            requests.put_nowait(headers)
        status = b"200 OK" if is_check else b"403 Forbidden"
        writer.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
