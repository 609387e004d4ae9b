"""The least that a race on our socket costs which judges each move, stores it by our script, and only then tells both.

A race as one writes it in an afternoon (`benchmarks.controls`), on our own sockets, with the room's log and its
condition in Redis. Nothing else that a room has: no seal, no horizon, no deadlines, no catching up, no limit but the
one on unread bytes.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from random import getrandbits
from typing import Any, Protocol, cast

import hiredis
from pydantic_core import from_json, to_json
from websockets.http11 import Request

from fairest_server.edge.incoming import Disconnected
from fairest_server.edge.websocket import WebSocket
from fairest_server.store.append_queue import BATCH_SECONDS
from fairest_server.store.appends import MAX_TOGETHER
from fairest_server.store.redis.batch_connection import pack
from fairest_server.store.redis.scripts import Script

SCRIPT = Script("append.lua", head="local publish, count = 'PUBLISH', 'NUMSUB'\n")


class Game(Protocol):
    """One player's game, changed in place."""

    def play(self, number: int, move: str) -> dict[str, Any]:
        """Make a move and return it as a message, or a refusal."""


class Appends(asyncio.Protocol):
    """One connection to Redis. Rooms share a write, which comes as long after the last one as a batch of our server."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._waiting: list[StoredRoom] = []
        self._sent: deque[StoredRoom] = deque()
        self._sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give Redis the script; its reply is the first one."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(pack(("SCRIPT", "LOAD", SCRIPT.text)))

    def enqueue(self, room: "StoredRoom") -> None:
        """Let the room append with the next write."""
        if not self._waiting:
            loop = asyncio.get_running_loop()
            loop.call_later(max(0.0, self._sent_at + BATCH_SECONDS - loop.time()), self._send)
        self._waiting.append(room)

    def _send(self) -> None:
        rooms, self._waiting = self._waiting, []
        self._sent_at = asyncio.get_running_loop().time()
        self._sent.extend(rooms)
        commands: list[bytes] = []
        for start in range(0, len(rooms), MAX_TOGETHER):
            group = rooms[start : start + MAX_TOGETHER]
            words = [word for room in group for word in room.build()]
            commands.append(
                pack(("EVALSHA", SCRIPT.sha, len(group), *(room.key for room in group), len(group), "", *words))
            )
        self.transport.write(b"".join(commands))

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            if reply != SCRIPT.sha.encode():
                # Stamps; if a move is not appended, the reply is a list.
                assert isinstance(reply, bytes), reply
                for _ in reply.split():
                    self._sent.popleft().on_reply()


class StoredRoom(ABC):
    """Two players. One append is under way at a time; moves that come meanwhile share the next one."""

    def __init__(self, name: str, appends: Appends) -> None:
        self.websockets: list[WebSocket] = []
        self.key = f"fairest:{{0}}:log:{name}"
        self._appends = appends
        self._index, self._tag, self._next_tag = 0, "", ""
        self._waiting: list[tuple[int, bytes]] = []
        self._count = 0
        """How many events are in flight."""
        self._is_busy = False

    @abstractmethod
    def judge(self, messages: Sequence[tuple[int, bytes]]) -> Sequence[bytes]:
        """Judge the moves of these seats, and return what is stored of them."""

    @abstractmethod
    def tell(self, tag: str) -> None:
        """Tell both players the moves that were judged last: they are stored now, under this tag."""

    def take(self, seat: int, message: bytes) -> bool:
        """Take a move of a seat; it is stored before anybody is told."""
        self._waiting.append((seat, message))
        if not self._is_busy:
            self._is_busy = True
            self._appends.enqueue(self)
        return True

    def build(self) -> list[str | int | bytes]:
        """Return the arguments of append.lua for this append."""
        messages, self._waiting = self._waiting, []
        texts = self.judge(messages)
        self._count = len(texts)
        self._next_tag = f"{getrandbits(32):08x}"
        written = f"{self._index + self._count} {self._next_tag}\n".encode() + b"\n".join(texts)
        return [f"{self._index} {self._tag}\n", written, 0]

    def on_reply(self) -> None:
        """Tell the players, and store the moves that came meanwhile."""
        self._index, self._tag = self._index + self._count, self._next_tag
        self.tell(self._tag)
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            self._appends.enqueue(self)


class BareRoom(StoredRoom):
    """A room of games that are changed in place."""

    def __init__(self, name: str, appends: Appends, games: Sequence[Game]) -> None:
        super().__init__(name, appends)
        self._games = games
        self._in_flight: list[tuple[int, bytes]] = []

    def judge(self, messages: Sequence[tuple[int, bytes]]) -> Sequence[bytes]:
        """Judge these moves, which are stored as they are answered."""
        self._in_flight = []
        for seat, message in messages:
            play = from_json(message)
            self._in_flight.append((seat, to_json(self._games[seat].play(play["number"], play["move"]))))
        return [answer for _, answer in self._in_flight]

    def tell(self, tag: str) -> None:  # noqa: ARG002 - of no use here
        """Send both players each move."""
        for seat, answer in self._in_flight:
            self.websockets[seat].outbox.send(answer)
            # As with the relay, the load distinguishes notices from answers by their first character.
            self.websockets[1 - seat].outbox.send(b"!" + answer)


class StoredRaces:
    """The rooms of a bare server; connections are paired in the order in which they come."""

    def __init__(self, appends: Appends, make_room: Callable[[str, Appends], StoredRoom]) -> None:
        self._appends = appends
        self._make_room = make_room
        self._numbers = count()
        self._open: StoredRoom | None = None

    async def serve(self, websocket: WebSocket, _: Request) -> None:
        """Serve one player until its connection ends."""
        if self._open is None:
            self._open = room = self._make_room(f"bare-{next(self._numbers)}", self._appends)
        else:
            room, self._open = self._open, None
        seat = len(room.websockets)
        room.websockets.append(websocket)

        def take(message: bytes) -> bool:
            return room.take(seat, message)

        with suppress(Disconnected):
            while True:
                websocket.fast_path = take
                message = await websocket.incoming.recv()
                take(message if isinstance(message, bytes) else message.encode())
