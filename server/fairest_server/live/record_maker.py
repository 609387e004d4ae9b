"""Finished matches become signed records, which outlive their rooms."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from redis.exceptions import RedisError

from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.sliced import collecting
from fairest_protocol.messages.from_server import MatchRecord
from fairest_protocol.value import Value
from fairest_server.live.log_reader import read_steps
from fairest_server.live.rater import Rater, RecordSource
from fairest_server.live.slices import Slices
from fairest_server.ops import metrics
from fairest_server.room.finished_match import list_match
from fairest_server.room.match_record import MatchFold
from fairest_server.room.steps import Step
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.matches import MatchList
from fairest_server.store.records import RecordStore

RETRY_SECONDS: Final = 0.25
"""Between two attempts to store a match while Redis does not answer."""


class LastRecord(Value):
    """The record of a room's last match that is over, or its id if the log was cut after it; None if there is none.

    `entries_read` is the length of the log that was read for it.
    """

    entries_read: int
    record: MatchRecord | None = None
    match_id: str | None = None


class RecordMaker:
    """Makes records of what open rooms know of their matches, or after a failure of what their logs hold.

    `sign_lines` yields the lines of a signed record; `stopping` is set when this process stops.
    """

    def __init__(
        self,
        log: Log,
        records: RecordStore,
        matches: MatchList,
        rater: Rater,
        slices: Slices,
        sign_lines: Callable[[Record], Iterator[str]],
        stopping: asyncio.Event,
    ) -> None:
        self._log = log
        self._records = records
        self._matches = matches
        self._rater = rater
        self._slices = slices
        self._sign_lines = sign_lines
        self._stopping = stopping
        self._under_way: set[str] = set()
        self._locks = [asyncio.Lock() for _ in range(keys.BUCKETS)]
        """One for each bucket: the lines of a record, 20 KB, are in memory until Redis has them.

        A node of a Cluster that is away holds up its own buckets only.
        """
        self._failures = [0] * keys.BUCKETS
        """How often Redis has not answered, by bucket."""

    async def store_record(self, code: str, known: Callable[[], MatchFold | None]) -> int | None:
        """Store the finished matches of this room, trying until Redis takes them; return the newest one's number.

        `known` returns the matches as the open room knows them, None if it was dropped. Once Redis has not answered,
        they may be more than a fail-over has left of the log, which is read then.

        Returns None if they are being stored already, or if this process stops and leaves them to another process.
        """
        if code in self._under_way:
            return None
        self._under_way.add(code)
        bucket = keys.bucket(code)
        failures = self._failures[bucket]
        try:
            while not self._stopping.is_set():
                try:
                    async with self._locks[bucket]:
                        matches = known() if self._failures[bucket] == failures else None
                        return await self._store(code, matches or (await self._read(code))[1])
                except (RedisError, OSError):
                    self._failures[bucket] += 1
                    await asyncio.sleep(RETRY_SECONDS)
            return None
        finally:
            self._under_way.discard(code)

    async def _store(self, code: str, matches: MatchFold) -> int:
        """Store the finished matches; return the number of the newest. Another match may be over by the end of it."""
        newest, players, read = matches.unrecorded_match, matches.players, matches.partly_read
        for record in list(matches.recording(code, only_unstored=True)):
            lines = await self._slices.finish(collecting(self._sign_lines(record)))
            is_new = await self._records.keep_lines(record.match_id, lines)
            if is_new:
                metrics.RECORDS.inc()
            # Behind the record, which its row leads to, and also if the record was there: a process may have been
            # killed between the two. The room's log says that a match is published only after both.
            row = list_match(record)
            if row is not None:
                await self._matches.add(code, row)
            source = RecordSource.STORED
            if is_new:
                source = RecordSource.READ if record.match_id in read else RecordSource.DECIDED
            await self._rater.expect(code, record, players[record.match_id], source)
        return newest

    async def last_record(self, code: str) -> LastRecord:
        """Return the signed record of the last finished match of this room, if there is one. Raises RedisError."""
        steps, matches = await self._read(code)
        records = list(matches.recording(code))
        if not records:
            newest = matches.newest_over
            return LastRecord(len(steps), match_id=newest.hex() if newest else None)
        lines = await self._slices.finish(collecting(self._sign_lines(records[-1])))
        return LastRecord(len(steps), MatchRecord(match=records[-1].match_id, lines=tuple(lines)))

    async def _read(self, code: str) -> tuple[list[Step], MatchFold]:
        steps, _ = await read_steps(self._log, self._slices, code)
        matches = MatchFold()
        await self._slices.finish(matches.adding(steps))
        return steps, matches
