"""One socket: frames become messages here and go to the room; what the room shows goes to the outbox."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import structlog
from redis.exceptions import RedisError
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode as WireCode
from websockets.protocol import State

from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client, encode
from fairest_protocol.messages.fields import Message
from fairest_protocol.messages.from_client import (
    Create,
    FromClient,
    GetLobby,
    GetRecord,
    Hello,
    Join,
    Leave,
    Play,
    Ready,
    Rematch,
    Resume,
    Reveal,
    Watch,
)
from fairest_protocol.messages.from_server import Error, Left, Refused, Welcome
from fairest_protocol.messages.refusals import CLOSE_CODES, Breach, Refusal
from fairest_server.edge.fast_websocket import FastWebSocket
from fairest_server.edge.outbox import Outbox
from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.registry import RoomRegistry
from fairest_server.ops import metrics
from fairest_server.ops.faults import report
from fairest_server.room.commands import CreateRoom, MakeMove, PlayerRequest, TakeSeat
from fairest_server.room.decide import refuse
from fairest_server.room.view import ORIGIN, ViewCursor
from fairest_server.settings import Settings
from fairest_server.store.lobby import Lobby
from fairest_server.store.players import NameTaken, Player, Players, UnknownToken

_LOG: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)

RoomMessage = Play | Ready | Reveal | Rematch | Leave
"""What a player says to its room."""
LOG_READ_TOKENS: Final = 10
"""What makes the server read a whole log counts as so many messages."""

# What is raised is made anew each time: an exception keeps the frames that it went through, and all that lives in them.
_BINARY: Final = partial(
    ProtocolViolation, Breach.BINARY_FRAME, "Messages are JSON in text frames; this frame was binary."
)
_HELLO_FIRST: Final = partial(ProtocolViolation, Breach.HELLO_FIRST, "The first message of a connection is hello.")
_HELLO_TWICE: Final = partial(ProtocolViolation, Breach.HELLO_TWICE, "This connection has said hello already.")
_HELLO_LATE: Final = partial(ProtocolViolation, Breach.HELLO_LATE, "No hello came in time.")
_BAD_TOKEN: Final = partial(
    ProtocolViolation, Breach.BAD_TOKEN, "This server knows no player with this token; say hello without one."
)
_REPLACED: Final = ProtocolViolation(Breach.REPLACED, "A newer connection of yours has taken this seat.")
_LOST: Final = ProtocolViolation(
    Breach.RESTARTING, "The server has lost its newest memory of this room; connect again."
)
_SENT_AWAY: Final = ProtocolViolation(Breach.RESTARTING, "This server cannot reach its data; connect again.")
_TOO_FAST: Final = partial(ProtocolViolation, Breach.TOO_FAST, "You sent more than this server reads, for too long.")
_INTERNAL: Final = ProtocolViolation(Breach.INTERNAL, "The server has a fault; it is not yours. Connect again.")
_CUT_OFF: Final = {
    WireCode.PROTOCOL_ERROR: "bad_frame",
    WireCode.INVALID_DATA: "bad_frame",
    WireCode.MESSAGE_TOO_BIG: "too_big",
    WireCode.INTERNAL_ERROR: "silent",
}
"""Why the library itself closes a connection, by its close code: `silent` means a ping that nobody answered."""


class Session:
    """One client. `serve` runs as long as its socket is open; as a follower it is shown the room that it is in."""

    __slots__ = (
        "_address",
        "_bucket",
        "_ending",
        "_lobby",
        "_log",
        "_log_context",
        "_may_enroll",
        "_outbox",
        "_player",
        "_players",
        "_registry",
        "_room",
        "_settings",
        "_websocket",
        "connection_id",
        "entry_kind",
        "seen_upto",
    )

    def __init__(
        self,
        websocket: FastWebSocket,
        rooms: RoomRegistry,
        players: Players,
        lobby: Lobby,
        connection_id: str,
        address: str,
        settings: Settings,
        may_enroll: Callable[[str], bool],
    ) -> None:
        """`may_enroll` counts a new player that wants to come from this address, and says whether it may."""
        self.connection_id = connection_id
        self.seen_upto = ORIGIN
        self.entry_kind = ""
        self._websocket = websocket
        self._outbox = Outbox(websocket, settings.max_unsent_bytes)
        self._registry = rooms
        self._players = players
        self._lobby = lobby
        self._settings = settings
        self._address = address
        self._may_enroll = may_enroll
        self._log = _LOG.bind(link=connection_id)
        self._log_context: dict[str, str | int | None] = {}
        self._bucket = TokenBucket(settings.messages_per_second, settings.messages_burst, time.monotonic())
        self._ending: asyncio.Task[None] | None = None
        """Ends this connection for something that the room has said, or a word that was taken at once."""
        self._player: Player | None = None
        self._room: LiveRoom | None = None

    async def serve(self) -> None:
        """Hear the client until either side closes. When cancelled, the seat counts as left alone, not as left."""
        self._log.info("connected", address=self._address)
        try:
            await self._listen()
            if self._ending is not None:
                await self._ending
        finally:
            if self._ending is not None:
                self._ending.cancel()
            self._websocket.fast_path = None
            self._on_closed()

    def show(self, data: bytes) -> None:
        """Send an encoded message."""
        self._outbox.send(data)

    def admitted(self, seat: int | None) -> None:
        """The room has let us in and is shown to us from here on."""
        self._log_context["seat"] = seat
        self._log_event("entered", entry_kind=self.entry_kind)

    def replaced(self) -> None:
        """A newer connection speaks for the seat: this one ends."""
        self._schedule_close(_REPLACED)

    def log_lost(self) -> None:
        """The room's log is not what this process has shown: the client comes back, and sees what is left."""
        self._schedule_close(_LOST)

    def unavailable(self) -> None:
        """The room cannot be served here right now: the client comes back, here or elsewhere."""
        self._schedule_close(_SENT_AWAY)

    def unseated(self) -> None:
        """The seat was freed: this connection is in no room."""
        self._leave_room()

    def entry_refused(self, answer: Refused) -> None:
        """The room did not let us in."""
        self._log_event("not let in", entry_kind=answer.to, refusal=answer.code)
        self._room, self._log_context = None, {}
        self._send(answer)

    async def _listen(self) -> None:
        try:
            await self._handshake()
            while True:
                self._websocket.fast_path = self._submit_at_once
                frame = await self._websocket.recv()
                # It may have waited there already, with others behind it.
                self._websocket.fast_path = None
                message = self._decode(frame)
                await self._dispatch(message)
                await self._slow_down(LOG_READ_TOKENS if isinstance(message, (Resume, Watch, GetRecord)) else 1)
        except ProtocolViolation as breach:
            await self._close_with_error(breach)
        except ConnectionClosed as ended:
            if ended.sent is not None and not ended.rcvd_then_sent and ended.sent.code in _CUT_OFF:
                metrics.CUT_OFF.labels(_CUT_OFF[WireCode(ended.sent.code)]).inc()
        except Exception as fault:
            report("a connection", fault, link=self.connection_id, **self._log_context)
            await self._close_with_error(_INTERNAL)

    def _submit_at_once(self, frame: bytes) -> bool:
        """Take a player's word to its room from where it arrives; False for all that has to wait, or is no such word.

        This spares nearly all messages that there are a queue and a task switch, which take as long as judging a move.
        """
        if self._room is None:
            return False
        try:
            message = decode_from_client(frame)
        except ProtocolViolation:
            return False
        if not isinstance(message, RoomMessage) or not self._bucket.try_take(time.monotonic()):
            return False
        metrics.MESSAGES.add(message.type)
        try:
            self._submit_to_room(message)
        except Exception as fault:
            report("a connection", fault, link=self.connection_id, **self._log_context)
            self._schedule_close(_INTERNAL)
        return True

    async def _slow_down(self, tokens: int = 1) -> None:
        """Read no faster than is allowed: what a client sends meanwhile waits, in the end at its own side."""
        now = time.monotonic()
        wait_seconds = self._bucket.take(now, tokens)
        if wait_seconds:
            metrics.THROTTLED.inc()
            since = self._bucket.empty_since
            if since is not None and now - since > self._settings.flood_seconds:
                raise _TOO_FAST()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._websocket.wait_closed()

    def _schedule_close(self, breach: ProtocolViolation) -> None:
        self._room = None
        if self._ending is None:
            self._ending = asyncio.create_task(self._close_with_error(breach))

    async def _handshake(self) -> None:
        """Wait for a `hello` that this server accepts."""
        try:
            deadline = asyncio.get_running_loop().time() + self._settings.hello_seconds
            while self._player is None:
                # Only the client is waited for so long: what talks to Redis has time limits of its own.
                async with asyncio.timeout_at(deadline):
                    message = self._decode(await self._websocket.recv())
                if not isinstance(message, Hello):
                    raise _HELLO_FIRST()
                await self._identify(message)
                await self._slow_down()
        except TimeoutError:
            raise _HELLO_LATE() from None

    def _decode(self, frame: str | bytes) -> FromClient:
        if isinstance(frame, bytes):
            raise _BINARY()
        message = decode_from_client(frame)
        metrics.MESSAGES.add(message.type)
        return message

    async def _identify(self, hello: Hello) -> None:
        token = None
        try:
            if hello.token is None and not self._may_enroll(self._address):
                self.entry_refused(refuse("hello", Refusal.TOO_MANY_PLAYERS))
            elif hello.token is None:
                self._player, token = await self._players.enroll(hello.name)
            else:
                self._player = await self._players.recognise(hello.token, hello.name)
        except UnknownToken:
            raise _BAD_TOKEN() from None
        except NameTaken:
            self.entry_refused(refuse("hello", Refusal.NAME_TAKEN))
        except (RedisError, OSError):
            self.entry_refused(refuse("hello", Refusal.TRY_AGAIN))
        if self._player is not None:
            self._log = self._log.bind(name=self._player.name)
            self._send(
                Welcome(
                    name=self._player.name,
                    token=token,
                    key=self._registry.key.public,
                    now_ms=self._registry.clock.now_ms(),
                )
            )

    async def _dispatch(self, message: FromClient) -> None:
        match message:
            case Play() | Ready() | Reveal() | Rematch() | Leave():
                self._submit_to_room(message)
            case Create() | Join() | Resume() | Watch():
                await self._enter(message)
            case GetRecord():
                await self._get_record()
            case GetLobby(page=page):
                await self._get_lobby(page)
            case Hello():
                raise _HELLO_TWICE()

    def _submit_to_room(self, word: RoomMessage) -> None:
        room = self._room
        if room is None:
            self._refuse(word, Refusal.NOT_IN_ROOM)
        elif self.entry_kind == "watch" and isinstance(word, Leave):
            room.unfollow(self)
            self._leave_room()
        elif self.entry_kind == "watch":
            # The room would refuse it as well, and players would wait there behind it.
            self._refuse(word, Refusal.NOT_SEATED)
        elif isinstance(word, Play):
            room.submit(Request(MakeMove(self.connection_id, word.number, word.move), self))
        else:
            room.submit(Request(PlayerRequest(self.connection_id, word), self))

    def _refuse(self, word: RoomMessage, code: Refusal) -> None:
        self._send(refuse(word.type, code, number=word.number if isinstance(word, Play) else None))

    async def _enter(self, message: Create | Join | Resume | Watch) -> None:
        player = self._player
        assert player is not None, "only who has said hello is heard"
        if self._room is not None:
            self._send(refuse(message.type, Refusal.ALREADY_IN_ROOM))
            return
        self.entry_kind = message.type
        self._log_context = {"room": None if isinstance(message, Create) else message.room, "seat": None}
        try:
            match message:
                case Create() if not await self._players.may_open_room(
                    player.player_id, self._settings.rooms_per_player
                ):
                    self.entry_refused(refuse("create", Refusal.TOO_MANY_ROOMS))
                case Create(options=options):
                    self._room = await self._registry.new_room()
                    self._log_context["room"] = self._room.code
                    self._room.submit(
                        Request(CreateRoom(options, player.player_id, player.name, self.connection_id), self)
                    )
                case Watch(room=code):
                    self._room = await self._registry.watch(code, self)
                case Join(room=code) | Resume(room=code):
                    self.seen_upto = ORIGIN
                    if isinstance(message, Resume):
                        self.seen_upto = ViewCursor(message.position, message.tag or "")
                    room = await self._registry.hold_room(code)
                    if room is None:
                        self.entry_refused(refuse(message.type, Refusal.NO_SUCH_ROOM))
                        return
                    if self._websocket.state is not State.OPEN:
                        # Gone meanwhile, and perhaps back over another connection: that one has the seat.
                        return
                    self._room = room
                    room.submit(
                        Request(TakeSeat(player.player_id, player.name, self.connection_id, message.type), self)
                    )
        except (RedisError, OSError):
            self.entry_refused(refuse(message.type, Refusal.TRY_AGAIN))

    async def _get_record(self) -> None:
        if self._room is None:
            self._send(refuse("get_record", Refusal.NOT_IN_ROOM))
            return
        try:
            await self._registry.send_record(self._room.code, self)
        except (RedisError, OSError):
            self._send(refuse("get_record", Refusal.TRY_AGAIN))

    async def _get_lobby(self, page: int) -> None:
        try:
            self._send(await self._lobby.page(page))
        except (RedisError, OSError):
            self._send(refuse("get_lobby", Refusal.TRY_AGAIN))

    def _send(self, message: Message) -> None:
        if isinstance(message, Refused):
            metrics.REFUSALS.labels(message.code).inc()
        self._outbox.send(encode(message))

    def _log_event(self, event: str, **more: object) -> None:
        """A line in the log, with the room and the seat that it is about."""
        self._log.info(event, **self._log_context, **more)

    def _leave_room(self) -> None:
        """We are in no room any more; whoever is at the other end wanted it so, or was too late."""
        self._log_event("left")
        self._room, self._log_context = None, {}
        self._send(Left())

    async def _close_with_error(self, breach: ProtocolViolation) -> None:
        self._log_event("cut off", breach=breach.breach)
        metrics.BREACHES.labels(breach.breach).inc()
        self._send(Error(code=breach.breach, sentence=breach.sentence))
        await self._websocket.close(CLOSE_CODES[breach.breach], breach.breach)

    def _on_closed(self) -> None:
        """The log learns that this link is gone; whether the seat is given up is for the grace period to say."""
        self._log_event("gone", code=self._websocket.close_code, has_stalled=self._outbox.has_stalled)
        room, self._room = self._room, None
        if room is not None:
            room.depart(self)
