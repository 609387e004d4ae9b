"""A minimal client: a socket, JSON and the messages of the protocol, without any code of `client_cli`."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, get_args

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.seal import commit_entropy
from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES, Message, Phase
from fairest_protocol.messages.from_client import Create, Hello, Join, Play, Ready, Resume, Reveal, Watch
from fairest_protocol.messages.from_server import FromServer, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import SEND_AGAIN
from fairest_protocol.messages.scene import Scene
from tests.support.waiting import PATIENCE_SECONDS

QUICK = RoomOptions(countdown_seconds=0)
RETRY_SECONDS = 0.2

M = TypeVar("M")


class WireClient:
    """One connection that keeps its scene and everything that it received."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.token = ""
        self.key = b""
        self.room = ""
        self.seat: int | None = None
        self.scene: Scene | None = None
        self.position = 0
        self.tag: str | None = None
        self.received: list[FromServer] = []
        self.frames: list[str] = []
        self._requests: dict[str, Message] = {}
        """The newest message of each type that was sent."""

    async def send(self, message: Message | str | bytes) -> None:
        """Send a message, or any frame at all."""
        if isinstance(message, Message):
            self._requests[getattr(message, "type", "")] = message
        await self.socket.send(encode(message).decode() if isinstance(message, Message) else message)

    async def receive(self) -> FromServer:
        """Return the next message, after folding it into the scene. Raises TimeoutError after `PATIENCE_SECONDS`."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            frame = await self.socket.recv()
        assert isinstance(frame, str)
        self.frames.append(frame)
        message = decode_from_server(frame)
        self.received.append(message)
        if isinstance(message, Snapshot):
            self.room, self.seat = message.room, message.seat
            self.scene, self.position, self.tag = message.scene, message.position, message.tag
        elif isinstance(message, View):
            assert self.scene is not None
            assert message.first == self.position + 1, "positions have no gaps and no repeats"
            self.tag = message.tag
            for entry in message.entries:
                self.scene = self.scene.after(entry)
                self.position += 1
        return message

    async def receive_a(self, kind: type[M]) -> M:
        """Return the next message of this kind; follow refusals before it, unless one is waited for."""
        is_refusal_wanted = Refused in (kind, *get_args(kind))
        while True:
            message = await (self.receive() if is_refusal_wanted else self._receive_and_follow())
            if isinstance(message, kind):
                return message

    async def receive_until(self, condition: Callable[[Scene], bool]) -> Scene:
        """Receive messages until `condition` holds for the scene; return the scene."""
        while self.scene is None or not condition(self.scene):
            await self._receive_and_follow()
        return self.scene

    async def _receive_and_follow(self) -> FromServer:
        """Return the next message. A refusal that says to send again is followed, as by every client.

        Redis was silent for some seconds, as it is on a machine that stood still.
        """
        message = await self.receive()
        if isinstance(message, Refused) and message.code in SEND_AGAIN and message.to in self._requests:
            await asyncio.sleep(RETRY_SECONDS)
            await self.send(self._requests[message.to])
        return message

    async def expect_refusal(self, message: Message) -> Refused:
        """Send a message; return the refusal."""
        await self.send(message)
        return await self.receive_a(Refused)

    async def expect_refusal_or_view(self, message: Message) -> Refused | View:
        """Send a message; return the refusal, or the next view if the message is accepted."""
        await self.send(message)
        while True:
            heard = await self.receive()
            if isinstance(heard, (Refused, View)):
                return heard

    async def enter(self, request: Create | Join | Watch) -> Snapshot:
        """Create, join or watch a room."""
        await self.send(request)
        while True:
            answer = await self._receive_and_follow()
            if isinstance(answer, Snapshot):
                return answer
            assert not isinstance(answer, Refused) or answer.code in SEND_AGAIN, answer

    async def resume(self, room: str) -> Snapshot:
        """Resume a seat from position 0, as a client does that has kept only its token."""
        await self.send(Resume(room=room, position=0))
        return await self.receive_a(Snapshot)

    async def get_ready_without_revealing(self) -> bytes:
        """Get ready and return the entropy that is now owed."""
        ready, entropy = await self._make_ready()
        await self._send_until(
            ready, lambda seen: seen.phase is not Phase.READY or bool(seen.seats[self.seat or 0].entropy_hash)
        )
        return entropy

    async def take_part_in_deal(self) -> Scene:
        """Get ready, reveal, and wait until the race has started."""
        ready, entropy = await self._make_ready()
        scene = await self._send_until(ready, lambda seen: seen.phase is Phase.DEALING)
        assert scene.round is not None
        reveal = Reveal(round=scene.round, entropy=entropy)
        return await self._send_until(reveal, lambda seen: seen.phase is Phase.RACING and self.board_is_dealt(seen))

    async def _make_ready(self) -> tuple[Ready, bytes]:
        """Wait until a round is open; return the message that makes ready for it, and the entropy that it promises."""
        assert self.seat is not None
        scene = await self.receive_until(lambda seen: seen.phase is Phase.READY)
        assert scene.round is not None
        entropy = hashlib.sha256(b"%d" % self.seat + scene.round).digest()
        return Ready(round=scene.round, entropy_hash=commit_entropy(scene.round, self.seat, entropy)), entropy

    async def _send_until(self, message: Ready | Reveal, condition: Callable[[Scene], bool]) -> Scene:
        """Send a message, and again after a refusal that says so, until `condition` holds; return the scene."""
        await self.send(message)
        return await self.receive_until(condition)

    def board_is_dealt(self, scene: Scene) -> bool:
        """Return whether our first card is turned."""
        board = scene.seats[self.seat or 0].board
        return board is not None and board.turned is not None

    async def play(self, text: str) -> Scene:
        """Make a move; wait for its acknowledgement, or for the end of a round that the opponent has won first."""
        assert self.scene is not None
        assert self.seat is not None
        number = self.scene.seats[self.seat].moves + 1
        move = Play(number=number, move=MOVES[text])
        await self.send(move)
        while self.scene.seats[self.seat].moves < number and self.scene.phase is not Phase.FINISHED:
            await self._receive_and_follow()
        return self.scene


@asynccontextmanager
async def open_client(url: str, **hello: Any) -> AsyncIterator[WireClient]:
    """A client that has sent hello and was welcomed."""
    async with open_raw_client(url) as client:
        await client.send(Hello(**{"capabilities": ("credit",)} | hello))
        welcome = await client.receive_a(Welcome)
        client.token = welcome.token or hello.get("token") or ""
        client.key = welcome.key
        yield client


@asynccontextmanager
async def open_raw_client(url: str, origin: str | None = None) -> AsyncIterator[WireClient]:
    """A client that has sent nothing yet; with `origin`, as a page of that origin in a browser connects."""
    async with connect(
        url,
        origin=None if origin is None else Origin(origin),
        subprotocols=[Subprotocol("fairest.v1")],
        compression=None,
        proxy=None,
        max_size=MAX_SERVER_MESSAGE_BYTES,
        close_timeout=1,
    ) as socket:
        yield WireClient(socket)


@asynccontextmanager
async def racing_players(
    url: str, other_url: str | None = None, options: RoomOptions = QUICK
) -> AsyncIterator[tuple[WireClient, WireClient]]:
    """Two players whose race has just started, on one server or on two."""
    async with open_client(url) as first, open_client(other_url or url) as second:
        snapshot = await first.enter(Create(options=options))
        await second.enter(Join(room=snapshot.room))
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        yield first, second
