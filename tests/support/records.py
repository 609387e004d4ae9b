"""Signed records of finished matches, as many as a test wants, and Redis filled with them."""

from functools import cache

from redis.asyncio import Redis

from fairest_protocol.calculation.record import Record
from fairest_protocol.value import replace
from fairest_server.room.match_record import record_last_match
from fairest_server.store.records import RecordStore
from tests.support.races import KEY, Table, raced

DAY_MS = 86_400_000


def make_record(number: int, finished_at_ms: int = 0) -> Record:
    """Return a signed record with a match id of its own."""
    return KEY.sign(replace(_raced_record(number), finished_at_ms=finished_at_ms))


@cache
def _raced_record(seed: int) -> Record:
    return unsigned_record(raced(seed))


def unsigned_record(table: Table) -> Record:
    """Return the record of the table's last match, before a server signs it."""
    record = record_last_match("quiet-amber-otter", table.steps)
    assert record is not None
    return record


def signed_record(table: Table) -> Record:
    """Return the signed record of the table's last match."""
    return KEY.sign(unsigned_record(table))


def text_of(record: Record) -> str:
    """Return the content of the record's file."""
    return "".join(f"{line}\n" for line in record.lines())


def file_of(record: Record) -> bytes:
    """Return the content of the record's file in bytes."""
    return text_of(record).encode()


async def store_records(redis: Redis, count: int, days_ago: float = 100, first: int = 0) -> list[Record]:
    """Store records of matches that finished `days_ago`, as a server does; return them."""
    seconds, _ = await redis.time()
    finished_at_ms = int(seconds * 1000 - days_ago * DAY_MS)
    records = [make_record(first + number, finished_at_ms) for number in range(count)]
    for record in records:
        assert await RecordStore(redis).keep(record)
    return records


async def stored_matches(redis: Redis) -> set[str]:
    """Return the ids of the matches whose records are in a single Redis."""
    found = redis.scan_iter(match=RecordStore.key_pattern, count=1000)
    return {key.decode().rpartition(":")[2] async for key in found}
