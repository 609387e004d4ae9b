"""The rooms that this process has open, and everything around them that waits: reads, timers, the sweep.

A room is opened when somebody here wants it and dropped when nobody does; its log stays in Redis. Time in rooms is
Redis' clock, which is followed here and asked for anew with every pulse.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.archiver import MatchArchiver
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.log_reader import LogReader
from fairest_server.live.proposal import Request
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.room_codes import draw_code
from fairest_server.live.signing import SigningKey
from fairest_server.live.subscribers import Subscriber
from fairest_server.live.timers import Timers
from fairest_server.membership.attached_rooms import AttachedRooms
from fairest_server.membership.heartbeat import Heartbeat
from fairest_server.ops import metrics
from fairest_server.ops.faults import contained
from fairest_server.room.commands import Disconnect, ExpireDeadline, MarkArchived, Pause, ProcessLapsed
from fairest_server.room.decide import refuse
from fairest_server.room.events import RoundOpened
from fairest_server.room.projection import StepHistory
from fairest_server.room.steps import LogSlice, fold
from fairest_server.room.view import make_catchup
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.processes import Processes
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.signing_key import load_private_key
from fairest_server.store.wakeups import Wakeups

WIND_UP_SECONDS: Final = 1.5
"""How long a process that ends goes on with what its rooms have under way."""
WIND_UP_LOOKS: Final = 150
UNREADABLE_SECONDS: Final = 600
ALONE_STRIDE: Final = 30
"""A process that serves alone compares its rooms with their logs once in so many beats."""
_LOG = structlog.get_logger(__name__)


class RoomRegistry:
    """All rooms of this process, on one Redis, within `serving`."""

    def __init__(
        self, redis: BatchingRedis, beating: Redis, listening: Redis, key: SigningKey, closed_room_seconds: int
    ) -> None:
        """`beating` and `listening` are clients of their own for beats and wake-ups, which wait for nothing else."""
        self.process_id: Final = secrets.token_hex(4)
        self.key = key
        self.closed_room_seconds: Final = closed_room_seconds
        self.clock: Final = RedisClock()
        self.log: Final = Log(redis)
        self.is_shared = False
        self._redis = redis
        self._reader = LogReader(self.log, self)
        self._wakeups = Wakeups(listening, self._heard)
        self._rooms: dict[str, LiveRoom] = {}
        self._readings: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks = asyncio.TaskGroup()
        self._stopping = asyncio.Event()
        self._archiver = MatchArchiver(self.log, RecordStore(redis), self._sign, self._stopping)
        self._processes = Processes(redis, beating, self.process_id)
        self._attached = AttachedRooms(self._processes)
        self._heartbeat = Heartbeat(self._processes, self.log, self, self._stopping)
        self._compared = 0
        self.pauses: tuple[Pause, ...] = ()
        self._timers = Timers(self.clock)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve rooms for as long as the context lasts; what is under way at its end is finished. Raises RedisError.

        Tasks that talk to Redis are told to stop, and not cancelled but with who enters this: redis-py may swallow a
        cancellation that meets it while it reads with a time limit (docs/decisions/0002-redis-client.md).
        """
        await self._heartbeat.beat_once()
        async with self.log.sending(), self._tasks as tasks:
            wakes = tasks.create_task(self._wakeups.run())
            tasks.create_task(self._heartbeat.beat())
            tasks.create_task(self._heartbeat.release())
            tasks.create_task(self._heartbeat.compare())
            tasks.create_task(self._heartbeat.sweep())
            tasks.create_task(self._heartbeat.watch())
            try:
                yield
            finally:
                self._stopping.set()
                wakes.cancel()
                tasks.create_task(self._wind_up())

    async def new_room(self) -> LiveRoom:
        """A room whose log is still empty, held for whoever asked for it. Raises RedisError."""
        while True:
            code = draw_code()
            await self._attached.hold(code)
            is_taken = await self.log.exists(code) or code in self._rooms
            # Released meanwhile, since the room was not open yet? Another code is as good.
            if not is_taken and code in self._attached:
                return self._add(LiveRoom(code, self, self._draw_round))

    async def hold_room(self, code: str) -> LiveRoom | None:
        """The room with this code, in which somebody here is about to speak. Raises RedisError. As `open_room`."""
        while True:
            await self._attached.hold(code)
            room = await self.open_room(code)
            if room is None or code in self._attached:
                return room
            # Released while the log was read, since the room was not open yet.

    async def open_room(self, code: str) -> LiveRoom | None:
        """The room with this code, or None if there is none. Raises RedisError.

        Say something to the room, or follow it, before the next `await`: an idle room is dropped.
        """
        if code in self._rooms:
            return self._rooms[code]
        async with self._reading(code):
            # Whoever comes at the same time, as the players of a killed server do, waits for one reading of the log.
            if code in self._rooms:
                return self._rooms[code]
            entries = await self.log.read(code)
            if not entries:
                return None
            room = LiveRoom(code, self, self._draw_round)
            room.open(fold(entries))
            return self._add(room)

    async def watch(self, code: str, subscriber: Subscriber) -> LiveRoom | None:
        """Show a spectator the room, from a snapshot on; None, and a refusal, if that may not be."""
        room = await self.open_room(code)
        if room is None or room.state is None:
            subscriber.entry_refused(refuse("watch", Refusal.NO_SUCH_ROOM))
            return None
        if room.state.options.spectators is Spectators.CLOSED:
            subscriber.entry_refused(refuse("watch", Refusal.NO_SPECTATORS))
            self.changed(room)
            return None
        room.subscribers.add_pending(subscriber)
        try:
            await self._reader.catch_up_to_end(room)
            await self._introduce(room, subscriber)
        finally:
            if not room.subscribers.shows(subscriber):
                room.unfollow(subscriber)
        return room if room.subscribers.shows(subscriber) else None

    async def send_record(self, code: str, subscriber: Subscriber) -> None:
        """Show the record of the last match that is over in this room. Raises RedisError."""
        record = await self._archiver.last_record(code)
        if record is None:
            metrics.REFUSALS.labels(Refusal.NO_RECORD).inc()
        subscriber.show(encode(record or refuse("get_record", Refusal.NO_RECORD)))

    # What a room asks of its surroundings.

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call this after so many seconds; 0 is as soon as everything else has had its turn."""
        asyncio.get_running_loop().call_later(seconds, call)

    def catch_up(self, room: LiveRoom, after: int) -> None:
        """Read the room's log behind this index, in a task."""
        self._start(self._reader.catch_up(room, after), room)

    def welcome(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Show an arriving player the room: at once if its history is at hand, else in a task that reads it."""
        if room.history is None:
            self._start(self._introduce(room, subscriber), room)
        else:
            with contained("a room", room=room.code):
                self._let_in(room, room.history, subscriber)

    def try_later(self, room: LiveRoom) -> None:
        """Let the room read its log when Redis may be back."""
        self._timers.retry(room)

    def is_open(self, room: LiveRoom) -> bool:
        """Whether this is the room that goes by its code here, and was not dropped."""
        return self._rooms.get(room.code) is room

    def give_up(self, room: LiveRoom) -> None:
        """Drop a room whose log was lost or is another one; its followers come again and are shown what is there."""
        metrics.LOST_LOGS.inc()
        _LOG.warning("the log is not what was shown; its followers are sent away", room=room.code)
        if self.is_open(room):
            self._attached.forget(room.code)
        self._drop(room)
        self._start(self._report_lost(room.code, room.lose()), room)

    def changed(self, room: LiveRoom) -> None:
        """Set the room's timers by its state, store what is to be stored, drop the room when nobody needs it."""
        if not self.is_open(room):
            return
        if not room.is_needed:
            self._drop(room)
            return
        state = room.state
        if state is None:
            return
        self._timers.set(room)
        if state.unarchived_match:
            self._start(self._archive_match(room), room)

    def _sign(self, record: Record) -> Record:
        """With the key of now: it changes when Redis holds another one."""
        return self.key.sign(record)

    def _draw_round(self) -> RoundOpened:
        return self.key.draw_round()

    def _reading(self, code: str) -> asyncio.Lock:
        """Held by whoever reads the whole log of this room, for all who wait for the same."""
        return self._readings.setdefault(code, asyncio.Lock())

    def _add(self, room: LiveRoom) -> LiveRoom:
        self._rooms[room.code] = room
        metrics.ROOMS.inc()
        if self.is_shared:
            self._wakeups.subscribe(room.code)
        return room

    def _drop(self, room: LiveRoom) -> None:
        if self.is_open(room):
            del self._rooms[room.code]
            metrics.ROOMS.dec()
            self._wakeups.unsubscribe(room.code)
            self._timers.drop(room)

    def _heard(self, code: str, log_slice: LogSlice) -> None:
        room = self._rooms.get(code)
        if room is not None:
            room.hear(log_slice)

    def _start(self, work: Coroutine[Any, Any, None], room: LiveRoom) -> None:
        """Do this in a task; a fault of ours in one room is logged and leaves the others alone."""
        guarded = self._guard(work, room.code)
        try:
            self._tasks.create_task(guarded)
        except RuntimeError:
            # This process is going down; another one finds in the log what there is to do.
            guarded.close()
            work.close()

    async def _guard(self, work: Coroutine[Any, Any, None], code: str) -> None:
        with contained("a room", room=code):
            await work

    async def _report_lost(self, code: str, links: Sequence[str]) -> None:
        """Tell the log of links that ended together with a room that was given up."""
        try:
            room = await self.open_room(code)
        except (RedisError, OSError, ValueError) as reason:
            _LOG.warning("links that ended stay in the log", room=code, reason=str(reason))
            return
        if room is not None:
            for connection_id in links:
                room.submit(Request(Disconnect(connection_id)))

    async def _wind_up(self) -> None:
        """What rooms have under way is finished before this process ends, for at most a while."""
        for _ in range(WIND_UP_LOOKS):
            if not any(room.is_busy for room in self._rooms.values()):
                return
            await asyncio.sleep(WIND_UP_SECONDS / WIND_UP_LOOKS)

    async def _introduce(self, room: LiveRoom, subscriber: Subscriber) -> None:
        """Show a follower what its viewer was shown so far, then let it follow.

        What the log has beyond what the room has shown is shown to the follower as to everybody else.
        """
        async with self._reading(room.code):
            # A crowd that comes at the same moment waits for one reading, and is let in one by one.
            if room.history is None and room.subscribers.is_pending(subscriber):
                try:
                    await self._reader.load_history(room)
                except (RedisError, OSError):
                    room.depart(subscriber)
                    subscriber.entry_refused(refuse(subscriber.entry_kind, Refusal.TRY_AGAIN))
                    return
            if room.history is not None:
                self._let_in(room, room.history, subscriber)

    def _let_in(self, room: LiveRoom, history: StepHistory, subscriber: Subscriber) -> None:
        """As `_introduce`, with a history that goes up to what the room has shown."""
        if not room.subscribers.is_pending(subscriber):
            # It has left, or was introduced, meanwhile.
            return
        viewer = room.seat_of(subscriber)
        if viewer is None and room.has_asked(subscriber):
            # It gave up the seat that this was about, and has asked again: that answer introduces it.
            return
        if viewer is None and subscriber.entry_kind != "watch":
            room.unfollow(subscriber)
            subscriber.replaced()
            return
        introduction = make_catchup(room.code, history, viewer, subscriber.seen_upto, self.clock.now_ms())
        room.admit(viewer, subscriber, introduction)

    async def _archive_match(self, room: LiveRoom) -> None:
        match = await self._archiver.archive(room.code)
        if match is not None:
            room.submit(Request(MarkArchived(match)))

    async def take_up(self, code: str) -> None:
        """Look at a room that everybody forgot: judge its deadline, store its match. Raises RedisError.

        One whose log cannot be read is looked at again in UNREADABLE_SECONDS, so that it is in nobody's way.
        """
        try:
            room = await self.open_room(code)
        except ValueError:
            _LOG.exception("a log that cannot be read", room=code)
            await self.log.put_off(code, UNREADABLE_SECONDS)
            return
        if room is None or room.state is None:
            await self.log.forget(code)
            return
        deadline = room.state.next_deadline()
        if deadline is not None:
            room.submit(Request(ExpireDeadline(deadline.at_ms)))
        else:
            self.changed(room)

    async def compare_tails(self) -> None:
        """Let rooms catch up whose log is not where we believe it to be. Raises RedisError.

        Who serves alone looks at every room all the same, now and then: Redis may have lost what it had taken.
        """
        self._compared += 1
        stride = 1 if self.is_shared else ALONE_STRIDE
        codes = list(self._rooms)[self._compared % stride :: stride]
        if not codes:
            return
        believed = [self._rooms[code].end for code in codes]
        for code, before, end in zip(codes, believed, await self.log.last_ends(codes), strict=True):
            room = self._rooms.get(code)
            # A room that went on meanwhile hears what happens.
            if room is not None and end is not None and room.end == before != end:
                room.catch_up()

    # What the pulse finds.

    @property
    def silent_seconds(self) -> float:
        """How long ago a beat was answered."""
        return self.clock.silent_seconds

    def answered(self, redis_ms: int, pauses: tuple[Pause, ...], *, is_shared: bool) -> None:
        """Redis' clock and the pauses; while others serve this deployment, we follow what they append to our rooms."""
        self.clock.beat(redis_ms)
        self.pauses = pauses
        if is_shared and not self.is_shared:
            for code in self._rooms:
                self._wakeups.subscribe(code)
        self.is_shared = is_shared

    async def register_all(self) -> None:
        """Write down anew in which rooms this process speaks. Raises RedisError."""
        await self._attached.register_all()

    async def keep_key(self) -> None:
        """Give Redis our key where it has none: it may have lost its data. Raises RedisError.

        If another process was faster with one of its own, that is everybody's from now on.
        """
        private = await load_private_key(self._redis, self.key.private)
        if private != self.key.private:
            self.key = SigningKey(private)
            _LOG.warning("redis holds another key: commitments are signed with that now", key=self.key.public.hex())

    def send_away(self) -> None:
        """Every follower comes again, here or elsewhere; what their seats owe the log is reported when it answers."""
        for room in list(self._rooms.values()):
            for connection_id in room.subscribers.send_away():
                room.submit(Request(Disconnect(connection_id)))

    async def release_rooms(self) -> None:
        """Rooms that are not open here any more hold no seat of ours. Raises RedisError."""
        await self._attached.retain_only(self._rooms.keys())

    async def report_lapsed(self, process_id: str) -> bool:
        """Tell the rooms of a process that lapsed; whether all of them know. Raises RedisError.

        A room whose log cannot be read has nobody who could know.
        """
        rooms = await self._processes.rooms_of(process_id)
        away: set[int] = set()
        for code in rooms:
            if keys.bucket(code) in away:
                continue
            try:
                room = await self.open_room(code)
            except (RedisError, OSError):
                # On a Cluster the rooms of other buckets may be had.
                away.add(keys.bucket(code))
                continue
            except ValueError:
                _LOG.exception("a log that cannot be read", room=code)
                room = None
            links = (
                [seat.connection_id for seat in room.state.seats if seat and seat.connection_id]
                if room and room.state
                else []
            )
            if room is not None and any(connection_id.startswith(f"{process_id}-") for connection_id in links):
                room.submit(Request(ProcessLapsed(process_id)))
            else:
                if room is not None:
                    self.changed(room)
                await self._processes.release(process_id, [code])
        return not rooms
