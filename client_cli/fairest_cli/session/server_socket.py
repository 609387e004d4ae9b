"""The socket of a client in use: in which order messages come, and how another WebSocket takes over from it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.typing import Data

from fairest_cli.model.known_room import Contradiction
from fairest_cli.session.websocket import HEARTBEAT_SECONDS
from fairest_protocol.messages.codec import decode_from_server, encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import Play, Resume, Reveal
from fairest_protocol.messages.from_server import Error, FromServer, Queued, Refused, Snapshot, View, Welcome
from fairest_protocol.messages.refusals import CloseCode

ANSWER_SECONDS: Final = 5.0
"""A move that is not answered within this time is sent again on a new socket: the present one may be dead without a
sign.
"""
RESUME_SECONDS: Final = 2.0
"""A seat that is not shown on another WebSocket within this time stays where it is."""


class ServerSocket:
    """An open WebSocket, and how far the server has come on it: `welcome` first, then the room, then its entries.

    `is_welcomed` turns true with the server's answer to `hello`, `is_in_room` with its answer to our request to enter.
    An exchange replaces the WebSocket by another one, on which the server goes on where it was.
    """

    def __init__(
        self,
        websocket: ClientConnection,
        on_said: Callable[[Message], None],
        is_unanswered: Callable[[Play], bool],
    ) -> None:
        """`on_said` is called with each message before it is sent; `is_unanswered`, to know if a move has an answer."""
        self.websocket = websocket
        self.is_welcomed = False
        self.is_in_room = False
        self.was_offered_address = False
        """Whether the server has offered the address of our room on this socket."""
        self._revealed: bytes | None = None
        """The round whose bytes were sent last on this socket."""
        self._has_revealed = asyncio.Event()
        self._on_said = on_said
        self._is_unanswered = is_unanswered
        self._turn = asyncio.Lock()
        """Held while a message is sent, and during an exchange, so that no message is sent on the wrong WebSocket."""
        self._is_exchanging = False
        self._has_asked_elsewhere = False
        """Whether our seat was asked for on another WebSocket, and not shown there."""
        self._first_frames: list[Data] = []
        """The frames that were read from the present WebSocket during the exchange."""
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def local_port(self) -> int:
        """The port at our end of the socket."""
        return int(self.websocket.local_address[1])

    @property
    def end(self) -> tuple[int, str]:
        """The close code of a socket that has ended, and its reason.

        A seat that an exchange of our own has taken from this socket, and that failed then, is a lost connection.
        """
        code, reason = self.websocket.close_code or 0, self.websocket.close_reason or ""
        return (0, "") if code == CloseCode.REPLACED and self._has_asked_elsewhere else (code, reason)

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Do a work in a task that ends with the socket."""
        self._tasks.append(asyncio.create_task(work))

    async def close(self) -> None:
        """End the tasks, and the socket with a closing handshake."""
        for task in self._tasks:
            task.cancel()
        # Not by `async with`, which closes with 1011, an error, also when the caller stops iterating or is cancelled:
        # the ways in which every match ends.
        await self.websocket.close()

    async def frames(self) -> AsyncGenerator[Data]:
        """Yield the frames of the server until the socket ends. Raises ConnectionClosed for an end with an error."""
        while True:
            websocket = self.websocket
            try:
                async for frame in websocket:
                    if not await self._is_present(websocket):
                        # The other WebSocket shows it as well.
                        break
                    yield frame
            except ConnectionClosed:
                if await self._is_present(websocket):
                    raise
            if await self._is_present(websocket):
                return
            self.is_in_room = False
            for frame in self._first_frames:
                yield frame

    async def try_exchange(self, other: ClientConnection, next_request: Callable[[], Resume | None]) -> bool:
        """Go on over another WebSocket, on which we are welcome; return False to stay on the present one.

        `next_request` returns the request for our seat, None to stay; it is called while nothing is being sent. Until
        the answer nothing is sent or shown. The present WebSocket is given up when our seat was shown on the other one.
        Raises ConnectionClosed, TimeoutError and ProtocolViolation; then the present one stays, too.
        """
        async with self._turn:
            request = next_request()
            if request is None:
                return False
            self._is_exchanging = self._has_asked_elsewhere = True
            try:
                frames = await _ask_for_seat(other, request)
                if not frames:
                    return False
                self._first_frames, self._has_asked_elsewhere = frames, False
                before, self.websocket = self.websocket, other
            finally:
                self._is_exchanging = False
        before.transport.abort()
        return True

    async def _is_present(self, websocket: ClientConnection) -> bool:
        """Return whether a WebSocket is that of this socket, once an exchange under way has ended."""
        if self._is_exchanging:
            async with self._turn:
                pass
        return websocket is self.websocket

    async def send(self, message: Message) -> None:
        """Send a message; do nothing on a socket that has ended."""
        self._on_said(message)
        try:
            async with self._turn:
                await self.websocket.send(encode(message).decode())
            if isinstance(message, Reveal):
                self._revealed = message.round
                self._has_revealed.set()
        except ConnectionClosed:
            # The task that reads notices the end as well; the connection then sends the moves again on another socket.
            return

    async def send_play(self, play: Play) -> None:
        """Send a move, and end the socket if the move is unanswered after `ANSWER_SECONDS`."""
        await self.send(play)
        asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._abort_unless_answered, play)

    async def note_pongs(self, on_pong: Callable[[bytes | None], None]) -> None:
        """Call `on_pong` whenever the server has answered a ping of ours, until the socket ends.

        The argument is the round whose bytes were sent ahead of the ping, None before the first ones. Frames arrive in
        order, so a server that answers has those bytes. A ping follows them at once.
        """
        while True:
            self._has_revealed.clear()
            revealed, websocket = self._revealed, self.websocket
            try:
                await (await websocket.ping())
            except ConnectionClosed:
                if await self._is_present(websocket):
                    return
                continue
            on_pong(revealed)
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._has_revealed.wait()

    def abort(self) -> None:
        """End the socket at once, without a closing handshake, as a network failure would. Safe to call again."""
        self.websocket.transport.abort()

    def abort_unless_welcomed(self) -> None:
        """End a socket that the server has accepted and then left unanswered."""
        if not self.is_welcomed:
            self.abort()

    def _abort_unless_answered(self, play: Play) -> None:
        """End a socket on which a move was left unanswered; the move is sent again on the next one."""
        if self._is_unanswered(play):
            self.abort()

    def check_order(self, message: FromServer) -> None:
        """Raise `Contradiction` for a message that may not come at this point.

        `welcome` comes once, and first; a snapshot comes only as the answer to our request to enter a room, or after a
        wait in the queue.
        """
        is_welcome = isinstance(message, Welcome)
        if is_welcome == self.is_welcomed and isinstance(message, (Welcome, Snapshot, View)):
            raise Contradiction("it welcomes us twice" if is_welcome else "it shows a room before it has welcomed us")
        if isinstance(message, Snapshot) and self.is_in_room:
            raise Contradiction("it sends a snapshot that nobody asked for")
        self.is_welcomed = self.is_welcomed or is_welcome
        if isinstance(message, Queued):
            self.is_in_room = False


async def _ask_for_seat(websocket: ClientConnection, request: Resume) -> list[Data]:
    """Return the frames up to the one that shows our seat; none if it is refused.

    Raises ConnectionClosed, TimeoutError and ProtocolViolation.
    """
    frames: list[Data] = []
    async with asyncio.timeout(RESUME_SECONDS):
        await websocket.send(encode(request).decode())
        while True:
            frames.append(await websocket.recv())
            answer = decode_from_server(frames[-1])
            if isinstance(answer, (View, Snapshot)):
                return frames
            if isinstance(answer, (Refused, Error)):
                return []
