"""The sweep: rooms whose deadline no process judged, rooms of processes that lapsed, logs that grew unnoticed."""

import asyncio
from typing import Final

import structlog
from redis.exceptions import RedisError

from fairest_server.live.attached_rooms import AttachedRooms
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.registry import RoomRegistry
from fairest_server.live.signing import DeploymentKey
from fairest_server.membership.heartbeat import Heartbeat
from fairest_server.membership.periodic import repeat
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.commands import ExpireDeadline, ProcessLapsed
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.processes import Processes

OVERDUE_MS: Final = 1_000
"""A process that has the room open gets this long to judge a deadline, before a sweep looks at the room."""
UNREADABLE_SECONDS: Final = 600
"""A room whose log cannot be read is looked at again after this time, so that it holds up no other."""

ALONE_STRIDE: Final = 30
"""A process that serves alone compares each room with its log only once in this many comparisons."""

_LOG = structlog.get_logger(__name__)


class Sweeper:
    """The sweep of this process. Each of its tasks runs until `stopping` is set, apart from the others and from the
    heartbeat, since any of them may have to wait for a node of Redis.
    """

    def __init__(
        self,
        processes: Processes,
        log: Log,
        registry: RoomRegistry,
        attached: AttachedRooms,
        key: DeploymentKey,
        heartbeat: Heartbeat,
        stopping: asyncio.Event,
    ) -> None:
        self._processes = processes
        self._log = log
        self._registry = registry
        self._attached = attached
        self._key = key
        self._heartbeat = heartbeat
        self._stopping = stopping
        self._comparisons = 0

    async def release(self) -> None:
        """Release rooms that are no longer open. It may wait for rooms that are being registered."""
        await repeat(self.release_rooms, self._stopping)

    async def compare(self) -> None:
        """Find log entries whose wake-ups were lost, and keep the signing key in Redis."""
        await repeat(self._compare, self._stopping)

    async def sweep(self) -> None:
        """Look after the rooms that other processes have left behind."""
        await repeat(self._sweep, self._stopping)

    async def release_rooms(self) -> None:
        """Release the rooms that are not open here, once. Raises RedisError."""
        await self._attached.retain_only(self._registry.rooms.keys())

    async def compare_ends(self) -> None:
        """Let rooms catch up whose log does not end where they believe it to. Raises RedisError.

        Wake-ups may be lost. A process that serves alone looks now and then all the same: Redis may have lost entries
        that it had acknowledged.
        """
        self._comparisons += 1
        rooms, stride = self._registry.rooms, 1 if self._heartbeat.is_shared else ALONE_STRIDE
        codes = list(rooms)[self._comparisons % stride :: stride]
        if not codes:
            return
        known = [rooms[code].cursor.end for code in codes]
        for code, before, end in zip(codes, known, await self._log.last_positions(codes), strict=True):
            room = rooms.get(code)
            # A room that went on meanwhile gets wake-ups.
            if room is not None and end is not None and room.cursor.end == before != end:
                room.catch_up()

    async def _compare(self) -> None:
        await self.compare_ends()
        await self._key.keep()

    async def _sweep(self) -> None:
        for process_id in sorted(self._heartbeat.lapsed):
            if await self._report_lapsed(process_id) and await self._processes.forget_process(process_id):
                _LOG.info(Event.PROCESS_LAPSED, process=process_id)
        unreachable: set[int] = set()
        for code in await self._log.due_rooms(OVERDUE_MS):
            if keys.bucket(code) in unreachable:
                continue
            with contained(Part.ROOM, room=code):
                try:
                    await self._look_after(code)
                except (RedisError, OSError) as reason:
                    # An outage is no fault of this program. On a Cluster, other buckets may be within reach.
                    unreachable.add(keys.bucket(code))
                    _LOG.warning(Event.REDIS_FAILED, reason=str(reason))

    async def _look_after(self, code: str) -> None:
        """Judge the deadline of an overdue room, or archive its match. Raises RedisError."""
        try:
            room = await self._registry.open_room(code)
        except ValueError:
            _LOG.exception(Event.LOG_UNREADABLE, room=code)
            await self._log.postpone(code, UNREADABLE_SECONDS)
            return
        if room is None or room.state is None:
            await self._log.unindex(code)
            return
        deadline = room.state.next_deadline()
        if deadline is not None:
            room.submit(Request(ExpireDeadline(deadline.at_ms)))
        else:
            self._registry.on_change(room)

    async def _report_lapsed(self, process_id: str) -> bool:
        """Report to the rooms of a process that it has lapsed; return whether all of them know. Raises RedisError.

        The heartbeat that found it lapsed may be a while ago, since a sweep waits for Redis. So each room is told only
        if the process has lapsed by now, and only of the connections that it had before this was looked up.
        """
        codes = await self._processes.rooms_of(process_id)
        unreachable: set[int] = set()
        for code in codes:
            if keys.bucket(code) in unreachable:
                continue
            try:
                room = await self._registry.open_room(code)
            except (RedisError, OSError):
                # On a Cluster, rooms of other buckets may be within reach.
                unreachable.add(keys.bucket(code))
                continue
            except ValueError:
                # A room whose log cannot be read has no seat that could be freed.
                _LOG.exception(Event.LOG_UNREADABLE, room=code)
                room = None
            lost = _connections_of(process_id, room)
            if lost and room is not None:
                has_lapsed = await self._processes.has_lapsed(process_id)
                if has_lapsed:
                    room.submit(Request(ProcessLapsed(lost)))
            else:
                has_lapsed = await self._processes.release_lapsed(process_id, [code])
            if room is not None:
                self._registry.on_change(room)
            if not has_lapsed:
                return False
        return not codes


def _connections_of(process_id: str, room: LiveRoom | None) -> frozenset[str]:
    """Return the connections of this process that have a seat, by the room's log."""
    seats = room.state.seats if room is not None and room.state else ()
    found = (seat.connection_id for seat in seats if seat and seat.connection_id)
    return frozenset(each for each in found if each.startswith(f"{process_id}-"))
