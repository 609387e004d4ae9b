"""One WebSocket to a server: how the client opens it, in which order messages come, and how its end is understood."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fairest_cli.model.known_room import Contradiction, KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_protocol.calculation.certified import CAPABILITY as CERTIFIED
from fairest_protocol.calculation.distance import CAPABILITY as CREDIT
from fairest_protocol.messages.capabilities import RACE_QUEUE, RIVALS
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES, SUBPROTOCOL, Message
from fairest_protocol.messages.from_client import (
    AskFinish,
    Create,
    FromClient,
    GetRecord,
    Join,
    Leave,
    LeaveQueue,
    Play,
    Queue,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import FromServer, Queued, Snapshot, View, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import CloseCode

EntryRequest = Create | Join | Queue | Watch
"""The request with which a client enters a room for the first time."""
RoomRequest = Ready | Reveal | Rematch | AskFinish | GetRecord | Leave | LeaveQueue
"""A message to the room, or to the queue, that a client sends from within; moves are apart."""
OPEN_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 1.0
HEARTBEAT_SECONDS: Final = 5.0
"""A ping is sent this often, and has this long to be answered."""
ANSWER_SECONDS: Final = 5.0
"""A move that is not answered within this time is sent again on a new socket: the present one may be dead without a
sign.
"""
CREATE_KEY_BYTES: Final = 18
"""Random bytes of the key of a `create`, which no other `create` of this player has."""
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class Rejected(Exception):
    """The server does not let us do what we ask for, and asking again would not help. The text is a sentence.

    `way_out` is the kind of end that this is for a round to which we are bound.
    """

    def __init__(self, sentence: str, way_out: WayOut = WayOut.CLOSED) -> None:
        super().__init__(sentence)
        self.way_out = way_out


class _ConnectWithoutRedirects(connect):
    """A connection attempt that fails on a redirect: no answer may send us, and our token, to another server."""

    def process_redirect(self, exc: Exception) -> Exception:
        """Return the response that redirects as the failure that it would be without a Location header."""
        return exc


def open_websocket(url: str) -> connect:
    """Return the connection attempt to await, or to enter as a context manager, with the client's settings.

    A server on this machine is never reached through a proxy. Raises OSError, TimeoutError, InvalidHandshake and
    InvalidURI when it is awaited.
    """
    return _ConnectWithoutRedirects(
        url,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        max_size=MAX_SERVER_MESSAGE_BYTES,
        open_timeout=OPEN_SECONDS,
        ping_interval=HEARTBEAT_SECONDS,
        ping_timeout=HEARTBEAT_SECONDS,
        close_timeout=CLOSE_SECONDS,
        proxy=None if (urlsplit(url).hostname or "") in LOCAL_HOSTS else True,
    )


class ServerSocket:
    """An open WebSocket, and how far the server has come on it: `welcome` first, then the room, then its entries.

    `is_welcomed` turns true with the server's answer to `hello`, `is_in_room` with its answer to our request to enter.
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
        self._revealed: bytes | None = None
        """The round whose bytes were sent last on this socket."""
        self._has_revealed = asyncio.Event()
        self._on_said = on_said
        self._is_unanswered = is_unanswered

    @property
    def local_port(self) -> int:
        """The port at our end of the socket."""
        return int(self.websocket.local_address[1])

    async def send(self, message: Message) -> None:
        """Send a message; do nothing on a socket that has ended."""
        self._on_said(message)
        try:
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
        try:
            while True:
                self._has_revealed.clear()
                revealed = self._revealed
                await (await self.websocket.ping())
                on_pong(revealed)
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await self._has_revealed.wait()
        except ConnectionClosed:
            return

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


def check_close(code: int, reason: str, ban_sentence: str = "") -> None:
    """Raise `Rejected` for a close code after which reconnecting would not help.

    `ban_sentence` is the sentence with which the server has banned us, if it has.
    """
    if code == CloseCode.BAD_TOKEN:
        return
    if code in (CloseCode.TOO_BIG, CloseCode.BINARY_FRAME) or code >= 4000:
        if code == CloseCode.BANNED and ban_sentence:
            raise Rejected(ban_sentence, WayOut.BANNED)
        if code == CloseCode.REPLACED:
            raise Rejected("You play this seat from another terminal now.", WayOut.REPLACED)
        raise Rejected(f"The server ended the connection: {reason or code}.")


def make_repeatable(request: EntryRequest) -> EntryRequest:
    """Return the request so that it leads to one room, however often it is sent because its answer was lost."""
    if not isinstance(request, Create):
        return request
    return request.model_copy(update={"key": secrets.token_urlsafe(CREATE_KEY_BYTES)})


def next_entry_request(model: KnownRoom, first: FromClient) -> FromClient:
    """Return the request to send after `welcome`: `first`, or after a drop, the request that leads back to the room."""
    if model.room is None:
        return first
    if model.seat is None:
        return Watch(room=model.room)
    return Resume(room=model.room, position=model.position, tag=model.tag)


def check_options(request: FromClient, options: RoomOptions) -> None:
    """Raise `Contradiction` if a room has other options than the one that was asked for."""
    if isinstance(request, Create):
        is_wanted = options == request.options.resolved()
    else:
        is_wanted = not isinstance(request, Queue) or options.rules == RoomOptions(rules=request.rules).resolved().rules
    if not is_wanted:
        raise Contradiction("it made another room than the one that was asked for")


def fit_request(request: EntryRequest, capabilities: tuple[str, ...]) -> EntryRequest:
    """Return a request as a server with these capabilities knows it: an older one opens a room without credit.

    Raises `Rejected` for a request that means nothing without what the server lacks.
    """
    if isinstance(request, Create) and request.rival is not None and RIVALS not in capabilities:
        raise Rejected("This server does not know rivals: open the room without --rival.", WayOut.REFUSED)
    if isinstance(request, Create) and request.options.certified and CERTIFIED not in capabilities:
        raise Rejected("This server does not certify deals: open the room without --certified.", WayOut.REFUSED)
    if isinstance(request, Queue) and RACE_QUEUE not in capabilities:
        raise Rejected("This server has no queue: create a room, or join one of the lobby.", WayOut.REFUSED)
    if isinstance(request, Create) and request.options.credit and CREDIT not in capabilities:
        return request.model_copy(update={"options": request.options.model_copy(update={"credit": None})})
    return request
