"""Reading the logs of rooms that are open in this process. A room whose log cannot be read is given up, here alone."""

import asyncio
from collections.abc import Sequence
from typing import Protocol
from weakref import WeakValueDictionary

import structlog
from redis.exceptions import RedisError

from fairest_server.live.live_room import LiveRoom
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.ops.events import Event
from fairest_server.room.steps import LogEntry, LogSlice, fold
from fairest_server.store.log import Log

_LOG = structlog.get_logger(__name__)


class OpenRooms(Protocol):
    """The registry of open rooms, as the reader uses it."""

    def is_open(self, room: LiveRoom) -> bool:
        """Return whether `room` is the open room with its code; a room that was dropped is not."""

    def give_up(self, room: LiveRoom) -> None:
        """Drop a room whose log is not the one that was shown."""


class LogReader:
    """Reads logs for open rooms."""

    def __init__(self, log: Log, rooms: OpenRooms, tasks: RoomTasks) -> None:
        self._log = log
        self._rooms = rooms
        self._tasks = tasks
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, code: str) -> asyncio.Lock:
        """Return the lock to hold while the whole log of this room is read, so that all callers wait for one read."""
        return self._locks.setdefault(code, asyncio.Lock())

    def start_catch_up(self, room: LiveRoom, after: int) -> None:
        """Read the room's log after this index, in a task, and hand the entries to `room.on_log_read`."""
        self._tasks.start(self._catch_up(room, after), room.code)

    async def _catch_up(self, room: LiveRoom, after: int) -> None:
        try:
            entries = await self._read(room, after)
        except (RedisError, OSError):
            room.on_log_read(None)
        else:
            if entries is not None:
                room.on_log_read(entries)

    async def catch_up_to_end(self, room: LiveRoom) -> None:
        """Have the room take everything that its log holds by now. Raises RedisError.

        A spectator who watched the room in another process may have seen more than this process knows, and would see
        the room go back. This cannot happen to a player, whose own append has brought this process to the end of the
        log.
        """
        tag, entries = room.cursor.tag, await self._read(room, room.cursor.index)
        end = entries[-1].index if entries else 0
        while entries and room.cursor.index < end and self._rooms.is_open(room):
            # The room takes nothing while an append is in flight; its answer is here before the next read.
            room.on_log_slice(LogSlice(tag, entries))
            if room.cursor.index < end:
                tag, entries = room.cursor.tag, await self._read(room, room.cursor.index)

    async def load_history(self, room: LiveRoom) -> None:
        """Give the room its recent history, or give the room up if its log has none. Raises RedisError.

        The log is read until it has every entry that the room has shown. There is no `await` after the last read, so
        that the history ends exactly where the room is.
        """
        entries = await self._read(room, 0)
        while entries and len(entries) < room.cursor.index:
            more = await self._read(room, len(entries))
            entries = [*entries, *more] if more else None
        index = room.cursor.index
        if entries and index and entries[index - 1].tag != room.cursor.tag:
            entries = None
        if entries:
            room.on_log_slice(LogSlice("", entries))
            room.recent.keep(fold(entries[: room.cursor.index]))
        elif self._rooms.is_open(room):
            self._rooms.give_up(room)

    async def _read(self, room: LiveRoom, after: int) -> Sequence[LogEntry] | None:
        """Return the entries after this index; None for a log that cannot be read, whose room is given up."""
        try:
            return await self._log.read(room.code, after)
        except ValueError:
            _LOG.exception(Event.LOG_UNREADABLE, room=room.code)
            if self._rooms.is_open(room):
                self._rooms.give_up(room)
            return None
