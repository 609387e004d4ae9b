"""Reading the logs of rooms that are open in this process. A room whose log cannot be read is given up, here alone."""

import asyncio
from collections.abc import Sequence
from typing import Protocol
from weakref import WeakValueDictionary

import structlog
from redis.exceptions import RedisError

from fairest_server.live.live_room import LiveRoom
from fairest_server.live.slices import Slices
from fairest_server.ops.events import Event
from fairest_server.room.steps import LogEntry, LogSlice, Step, folding, from_checkpoint
from fairest_server.store.log import Log

_LOG = structlog.get_logger(__name__)


class OpenRooms(Protocol):
    """The registry of open rooms, as the reader uses it."""

    def is_open(self, room: LiveRoom) -> bool:
        """Return whether `room` is the open room with its code; a room that was dropped is not."""

    def give_up(self, room: LiveRoom) -> None:
        """Drop a room whose log is not the one that was shown."""


async def read_steps(log: Log, slices: Slices, code: str) -> tuple[list[Step], LogEntry | None]:
    """Return the steps of a room's log from its last checkpoint on, and its last entry; none if there is no log.

    Raises RedisError, and ValueError for a log with an entry that cannot be read.
    """
    entries = from_checkpoint(await log.read(code))
    steps = await slices.finish(folding(entries))
    return steps, entries[-1] if entries else None


class LogReader:
    """Reads logs for open rooms."""

    def __init__(self, log: Log, rooms: OpenRooms, slices: Slices) -> None:
        self._log = log
        self._slices = slices
        self._rooms = rooms
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, code: str) -> asyncio.Lock:
        """Return the lock to hold while the whole log of this room is read, so that all callers wait for one read."""
        return self._locks.setdefault(code, asyncio.Lock())

    async def catch_up(self, room: LiveRoom, after: int) -> None:
        """Read the room's log after this index, and hand the entries to `room.on_log_read`."""
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

        The log is read until it has every entry that the room has shown. There is no `await` after the last fold, so
        that the history ends exactly where the room is.
        """
        steps: list[Step] = []
        index, tag = 0, ""
        while self._rooms.is_open(room):
            found = await self._read(room, index)
            if found is None:
                return
            if not found:
                # The log ends before what was shown.
                break
            if index and found[0].index != index + 1:
                # The log was cut meanwhile: read it from its checkpoint.
                steps, index, tag = [], 0, ""
                continue
            room.on_log_slice(LogSlice(tag, found))
            entries = found if index else from_checkpoint(found)
            shown = [entry for entry in entries if entry.index <= room.cursor.index]
            if shown:
                steps += await self._slices.finish(folding(shown, steps[-1].after if steps else None))
                index, tag = shown[-1].index, shown[-1].tag
            if index == room.cursor.index and tag != room.cursor.tag:
                break
            if index == room.cursor.index:
                room.recent.keep(steps)
                return
        if self._rooms.is_open(room):
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
