"""A process that floods a server at line speed: `benchmarks.flooder KIND PORT CONNECTIONS`, until its input ends.

Each connection writes as much as the server takes; one that is cut off comes back at once. It prints how many
connections and bytes it has made of it.
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import uvloop
from websockets.frames import Opcode

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Hello, Leave
from tests.support.raw_websocket import UPGRADE, frame

ADDRESS = "127.0.0.2"
"""Another address than that of the players, as an attacker has."""
HELLO = frame(Opcode.TEXT, encode(Hello()))
CHUNK_BYTES = 65_536
RETRY_SECONDS = 0.001
"""The time before the next connection, so that 200 clients that are refused at once are not one busy loop."""
FLOODS = {
    "text": frame(Opcode.TEXT, encode(Leave())),
    "binary": frame(Opcode.BINARY, b"x" * 100),
    "empty_fragment": frame(Opcode.CONT, fin=False),
    "ping": frame(Opcode.PING, b"x" * 100),
    "pong": frame(Opcode.PONG),
    "close": frame(Opcode.CLOSE),
}
BEGINS = {"text": HELLO, "empty_fragment": frame(Opcode.TEXT, fin=False)}
KINDS = (*FLOODS, "handshake", "half_open")


@dataclass
class Tally:
    """The results of a flood."""

    connections: int = 0
    bytes: int = 0


class Flooder(asyncio.Protocol):
    """One connection of a flood."""

    _transport: asyncio.WriteTransport

    def __init__(self, kind: str, tally: Tally) -> None:
        self._kind = kind
        self._tally = tally
        self._is_open = False
        chunk = FLOODS.get(kind, b"")
        self._chunk = chunk * (CHUNK_BYTES // max(1, len(chunk)))
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._tally.connections += 1
        if self._kind != "half_open":
            self._transport.write(UPGRADE)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002
        if self._is_open:
            return
        self._is_open = True
        if self._kind == "handshake":
            self._transport.abort()
            return
        self._transport.write(BEGINS.get(self._kind, b""))
        self._write()

    def resume_writing(self) -> None:
        self._write()

    def pause_writing(self) -> None:
        """Stop the loop in `_write`, which looks at what is unsent."""

    def _write(self) -> None:
        while not self._transport.is_closing() and not self._transport.get_write_buffer_size():
            self._transport.write(self._chunk)
            self._tally.bytes += len(self._chunk)
            if not self._transport.get_write_buffer_size():
                asyncio.get_running_loop().call_soon(self._write)
                return

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.ended.set_result(None)


async def _flood(kind: str, port: int, tally: Tally) -> None:
    loop = asyncio.get_running_loop()
    while True:
        with suppress(OSError):
            _, flooder = await loop.create_connection(
                lambda: Flooder(kind, tally), "127.0.0.1", port, local_addr=(ADDRESS, 0)
            )
            await flooder.ended
        await asyncio.sleep(RETRY_SECONDS)


async def _run(kind: str, port: int, connections: int) -> None:
    # On another machine it would take no time from the players.
    os.nice(10)
    tally = Tally()
    floods = [asyncio.create_task(_flood(kind, port, tally)) for _ in range(connections)]
    await asyncio.to_thread(sys.stdin.read)
    for flood in floods:
        flood.cancel()
    print(json.dumps({"connections": tally.connections, "bytes": tally.bytes}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    uvloop.run(_run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
