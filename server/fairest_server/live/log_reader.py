"""What the open rooms of this process read of their logs. A room whose log cannot be read is given up, here alone."""

from collections.abc import Sequence
from typing import Protocol

import structlog
from redis.exceptions import RedisError

from fairest_server.live.live_room import LiveRoom
from fairest_server.room.steps import LogEntry, LogSlice, fold
from fairest_server.store.log import Log

_LOG = structlog.get_logger(__name__)


class Rooms(Protocol):
    """The rooms of this process, as far as reading is concerned."""

    def is_open(self, room: LiveRoom) -> bool:
        """Whether this is the room that goes by its code here, and was not dropped."""

    def give_up(self, room: LiveRoom) -> None:
        """Drop a room whose log was lost or is another one."""


class LogReader:
    """Reads logs for rooms that are open."""

    def __init__(self, log: Log, rooms: Rooms) -> None:
        self._log = log
        self._rooms = rooms

    async def catch_up(self, room: LiveRoom, after: int) -> None:
        """Hand the room what its log has behind this index, or that Redis did not answer."""
        try:
            entries = await self._read(room, after)
        except (RedisError, OSError):
            room.caught_up(None)
        else:
            if entries is not None:
                room.caught_up(entries)

    async def catch_up_to_end(self, room: LiveRoom) -> None:
        """Have the room take all that its log has by now. Raises RedisError.

        Whoever watched it in another process may have seen more than this one has heard of, and would see the room go
        back. A player is spared that by its own append, which the log takes behind its end only.
        """
        tag, entries = room.tag, await self._read(room, room.index)
        end = entries[-1].index if entries else 0
        while entries and room.index < end and self._rooms.is_open(room):
            # Nothing is taken while an append is under way; its answer is here before the next reading.
            room.hear(LogSlice(tag, entries))
            if room.index < end:
                tag, entries = room.tag, await self._read(room, room.index)

    async def load_history(self, room: LiveRoom) -> None:
        """Give the room its history, or give it up if its log has none. Raises RedisError.

        The log is read until nothing is missing that the room has shown; from there on no `await` may come between.
        """
        entries = await self._read(room, 0)
        while entries and len(entries) < room.index:
            more = await self._read(room, len(entries))
            entries = [*entries, *more] if more else None
        if entries and room.index and entries[room.index - 1].tag != room.tag:
            entries = None
        if entries:
            room.hear(LogSlice("", entries))
            room.remember(fold(entries[: room.index]))
        elif self._rooms.is_open(room):
            self._rooms.give_up(room)

    async def _read(self, room: LiveRoom, after: int) -> Sequence[LogEntry] | None:
        """None for a log that cannot be read, whose room is given up. Raises RedisError."""
        try:
            return await self._log.read(room.code, after)
        except ValueError:
            _LOG.exception("a log that cannot be read", room=room.code)
            if self._rooms.is_open(room):
                self._rooms.give_up(room)
            return None
