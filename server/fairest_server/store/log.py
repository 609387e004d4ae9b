"""The logs of rooms on Redis: appended to by way of lanes, read from any index."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, cast

from fairest_server.room.steps import LogEntry
from fairest_server.store import keys
from fairest_server.store.append_queue import AppendQueue, Writer
from fairest_server.store.log_entries import index_of, parse_entry
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis
from fairest_server.store.redis.connect import batch_connections

ENDS_AT_ONCE: Final = 25
"""Ends of logs that are read in one go, in which nobody else is heard: 25 take 0.3 ms, and there may be thousands."""


class Log:
    """All rooms' logs on one Redis. Appends are sent within `sending`.

    Each part of Redis that may be away on its own has a lane of its own: a single Redis is one, a Cluster has one for
    each bucket.
    """

    def __init__(self, redis: BatchingRedis) -> None:
        self._redis = redis
        self._queues = [AppendQueue(redis, line) for line in batch_connections(redis)]

    def enqueue(self, writer: Writer, *, is_first: bool = False) -> None:
        """Ask this writer for its append just before the next batch that has a place for it; or before all who wait.

        At most one append per room waits at any time, so rooms are the limit.
        """
        queue = 0 if len(self._queues) == 1 else keys.bucket(writer.code)
        self._queues[queue].enqueue(writer, is_first=is_first)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """For as long as the context lasts. What still waits at its end is sent before it ends."""
        try:
            yield
        finally:
            await asyncio.gather(*(queue.close() for queue in self._queues))

    async def read(self, room: str, after: int = 0) -> list[LogEntry]:
        """The entries of a room's log behind this index; empty for a room that does not exist.

        Raises RedisError, and ValueError for a log that is none. Safe to cancel.
        """
        # As it comes: redis-py would make a dictionary of each of hundreds of entries.
        found = await self._redis.execute_command("XRANGE", keys.log(room), f"({after}-0", "+", **RAW_REPLY)
        return [parse_entry(entry_id, fields) for entry_id, fields in found]

    async def exists(self, room: str) -> bool:
        """Whether there is a log of this room, closed ones included. Raises RedisError."""
        return bool(await self._redis.exists(keys.log(room)))

    async def last_ends(self, rooms: Sequence[str]) -> list[tuple[int, str] | None]:
        """Index and tag of the last entry of each of these rooms' logs, 0 where there is none. Raises RedisError.

        None for a room on a node of a Cluster that is away.
        """
        ends: list[tuple[int, str] | None] = []
        for first in range(0, len(rooms), ENDS_AT_ONCE):
            pipeline = self._redis.pipeline(transaction=False)
            for room in rooms[first : first + ENDS_AT_ONCE]:
                pipeline.xrevrange(keys.log(room), count=1)
            ends += [_end(found) for found in await pipeline.execute(raise_on_error=False)]
        return ends

    async def due_rooms(self, overdue_ms: int) -> list[str]:
        """Rooms that somebody should have looked at this long ago. Raises RedisError.

        Those on a node of a Cluster that is away are left out.
        """
        latest = await self.now_ms() - overdue_ms
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            pipeline.zrangebyscore(keys.deadlines(number), "-inf", latest, start=0, num=100)
        found = cast("list[list[bytes] | Exception]", await pipeline.execute(raise_on_error=False))
        return [room.decode() for bucket in found if isinstance(bucket, list) for room in bucket]

    async def put_off(self, room: str, seconds: int) -> None:
        """Let nobody look at this room for so long. Raises RedisError."""
        next_check_ms = await self.now_ms() + seconds * 1000
        await self._redis.zadd(keys.deadlines(keys.bucket(room)), {room: next_check_ms}, xx=True)

    async def forget(self, room: str) -> None:
        """Drop a room without a log from the deadlines and the lobby. Raises RedisError."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zrem(keys.deadlines(keys.bucket(room)), room)
        pipeline.hdel(keys.lobby(keys.bucket(room)), room)
        await pipeline.execute()

    async def now_ms(self) -> int:
        """Redis' clock. Raises RedisError."""
        seconds, microseconds = await self._redis.time()
        return seconds * 1000 + microseconds // 1000


def _end(found: list[tuple[bytes, dict[bytes, bytes]]] | Exception) -> tuple[int, str] | None:
    if isinstance(found, Exception):
        return None
    return (index_of(found[0][0]), found[0][1][b"g"].decode()) if found else (0, "")
