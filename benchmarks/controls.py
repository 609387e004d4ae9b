"""The controls: bare servers on `websockets`, with the event loop, the collector and the settings of our server.

`echo` sends every message back. `relay` sends it back, and a notice of it to another client: the frames of a race in
which both players see every move, without rules and log. `handwritten` is such a race as one writes it in
an afternoon: it checks the rules, turns cards and answers both players, all of it in memory only. `stored` is a relay
that goes past the library's queues as our server does, and adds each message to a list of Redis before it sends
anything: the lowest cost of a server that stores a move before it answers, whatever the move is. `bare` judges moves
and stores them by our script as well (`benchmarks.bare_race`), and `core` does so with the pure core of our server
(`benchmarks.core_race`).
"""

import asyncio
import json
import random
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request

from benchmarks.bare_race import Appends, BareRoom, StoredRaces, StoredRoom
from benchmarks.core_race import CoreRoom
from fairest_server.edge.incoming import Disconnected
from fairest_server.edge.refusal_log import RefusalLog
from fairest_server.edge.server import BACKLOG, Server
from fairest_server.edge.websocket import WebSocket
from fairest_server.ops.gc_policy import configure_gc
from fairest_server.settings import Settings
from fairest_server.store.redis.batch_connection import pack

RANKS = "A23456789TJQK"


def deal_stock() -> list[str]:
    """Return the stock of every game of the hand-written race; the last card is turned first."""
    stock = [rank + suit for rank in RANKS for suit in "SHDC" if rank + suit not in ("AS", "2S", "3S", "4S")]
    random.Random(1).shuffle(stock)
    return stock


class _Solitaire:
    """One player's game of Calculation, changed in place."""

    def __init__(self, stock: list[str]) -> None:
        self.stock = stock.copy()
        self.foundations = [[f"{rank}S"] for rank in "A234"]
        self.piles: list[list[str]] = [[], [], [], []]
        self.moves = 0

    def play(self, number: int, move: str) -> dict[str, Any]:
        """Make a move and return it as a message, or a refusal."""
        if number != self.moves + 1:
            return {"type": "refused", "number": number, "code": "wrong_number"}
        source, target = move[0], move[1]
        cards = self.stock if source == "s" else self.piles["abcd".index(source)]
        if not cards:
            return {"type": "refused", "number": number, "code": "nothing_there"}
        if target in "1234":
            foundation = self.foundations[int(target) - 1]
            step = int(target)
            if RANKS.index(cards[-1][0]) != (RANKS.index(foundation[-1][0]) + step) % len(RANKS):
                return {"type": "refused", "number": number, "code": "rank_not_needed"}
            foundation.append(cards.pop())
        else:
            self.piles["abcd".index(target)].append(cards.pop())
        self.moves = number
        turned = self.stock[-1] if self.stock else None
        return {"type": "moved", "number": number, "move": move, "turned": turned, "left": len(self.stock)}


class _List(asyncio.Protocol):
    """One connection to Redis that adds entries to a list, and calls back when Redis has each of them."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._unsent: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def add(self, entry: bytes, then: Callable[[], None]) -> None:
        """Add an entry and call `then` when Redis has it. Entries of one iteration of the event loop are one write."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._send)
        self._unsent.append(pack(("RPUSH", "log", entry)))
        self._waiting.append(then)

    def _send(self) -> None:
        self.transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def data_received(self, data: bytes) -> None:
        assert not data.startswith(b"-"), data
        # A reply is the length of the list behind a colon, also if it comes in two parts.
        for _ in range(data.count(b":")):
            self._waiting.popleft()()


async def _serve(kind: str, redis_path: str = "") -> None:
    alone: list[ServerConnection] = []
    partners: dict[ServerConnection, ServerConnection] = {}

    def pair(socket: ServerConnection) -> None:
        if alone:
            partners[socket] = partner = alone.pop()
            partners[partner] = socket
        else:
            alone.append(socket)

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async def relay(socket: ServerConnection) -> None:
        pair(socket)
        async for message in socket:
            await socket.send(message)
            if socket in partners:
                await partners[socket].send(f"!{message!s}")

    async def handwritten(socket: ServerConnection) -> None:
        pair(socket)
        game = _Solitaire(deal_stock())
        async for message in socket:
            play = json.loads(message)
            reply = game.play(play["number"], play["move"])
            await socket.send(json.dumps(reply))
            if reply["type"] == "moved" and socket in partners:
                # As with the relay, the load distinguishes notices from answers by their first character.
                await partners[socket].send("!" + json.dumps({**reply, "seat": "other"}))

    settings = Settings()
    if kind in ("bare", "core"):
        await _serve_rooms(_make_bare_room if kind == "bare" else CoreRoom, redis_path)
        return
    if kind == "stored":
        await _serve_stored(redis_path)
        return
    async with serve(
        {"echo": echo, "relay": relay, "handwritten": handwritten}[kind],
        "127.0.0.1",
        0,
        backlog=BACKLOG,
        compression=None,
        ping_interval=settings.heartbeat_seconds,
        ping_timeout=settings.heartbeat_seconds,
        max_size=settings.max_frame_bytes,
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


def _make_bare_room(name: str, appends: Appends) -> StoredRoom:
    return BareRoom(name, appends, [_Solitaire(deal_stock()), _Solitaire(deal_stock())])


async def _serve_rooms(make_room: Callable[[str, Appends], StoredRoom], redis_path: str) -> None:
    _, appends = await asyncio.get_running_loop().create_unix_connection(Appends, redis_path)
    await _listen(StoredRaces(appends, make_room).serve)


async def _serve_stored(redis_path: str) -> None:
    partners: dict[WebSocket, WebSocket] = {}
    alone: list[WebSocket] = []
    _, entries = await asyncio.get_running_loop().create_unix_connection(_List, redis_path)

    async def stored(websocket: WebSocket, _: Request) -> None:
        if alone:
            partners[websocket] = partner = alone.pop()
            partners[partner] = websocket
        else:
            alone.append(websocket)

        def take(message: bytes) -> bool:
            entries.add(message, lambda: answer(websocket, message))
            return True

        with suppress(Disconnected):
            while True:
                websocket.fast_path = take
                message = await websocket.incoming.recv()
                take(message if isinstance(message, bytes) else message.encode())

    def answer(websocket: WebSocket, message: bytes) -> None:
        websocket.outbox.send(message)
        if websocket in partners:
            partners[websocket].outbox.send(b"!" + message)

    await _listen(stored)


async def _listen(serve_player: Callable[[WebSocket, Request], Awaitable[None]]) -> None:
    """Serve players on our own sockets, without limits but the one on unread bytes."""

    async def respond(_: str, __: Request) -> None:
        """Let every request open a WebSocket."""

    many = 100_000
    settings = Settings(
        connections_per_address=many, max_connections=many, messages_per_second=many, messages_burst=many
    )
    server = Server(settings, respond, serve_player, RefusalLog())
    print(await server.listen("127.0.0.1", 0), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    configure_gc()
    uvloop.run(_serve(*sys.argv[1:]))
