"""The rooms that this process has open.

A room is opened when somebody here wants it and dropped when nobody does; its log stays in Redis.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_server.live.attached_rooms import AttachedRooms
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.log_cutter import LogCutter
from fairest_server.live.log_reader import LogReader, read_steps
from fairest_server.live.proposal import Request
from fairest_server.live.record_maker import RecordMaker
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.room_services import DrawRoundIn, RoomServices
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.slices import Slices
from fairest_server.live.step_finder import StepFinder
from fairest_server.live.subscribers import DropReason, Subscriber
from fairest_server.live.timers import Timers
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.room.commands import Disconnect, MarkRecorded, Pause
from fairest_server.room.state import awaits_step
from fairest_server.room.steps import LogSlice, Step
from fairest_server.store.log import Log
from fairest_server.store.wakeups import Wakeups

_LOG = structlog.get_logger(__name__)


class RoomRegistry:
    """The open rooms by their codes."""

    def __init__(
        self,
        log: Log,
        clock: RedisClock,
        attached: AttachedRooms,
        record_maker: RecordMaker,
        tasks: RoomTasks,
        slices: Slices,
        listening: Redis,
        step_finder: StepFinder,
        *,
        draw_round: DrawRoundIn,
        welcome: Callable[[LiveRoom, Subscriber], None],
        on_steps: Callable[[str, Sequence[Step]], None],
        closed_room_seconds: int,
    ) -> None:
        """`listening` is a Redis client of its own for subscriptions; `welcome` shows a room to a seated player."""
        self.reader: Final = LogReader(log, self, slices)
        self.wakeups: Final = Wakeups(listening, self._on_wakeup)
        self._log = log
        self._slices = slices
        self.cutter: Final = LogCutter(log, clock, self.reader, tasks, slices)
        self._attached = attached
        self._record_maker = record_maker
        self._step_finder = step_finder
        self._tasks = tasks
        self._timers = Timers(clock)
        self._rooms: dict[str, LiveRoom] = {}
        self._services = RoomServices(
            clock=clock,
            enqueue=log.enqueue,
            draw_round=draw_round,
            later=_call_later,
            read_log=self.cutter.start_reading,
            retry_later=self._timers.retry,
            welcome=welcome,
            on_steps=on_steps,
            on_change=self.on_change,
            give_up=self.give_up,
            own_subscriptions=self.wakeups.own_subscriptions,
            closed_room_seconds=closed_room_seconds,
        )

    @property
    def rooms(self) -> Mapping[str, LiveRoom]:
        """The open rooms by their codes."""
        return self._rooms

    async def make_room(self, code: str) -> LiveRoom:
        """Open the room with this code and register it, as `attach_room`; if it has no log, as a new room.

        Raises RedisError, and ValueError for a broken log.
        """
        while True:
            async with self._attached.entering(code):
                room = await self.open_room(code) or self._add(LiveRoom(code, self._services))
            if code in self._attached:
                return room

    async def attach_room(self, code: str) -> LiveRoom | None:
        """Open the room in which a player is about to speak here, and register it. As `open_room`."""
        while True:
            async with self._attached.entering(code):
                room = await self.open_room(code)
            if room is None or code in self._attached:
                return room
            # The room was given up while its log was read, which forgets its registration.

    async def open_room(self, code: str) -> LiveRoom | None:
        """Return the room with this code, or None if there is none. Raises RedisError, and ValueError for a broken log.

        Before the next `await`, submit a request, add a subscriber or call `on_change`, which drops an idle room.
        """
        if code in self._rooms:
            return self._rooms[code]
        async with self.reader.lock(code):
            # Those who come at the same time, as the players of a killed server do, wait for one read of the log.
            if code in self._rooms:
                return self._rooms[code]
            steps, end = await read_steps(self._log, self._slices, code)
            if end is None:
                return None
            room = LiveRoom(code, self._services)
            await self._slices.finish(room.matches.adding(steps))
            room.open(steps, end.index)
            return self._add(room)

    def is_open(self, room: LiveRoom) -> bool:
        """Whether this object is the open room with its code. One that was dropped is not."""
        return self._rooms.get(room.code) is room

    def on_change(self, room: LiveRoom) -> None:
        """Set the room's timers by its state, and store the record of its match, find its step or cut its log.

        A room that is not needed is dropped.
        """
        if not self.is_open(room):
            return
        if not room.is_needed:
            self._drop(room)
            return
        if room.state is None:
            return
        self._timers.set(room)
        if room.state.unrecorded_match:
            self._tasks.start(self._store_record(room), room.code)
        elif awaits_step(room.state):
            self._step_finder.seek(room.code, room.state, self._rooms.get)
        elif self.cutter.is_due(room):
            # The log is cut before it is read.
            room.catch_up()

    def give_up(self, room: LiveRoom) -> None:
        """Drop a room whose log is not the one that was shown; its subscribers connect again and see what is there."""
        metrics.LOST_LOGS.inc()
        _LOG.warning(Event.LOG_LOST, room=room.code)
        if self.is_open(room):
            self._attached.forget(room.code)
        self._drop(room)
        ended = [*room.requests.clear(), *room.subscribers.drop_all(DropReason.LOG_LOST)]
        self._tasks.start(self._report_disconnects(room.code, ended), room.code)

    def set_shared(self, *, is_shared: bool, pauses: tuple[Pause, ...]) -> None:
        """Whether other processes serve this deployment, whose appends have to be followed; and the known pauses."""
        services = self._services
        services.pauses = pauses
        if is_shared and not services.is_shared:
            for code in self._rooms:
                self.wakeups.subscribe(code)
        services.is_shared = is_shared

    def send_away(self) -> None:
        """Let every subscriber connect again, here or elsewhere; the logs learn of it when Redis answers."""
        for room in list(self._rooms.values()):
            for connection_id in room.subscribers.drop_all(DropReason.UNAVAILABLE):
                room.submit(Request(Disconnect(connection_id)))

    def _add(self, room: LiveRoom) -> LiveRoom:
        self._rooms[room.code] = room
        metrics.ROOMS.inc()
        if self._services.is_shared:
            self.wakeups.subscribe(room.code)
        return room

    def _drop(self, room: LiveRoom) -> None:
        if self.is_open(room):
            del self._rooms[room.code]
            metrics.ROOMS.dec()
            self.wakeups.unsubscribe(room.code)
            self._timers.drop(room)

    def _on_wakeup(self, code: str, log_slice: LogSlice) -> None:
        room = self._rooms.get(code)
        if room is not None:
            room.on_log_slice(log_slice)

    async def _store_record(self, room: LiveRoom) -> None:
        match = await self._record_maker.store_record(room.code, lambda: room.matches if self.is_open(room) else None)
        if match is not None:
            room.submit(Request(MarkRecorded(match)))

    async def _report_disconnects(self, code: str, connection_ids: Sequence[str]) -> None:
        """Tell the log of connections that ended when their room was given up."""
        try:
            room = await self.open_room(code)
        except (RedisError, OSError, ValueError) as reason:
            _LOG.warning(Event.SEATS_NOT_FREED, room=code, reason=str(reason))
            return
        if room is not None:
            for connection_id in connection_ids:
                room.submit(Request(Disconnect(connection_id)))
            self.on_change(room)


def _call_later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)
