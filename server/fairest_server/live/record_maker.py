"""Finished matches become signed records, which outlive their rooms."""

import asyncio
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.record import Record
from fairest_protocol.messages.from_server import MatchRecord
from fairest_server.ops import metrics
from fairest_server.room.match_record import record_last_match, record_matches
from fairest_server.room.steps import fold
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.records import RecordStore

RETRY_SECONDS: Final = 0.25
"""Between two attempts to store a match while Redis does not answer."""


class RecordMaker:
    """Makes records of the logs of rooms. `sign` signs a record; `stopping` is set when this process stops."""

    def __init__(
        self, log: Log, records: RecordStore, sign: Callable[[Record], Record], stopping: asyncio.Event
    ) -> None:
        self._log = log
        self._records = records
        self._sign = sign
        self._stopping = stopping
        self._under_way: set[str] = set()
        self._locks = [asyncio.Lock() for _ in range(keys.BUCKETS)]
        """One for each bucket: the whole log of a room, 100 KiB, is in memory until Redis has its record.

        A node of a Cluster that is away holds up its own buckets only.
        """

    async def store_record(self, code: str) -> int | None:
        """Store the finished matches of this room, trying until Redis takes them; return the newest one's number.

        Returns None if they are being stored already, or if this process stops and leaves them to another process.
        """
        if code in self._under_way:
            return None
        self._under_way.add(code)
        try:
            while not self._stopping.is_set():
                try:
                    async with self._locks[keys.bucket(code)]:
                        return await self._store(code)
                except (RedisError, OSError):
                    await asyncio.sleep(RETRY_SECONDS)
            return None
        finally:
            self._under_way.discard(code)

    async def _store(self, code: str) -> int:
        """Store the finished matches in the log; return the number of the newest. Another match may be over by now."""
        steps = fold(await self._log.read(code))
        for record in record_matches(code, steps):
            if await self._records.keep(self._sign(record)):
                metrics.RECORDS.inc()
        return steps[-1].after.unrecorded_match if steps else 0

    async def last_record(self, code: str) -> MatchRecord | None:
        """Return the signed record of the last finished match of this room, if there is one. Raises RedisError."""
        record = record_last_match(code, fold(await self._log.read(code)))
        if record is None:
            return None
        signed = self._sign(record)
        return MatchRecord(match=signed.match_id, lines=tuple(signed.lines()))
