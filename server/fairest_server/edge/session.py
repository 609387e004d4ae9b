"""One client on its connection: its messages go to the room that it is in, and the room's messages to its outbox."""

import asyncio
import time

import structlog
from redis.exceptions import RedisError

from fairest_protocol.messages.codec import ProtocolViolation, decode_from_client
from fairest_protocol.messages.fast_encoding import add_id
from fairest_protocol.messages.from_client import (
    Create,
    FromClient,
    Leave,
    LeaveQueue,
    Play,
    Queue,
    Ready,
    Resume,
)
from fairest_protocol.messages.from_server import Error, Left, Refused
from fairest_protocol.messages.refusals import CLOSE_CODES, Refusal
from fairest_server.edge import close_errors
from fairest_server.edge.distance_meter import measure_distance
from fairest_server.edge.handshake import Handshake
from fairest_server.edge.inbox import Inbox
from fairest_server.edge.incoming import Disconnected
from fairest_server.edge.lookup import Lookup, Question
from fairest_server.edge.message_costs import LOG_READ_TOKENS, LOG_READERS, MISS_TOKENS, MISSES, READ_FOR_TOKEN
from fairest_server.edge.race_queue import RaceQueue
from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.edge.room_entry import EntryMessage, RoomEntry
from fairest_server.edge.room_messages import ROOM_REQUESTS, TIMED_SECONDS, RoomMessage, refuse_message
from fairest_server.edge.websocket import WebSocket
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.live.subscribers import DropReason
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.faults import report
from fairest_server.ops.metrics import Part
from fairest_server.room.commands import MakeMove, PlayerRequest
from fairest_server.room.refusing import refuse
from fairest_server.room.view import ORIGIN, ViewCursor
from fairest_server.settings import Settings
from fairest_server.store.bans import Ban
from fairest_server.store.players import Player

_LOG: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)


class Session:
    """One client, from its first frame to its last. As a `Subscriber`, it is shown the room that it is in."""

    __slots__ = (
        "_asked_by",
        "_bucket",
        "_closing",
        "_handshake",
        "_inbox",
        "_leave_ids",
        "_log",
        "_log_context",
        "_lookup",
        "_outbox",
        "_queue",
        "_room_entry",
        "_rooms",
        "_timed_at",
        "_websocket",
        "address",
        "came_for",
        "connection_id",
        "entry_kind",
        "player",
        "player_id",
        "room",
        "seen_upto",
    )

    def __init__(
        self,
        websocket: WebSocket,
        connection_id: str,
        address: str,
        settings: Settings,
        handshake: Handshake,
        room_entry: RoomEntry,
        rooms: RoomServer,
        lookup: Lookup,
        queue: RaceQueue,
    ) -> None:
        self.connection_id = connection_id
        self.seen_upto, self.entry_kind, self.came_for = ORIGIN, "", ""
        self._websocket, self.address = websocket, address
        self._handshake = handshake
        self._rooms = rooms
        self._room_entry = room_entry
        self._lookup = lookup
        self._queue = queue
        self._log = _LOG.bind(link=connection_id)
        self._log_context: dict[str, str | int | None] = {}
        """The room and the seat that log lines are about; empty outside of a room."""
        self._bucket = TokenBucket(settings.messages_per_second, settings.messages_burst, time.monotonic())
        self._inbox = Inbox(websocket, self._bucket, settings.flood_seconds)
        self._outbox = websocket.outbox
        self._closing: asyncio.Task[None] | None = None
        """Closes this connection for a reason that did not come up in `_listen`, which waits for a frame meanwhile."""
        self._timed_at = 0.0
        self._asked_by: EntryMessage | Queue | None = None
        self._leave_ids: list[str | None] = []
        """The ids of the requests to leave that are not answered yet, in order."""
        self.player: Player | None = None
        """The player that this client speaks for; None before the handshake is over."""
        self.player_id = ""
        self.room: LiveRoom | None = None
        """The room that this client is in, or has asked to enter."""

    async def serve(self) -> None:
        """Serve the client until either side closes. When cancelled, the seat is disconnected and not given up."""
        self._log.info(Event.CONNECTED, address=self.address)
        self._rooms.connections.add(self)
        try:
            await self._listen()
            if self._closing is not None:
                await self._closing
        finally:
            self._rooms.connections.remove(self)
            if self._closing is not None:
                self._closing.cancel()
            # The function holds this session, which holds the websocket: a reference cycle.
            self._websocket.fast_path = None
            code, has_stalled = self._websocket.close_code, self._outbox.has_stalled
            self._log.info(Event.GONE, **self._log_context, code=code, has_stalled=has_stalled)
            self._disconnect()

    def show(self, data: bytes) -> None:
        """Send an encoded message."""
        self._outbox.send(data)

    def admitted(self, seat: int | None, log_length: int, missed: bytes) -> None:
        """Charge this client, admitted at `seat` or as a spectator, for reading the log; send what it has missed."""
        self._bucket.take(time.monotonic(), log_length // READ_FOR_TOKEN)
        self._log_context["seat"] = seat
        if self.room is not None:
            # A new room got its code after its player had asked for it.
            self._log_context["room"] = self.room.code
            if seat is not None:
                measure_distance(self._websocket.round_trip, self.connection_id, self.room)
        self._log.info(Event.ENTERED, **self._log_context, request=self.entry_kind)
        self.show(add_id(missed, self._asked_by.id if self._asked_by is not None else None))
        if not isinstance(self._asked_by, Queue):
            self._room_entry.offer_address(self)

    def replaced(self) -> None:
        """Close this connection: a newer one speaks for the seat."""
        self._schedule_close(close_errors.REPLACED)

    def sent_away(self, reason: DropReason) -> None:
        """Close this connection. A client that may connect again resumes with what the log holds by then."""
        if reason in (DropReason.DRAINING, DropReason.TOKEN_LOST):
            self._disconnect()
        self._schedule_close(close_errors.SENT_AWAY[reason])

    def banned(self, ban: Ban) -> None:
        """Close this connection for good; the player's race goes on as after a lost connection."""
        self._disconnect()
        self._schedule_close(close_errors.banned(ban))

    def unseated(self, *, has_asked: bool) -> None:
        """Leave the room: the log has freed the seat, or the spectator has asked for it."""
        self._log.info(Event.LEFT, **self._log_context)
        self.room, self._log_context = None, {}
        has_asked = has_asked and bool(self._leave_ids)
        if has_asked or not self._queue.takes_back(self):
            self._queue.forget(self)
            self._outbox.send_message(Left(id=self._leave_ids.pop(0) if has_asked else None))

    def refused(self, answer: Refused) -> None:
        """Tell the client that a request was refused. After one to enter a room it is in no room."""
        if answer.to in ROOM_REQUESTS:
            if answer.to == "leave" and self._leave_ids:
                self._leave_ids.pop(0)
            self._outbox.send_message(answer)
            return
        self._log.info(Event.NOT_LET_IN, **self._log_context, request=answer.to, refusal=answer.code)
        self.room, self._log_context = None, {}
        if answer.code in MISSES:
            self._bucket.take(time.monotonic(), MISS_TOKENS)
        self._room_entry.refused(self, answer.code)
        if self._asked_by is None:
            self._outbox.send_message(answer)
        elif not self._queue.retries(self, answer):
            self._outbox.send_message(answer.model_copy(update={"to": self._asked_by.type}).with_id(self._asked_by.id))

    async def _listen(self) -> None:
        try:
            self.player, welcome = await self._handshake.accept(self._inbox, self.address, self.refused)
            self.player_id = self.player.player_id
            self._log = self._log.bind(name=self.player.name)
            self._outbox.send_message(welcome)
            self._inbox.throttle()
            while True:
                message = await self._inbox.receive(self._submit_at_once)
                await self._dispatch(message)
                self._inbox.throttle(LOG_READ_TOKENS if isinstance(message, LOG_READERS) else 1)
        except ProtocolViolation as breach:
            await self._close_with_error(breach)
        except Disconnected:
            pass
        except Exception as fault:
            report(Part.CONNECTION, fault, link=self.connection_id, **self._log_context)
            await self._close_with_error(close_errors.INTERNAL)

    def _submit_at_once(self, frame: bytes) -> bool:
        """Submit a message to its room from where it arrives. Return False to leave any other message to `recv`.

        The fast path: it spares nearly all messages a queue and a task switch, which cost as much as judging a move.
        """
        if self.room is None:
            return False
        now = time.monotonic()
        try:
            message = decode_from_client(frame)
        except ProtocolViolation:
            return False
        if not isinstance(message, RoomMessage) or not self._bucket.try_take(now):
            return False
        metrics.MESSAGES.add(message.type)
        try:
            self._submit_to_room(message, now)
        except Exception as fault:
            report(Part.CONNECTION, fault, link=self.connection_id, **self._log_context)
            self._disconnect()
            self._schedule_close(close_errors.INTERNAL)
        return True

    async def _dispatch(self, message: FromClient) -> None:
        if isinstance(message, RoomMessage):
            self._submit_to_room(message, time.monotonic())
        elif isinstance(message, EntryMessage):
            await self._enter(message)
        elif isinstance(message, Queue | LeaveQueue):
            self._bucket.take(time.monotonic(), await self._queue.ask(message, self) // READ_FOR_TOKEN)
        elif isinstance(message, Question):
            answer, read = await self._lookup.answer(message, self)
            self._bucket.take(time.monotonic(), read // READ_FOR_TOKEN)
            self._outbox.send_message(answer)
        else:
            raise close_errors.hello_twice()

    def _submit_to_room(self, message: RoomMessage, arrived_at: float) -> None:
        room = self.room
        if room is None:
            self._outbox.send_message(refuse_message(message, Refusal.NOT_IN_ROOM))
        elif self.entry_kind == "watch" and isinstance(message, Leave):
            room.unsubscribe(self)
            self._leave_ids.append(message.id)
            self.unseated(has_asked=True)
        elif self.entry_kind == "watch":
            # The room would refuse it as well, and the players' requests would queue behind it.
            self._outbox.send_message(refuse_message(message, Refusal.NOT_SEATED))
        elif isinstance(message, Play):
            if arrived_at - self._timed_at < TIMED_SECONDS:
                arrived_at = 0.0
            else:
                self._timed_at = arrived_at
            move = MakeMove(self.connection_id, message.number, message.move)
            room.submit(Request(move, self, arrived_at, message.id))
        elif isinstance(message, Ready) and not self._room_entry.limits.may_get_ready(self.address):
            self._outbox.send_message(refuse_message(message, Refusal.TOO_MANY_ROUNDS))
        else:
            if isinstance(message, Leave):
                self._leave_ids.append(message.id)
            room.submit(Request(PlayerRequest(self.connection_id, message), self, id=message.id))
            if isinstance(message, Ready):
                measure_distance(self._websocket.round_trip, self.connection_id, room)

    async def _enter(self, message: EntryMessage) -> None:
        """Ask for a seat or a view of a room. The room answers later: `admitted` or `refused`."""
        refusal = self._queue.refusal_of_entry(self)
        if refusal is not None:
            self._outbox.send_message(refuse_message(message, refusal))
        else:
            await self.ask_for(message, message)

    async def ask_for(self, entry: EntryMessage, asked_by: EntryMessage | Queue) -> None:
        """Ask for a seat or a view of a room, as `entry` does, in answer to a message of the client."""
        assert self.player is not None, "a message is dispatched only after the handshake"
        self.entry_kind, self._asked_by = entry.type, asked_by
        # An earlier request may have been about another room, or about another view of this one.
        self.seen_upto = ViewCursor(entry.position, entry.tag or "") if isinstance(entry, Resume) else ORIGIN
        self._log_context = {"room": None if isinstance(entry, Create) else entry.room, "seat": None}
        try:
            await self._room_entry.enter(entry, self.player, self, lambda: self._websocket.outbox.is_open)
        except (RedisError, OSError):
            self.refused(refuse(entry.type, Refusal.TRY_AGAIN))

    def _disconnect(self) -> None:
        """Tell the room's log that this connection is gone: the grace period, or the queue, decides about the seat."""
        self._queue.forget(self)
        room, self.room = self.room, None
        if room is not None:
            room.disconnect(self)

    def _schedule_close(self, breach: ProtocolViolation) -> None:
        """Close in a task, and pair the player with nobody. The room is not told; the first reason counts."""
        self.room = None
        self._queue.forget(self)
        self._closing = self._closing or asyncio.create_task(self._close_with_error(breach))

    async def _close_with_error(self, breach: ProtocolViolation) -> None:
        self._log.info(Event.CUT_OFF, **self._log_context, breach=breach.breach)
        metrics.BREACHES.labels(breach.breach).inc()
        self._outbox.send_message(Error(code=breach.breach, sentence=breach.sentence))
        self._websocket.begin_close(CLOSE_CODES[breach.breach], breach.breach)
        await self._websocket.wait_closed()
