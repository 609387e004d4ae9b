"""The store of records on a real Redis: each record once, whole, and with a head that is cheap to read."""

import pytest

from fairest_protocol.calculation.record import Record
from fairest_server.store import keys
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.races import raced
from tests.support.records import unsigned_record


@pytest.fixture(scope="module")
def record() -> Record:
    return unsigned_record(raced(3))


@pytest.fixture
def store(redis: BatchingRedis) -> RecordStore:
    return RecordStore(redis)


async def test_a_record_is_read_as_its_lines(store: RecordStore, record: Record) -> None:
    await store.keep(record)
    assert await store.read(record.match_id) == "\n".join(record.lines()).encode()


async def test_a_record_is_kept_once(store: RecordStore, record: Record) -> None:
    assert [await store.keep(record), await store.keep(record)] == [True, False]


async def test_a_record_expires_after_400_days(store: RecordStore, record: Record, redis: BatchingRedis) -> None:
    await store.keep(record)
    assert 0 <= 400 * 86_400 - await redis.ttl(keys.record(record.match_id)) < 60


async def test_the_head_of_a_record_is_its_first_1024_bytes(store: RecordStore, record: Record) -> None:
    await store.keep(record)
    assert await store.heads([record.match_id]) == ["\n".join(record.lines()).encode()[:1024]]


async def test_a_record_that_is_not_there_has_an_empty_head(store: RecordStore) -> None:
    assert await store.heads(["0" * 32]) == [b""]


async def test_a_key_that_holds_no_text_has_an_empty_head(store: RecordStore, redis: BatchingRedis) -> None:
    await redis.sadd(keys.record("0" * 32), "x")
    assert await store.heads(["0" * 32]) == [b""]


async def test_a_record_is_removed_only_as_the_text_that_was_seen(store: RecordStore, record: Record) -> None:
    await store.keep(record)
    assert await store.remove(record.match_id, b"another text") is False


async def test_a_record_that_was_seen_is_removed(store: RecordStore, record: Record) -> None:
    await store.keep(record)
    text = await store.read(record.match_id)
    assert text is not None
    assert [await store.remove(record.match_id, text) for _ in range(2)] == [True, False]
    assert await store.read(record.match_id) is None


async def test_without_ids_no_heads_are_read(store: RecordStore) -> None:
    assert await store.heads([]) == []
