"""The requests of the operator, as this process carries them out: they come with the heartbeat, and are logged."""

import asyncio
import os
import platform
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import structlog
from redis.exceptions import RedisError

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.membership.player_verbs import PlayerVerbs
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.commands import CloseRoom
from fairest_server.store import keys
from fairest_server.store.control import (
    AddBan,
    Announce,
    BadRequest,
    Close,
    Control,
    ControlAnswer,
    Describe,
    DrainProcess,
    DropOldToken,
    Envelope,
    ProcessRow,
    RemoveBan,
    Rename,
    RoomRow,
    parse_envelope,
)
from fairest_server.store.processes import UnreadRequest

CLOSE_SECONDS: Final = 3.0
"""Longest time for which a process tries to close a room: the cards may be dealt, or Redis may not answer."""
RETRY_SECONDS: Final = 0.3
CHECK_SECONDS: Final = 0.02
ROWS_IN_PART: Final = 200
"""Rooms that are described before the event loop goes on with other work; it takes about a millisecond."""

_LOG = structlog.get_logger(__name__)


class OperatorControl:
    """Carries out requests in tasks, so that none of them delays a heartbeat or another request."""

    def __init__(
        self,
        control: Control,
        player_verbs: PlayerVerbs,
        rooms: RoomServer,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        """`spawn` starts a task; it raises RuntimeError when this process stops."""
        self._control = control
        self._player_verbs = player_verbs
        self._rooms = rooms
        self._spawn = spawn

    def on_requests(self, requests: Sequence[UnreadRequest], now_ms: int) -> None:
        """Start carrying out new requests. An entry that is not a request for this process is skipped.

        A request that is older than CONTROL_SECONDS is skipped too: the operator has been told that it failed.
        """
        for unread in requests:
            try:
                envelope = parse_envelope(unread.text)
            except BadRequest as reason:
                _LOG.warning(Event.BAD_REQUEST, request=unread.request_id, reason=str(reason))
                continue
            if envelope.to not in ("", self._rooms.process_id):
                continue
            if now_ms - unread.at_ms > keys.CONTROL_SECONDS * 1000:
                _LOG.warning(Event.LATE_REQUEST, verb=envelope.request.verb)
                continue
            work = self._carry_out(unread.request_id, envelope)
            try:
                self._spawn(work)
            except RuntimeError:
                # This process stops; the operator's command asks another one.
                work.close()

    async def _carry_out(self, request_id: str, envelope: Envelope) -> None:
        request = envelope.request
        with contained(Part.CONTROL, request=request_id):
            match request:
                case Describe(rooms=with_rooms):
                    parts = await self._describe(with_rooms=with_rooms)
                case Close():
                    answer = await self._close(request)
                    _LOG.info(Event.OPERATOR, verb="close", room=request.room, done=answer.done, answer=answer.sentence)
                    parts = [answer]
                case DrainProcess(within_seconds=within_seconds):
                    _LOG.info(Event.OPERATOR, verb="drain", within_seconds=within_seconds)
                    parts = await self._describe(with_rooms=False)
                    self._rooms.drain.request(within_seconds)
                case Announce(text=text):
                    count = self._rooms.connections.announce(text)
                    _LOG.info(Event.OPERATOR, verb="announce", text=text, clients=count)
                    parts = [ControlAnswer(done=True, sentence=f"shown to {count} clients")]
                case DropOldToken(player_id=player_id, token_hash=token_hash):
                    count = self._rooms.connections.drop_old_token(player_id, token_hash)
                    _LOG.info(Event.TOKEN_RENEWED, player=player_id, connections=count)
                    parts = [ControlAnswer(done=True)]
                case AddBan() | RemoveBan() | Rename():
                    answer = await self._player_verbs.carry_out(request)
                    _LOG.info(Event.OPERATOR, verb=request.verb, done=answer.done, answer=answer.sentence)
                    parts = [answer]
            try:
                texts = [encode(part) for part in parts]
                await self._control.answer(request_id, self._rooms.process_id, texts)
            except (RedisError, OSError) as reason:
                _LOG.warning(Event.ANSWER_LOST, request=request_id, reason=str(reason))

    async def _describe(self, *, with_rooms: bool) -> list[ControlAnswer]:
        rooms = self._rooms.registry.rooms
        connections = self._rooms.connections
        row = ProcessRow(
            host=platform.node()[:100],
            pid=os.getpid(),
            connections=len(connections),
            rooms=len(rooms),
            races=connections.races(),
            draining=self._rooms.drain.is_draining,
        )
        parts = [ControlAnswer(done=True, process=row)]
        open_rooms = list(rooms.values()) if with_rooms else []
        for first in range(0, len(open_rooms), ROWS_IN_PART):
            described = filter(None, map(_describe_room, open_rooms[first : first + ROWS_IN_PART]))
            parts.append(ControlAnswer(done=True, rooms=tuple(described)))
            await asyncio.sleep(0)
        return parts

    async def _close(self, request: Close) -> ControlAnswer:
        """Close a room, opening it for that if it is not open here. Two processes may do so at the same time."""
        deadline, sentence = time.monotonic() + CLOSE_SECONDS, "this process stops"
        is_first = True
        while time.monotonic() < deadline and not self._rooms.stopping.is_set():
            try:
                room = await self._rooms.registry.open_room(request.room)
            except ValueError as reason:
                return ControlAnswer(done=False, sentence=f"its log cannot be read: {ascii(str(reason))[:200]}")
            except (RedisError, OSError):
                sentence = "Redis does not answer"
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if room is None or room.state is None:
                return ControlAnswer(done=False, sentence="there is no room with this code")
            if _is_closed(room):
                self._rooms.registry.on_change(room)
                return ControlAnswer(done=not is_first, sentence="it is closed already" if is_first else "")
            is_first = False
            is_dealing = room.state.phase is Phase.DEALING
            sentence = "the cards are being dealt; try again" if is_dealing else "Redis does not store it"
            room.submit(Request(CloseRoom(request.reason)))
            if await _closes(room, min(RETRY_SECONDS, deadline - time.monotonic())):
                return ControlAnswer(done=True)
        return ControlAnswer(done=False, sentence=sentence)


async def _closes(room: LiveRoom, seconds: float) -> bool:
    """Wait until the room is closed, for at most `seconds`; return whether it is."""
    for _ in range(int(seconds / CHECK_SECONDS)):
        if _is_closed(room):
            return True
        await asyncio.sleep(CHECK_SECONDS)
    return _is_closed(room)


def _is_closed(room: LiveRoom) -> bool:
    return room.state is not None and room.state.phase is Phase.CLOSED


def _describe_room(room: LiveRoom) -> RoomRow | None:
    state = room.state
    if state is None or state.phase is Phase.CLOSED:
        return None
    first, second = state.seats
    return RoomRow(
        room=room.code,
        phase=state.phase,
        names=(first.name if first else None, second.name if second else None),
        spectators=len(room.subscribers.spectators),
        listed=state.options.listed,
    )
