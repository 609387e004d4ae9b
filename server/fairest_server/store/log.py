"""The logs of rooms on Redis: appended to through append queues, read from any index."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, cast

from redis.exceptions import ResponseError

from fairest_server.room.events import Checkpoint
from fairest_server.room.steps import LogEntry
from fairest_server.store import keys
from fairest_server.store.append_queue import AppendQueue, Writer
from fairest_server.store.log_entries import format_event, parse_entries, read_entry
from fairest_server.store.old_logs import convert_log, is_old_log
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis
from fairest_server.store.redis.clients import batch_connections
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.redis.cluster_client import channel_commands
from fairest_server.store.redis.scripts import Script

ENTRIES_IN_PAGE: Final = 256
"""Entries of a log that are read in one command: parsing them blocks the event loop for 0.3 ms."""
NEWEST_ENTRIES: Final = 32
"""Entries that are read at first from the end of a log: a process that follows it has seldom missed more."""
KEPT_BEFORE_CHECKPOINT: Final = 64
"""Events that are kept before a checkpoint: a process that has missed fewer still finds its last one, and goes on."""
POSITIONS_IN_BATCH: Final = 25
"""Logs whose last entries are read in one batch: parsing 25 replies blocks the event loop for 0.3 ms, and there may be
thousands.
"""


class Log:
    """The logs of all rooms on one Redis. Appends are sent while the context `sending` lasts.

    Each part of Redis that can fail on its own has an append queue of its own: a single Redis has one, a Cluster one
    for each bucket.
    """

    def __init__(self, redis: BatchingRedis) -> None:
        self._redis = redis
        self._cut: Script | None = None
        self._queues = [AppendQueue(redis, connection) for connection in batch_connections(redis)]

    def enqueue(self, writer: Writer, *, is_first: bool = False) -> None:
        """Poll `writer` for its append when its place in the queue comes; with `is_first`, before all that wait.

        The queue has no limit of its own: a room waits in it at most once.
        """
        queue = 0 if len(self._queues) == 1 else keys.bucket(writer.code)
        self._queues[queue].enqueue(writer, is_first=is_first)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Send appends while the context lasts. Those that wait at its end are sent before it exits."""
        try:
            yield
        finally:
            await asyncio.gather(*(queue.close() for queue in self._queues))

    async def read(self, room: str, after: int = 0) -> list[LogEntry]:
        """Return the entries of a room's log after the index `after`; none for a room that does not exist.

        The indices have no gaps, but the first one may be higher than `after` + 1, for the log may have been cut.
        Raises RedisError, and ValueError for a log with an entry that cannot be read. Safe to cancel.
        """
        if after:
            newest = await self._range(room, -NEWEST_ENTRIES, -1)
            if len(newest) < NEWEST_ENTRIES or read_entry(newest[0]).index <= after + 1:
                return parse_entries(newest, after)
        entries: list[LogEntry] = []
        last, count = b"", 0
        while True:
            # A page begins with the last entry of the page before. If another one stands there, the log was cut, lost
            # its tail or was deleted meanwhile.
            page = await self._range(room, max(0, count - 1), count + ENTRIES_IN_PAGE - 1)
            if count and (not page or page.pop(0) != last):
                entries, count = [], 0
                continue
            entries += parse_entries(page, after)
            if len(page) < ENTRIES_IN_PAGE:
                return entries
            last, count = page[-1], count + len(page)

    async def _range(self, room: str, first: int, last: int) -> list[bytes]:
        """Return the entries from position `first` to `last`, where 0 is the first entry and -1 the last one."""
        command = ("LRANGE", keys.log(room), first, last)
        try:
            found = await self._redis.execute_command(*command, **RAW_REPLY)
        except ResponseError as error:
            if not is_old_log(error):
                raise
            await convert_log(self._redis, room)
            found = await self._redis.execute_command(*command, **RAW_REPLY)
        return cast("list[bytes]", found)

    async def cut(self, room: str, end: LogEntry, tag: str, checkpoint: Checkpoint) -> int | None:
        """Append a checkpoint if the log still ends with the entry `end`, and remove what it stands for, in one step.

        Returns its stamp in ms, or None if the log has moved on. `tag` is new and random. Raises RedisError; safe to
        call again with the same tag.
        """
        if self._cut is None:
            self._cut = Script("cut.lua", head=await channel_commands(self._redis))
        words = (f"{end.index} {end.tag}\n", end.index + 1, tag, format_event(checkpoint))
        arguments = (*words, KEPT_BEFORE_CHECKPOINT)
        stamp = await self._cut.run(self._redis, [keys.log(room)], arguments)
        return int(stamp) if stamp else None

    async def exists(self, room: str) -> bool:
        """Return whether the room has a log, closed or not. Raises RedisError."""
        return bool(await self._redis.exists(keys.log(room)))

    async def last_positions(self, rooms: Sequence[str]) -> list[tuple[int, str] | None]:
        """Return index and tag of the last entry of each room's log, (0, "") for a room without one or with an old one.

        For a room on a node of a Cluster that is away it is None. Raises RedisError.
        """
        positions: list[tuple[int, str] | None] = []
        for first in range(0, len(rooms), POSITIONS_IN_BATCH):
            pipeline = self._redis.pipeline(transaction=False)
            for room in rooms[first : first + POSITIONS_IN_BATCH]:
                pipeline.execute_command("LINDEX", keys.log(room), -1, **RAW_REPLY)
            positions += [_position(found) for found in await pipeline.execute(raise_on_error=False)]
        return positions

    async def due_rooms(self, overdue_ms: int) -> list[str]:
        """Return rooms that should have been checked at least `overdue_ms` ago, up to 100 of each bucket.

        Rooms on a node of a Cluster that is away are left out. Raises RedisError.
        """
        latest = await self.now_ms() - overdue_ms
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            pipeline.zrangebyscore(keys.deadlines(number), "-inf", latest, start=0, num=100)
        found = cast("list[list[bytes] | Exception]", await pipeline.execute(raise_on_error=False))
        return [room.decode() for bucket in found if isinstance(bucket, list) for room in bucket]

    async def indexed_rooms(self) -> list[str]:
        """Return the rooms that have a next check, which every room without a connection has. Raises RedisError."""
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            pipeline.zrange(keys.deadlines(number), 0, -1)
        return [room.decode() for bucket in await pipeline.execute() for room in bucket]

    async def created_ms(self, rooms: Sequence[str]) -> list[int]:
        """Return when each room was created, in ms on Redis' clock; 0 for one without a log.

        Raises RedisError, and ValueError for a log that cannot be read.
        """
        stamps: list[int] = []
        for first in range(0, len(rooms), POSITIONS_IN_BATCH):
            pipeline = self._redis.pipeline(transaction=False)
            for room in rooms[first : first + POSITIONS_IN_BATCH]:
                pipeline.execute_command("LINDEX", keys.log(room), 0, **RAW_REPLY)
            found = await pipeline.execute(raise_on_error=False)
            stamps += [await self._created_ms(room, entry) for room, entry in zip(rooms[first:], found, strict=False)]
        return stamps

    async def _created_ms(self, room: str, first: bytes | Exception | None) -> int:
        """Return when a room was created whose log begins with the entry `first`."""
        if first is None:
            return 0
        if isinstance(first, bytes):
            stored = read_entry(first)
            if stored.index == 1:
                return stored.at_ms
        elif not is_old_log(first):
            raise first
        # It was cut, or is one of version 0.1.0.
        entries = await self.read(room)
        checkpoints = (entry.event for entry in entries if isinstance(entry.event, Checkpoint))
        return next((each.created_ms for each in checkpoints), entries[0].at_ms if entries else 0)

    async def postpone(self, room: str, seconds: int) -> None:
        """Set the next check of a room that has one to `seconds` from now. Raises RedisError."""
        next_check_ms = await self.now_ms() + seconds * 1000
        await self._redis.zadd(keys.deadlines(keys.bucket(room)), {room: next_check_ms}, xx=True)

    async def unindex(self, room: str) -> None:
        """Remove a room whose log is gone from the deadlines and the lobby. Raises RedisError."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zrem(keys.deadlines(keys.bucket(room)), room)
        pipeline.hdel(keys.lobby(keys.bucket(room)), room)
        await pipeline.execute()

    async def now_ms(self) -> int:
        """Return Redis' clock in ms; on a Cluster that of the node with the processes' keys. Raises RedisError."""
        return await read_clock(self._redis)


def _position(found: bytes | Exception | None) -> tuple[int, str] | None:
    # After a fail-over a log may be one of version 0.1.0 again. An open room then reads it, as if it had been lost.
    if found is None or (isinstance(found, Exception) and is_old_log(found)):
        return 0, ""
    if isinstance(found, Exception):
        return None
    last = read_entry(found)
    return last.last_index, last.tag
