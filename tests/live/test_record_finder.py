"""Records by their ids: those of Redis first, then those of the archive."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_server.archive.places import open_place
from fairest_server.archive.reader import ArchiveReader
from fairest_server.archive.record_archive import RecordArchive
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable
from fairest_server.store.records import RecordStore
from tests.support.records import file_of, make_record, store_records

NO_MATCH = "0" * 32


@pytest.fixture
def _silent_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_server.archive.reader.READ_SECONDS", 0.0)


@pytest.fixture
def archive(tmp_path: Path) -> RecordArchive:
    return RecordArchive(open_place(str(tmp_path)))


@pytest.fixture
def finder(redis: Redis, archive: RecordArchive) -> RecordFinder:
    return RecordFinder(RecordStore(redis), ArchiveReader(archive))


async def test_a_record_of_redis_is_read_as_its_file(redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    assert await RecordFinder(RecordStore(redis), None).read(record.match_id) == file_of(record)


@pytest.mark.usefixtures("_silent_archive")
async def test_a_record_of_redis_is_found_while_the_archive_is_silent(finder: RecordFinder, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    assert await finder.read(record.match_id) == file_of(record)


async def test_a_record_of_the_archive_is_read_as_its_file(finder: RecordFinder, archive: RecordArchive) -> None:
    record = make_record(1)
    archive.keep(record.match_id, file_of(record))
    assert await finder.read(record.match_id) == file_of(record)


async def test_a_record_is_found_as_a_message_with_its_lines(finder: RecordFinder, redis: Redis) -> None:
    [record] = await store_records(redis, 1)
    found = await finder.find(record.match_id)
    assert found is not None
    assert (found.match, found.lines) == (record.match_id, tuple(record.lines()))


async def test_a_record_that_nobody_keeps_is_not_found(finder: RecordFinder) -> None:
    assert (await finder.read(NO_MATCH), await finder.find(NO_MATCH)) == (None, None)


@pytest.mark.usefixtures("_silent_archive")
async def test_whether_there_is_a_record_is_not_known_while_the_archive_is_silent(finder: RecordFinder) -> None:
    with pytest.raises(RecordUnavailable):
        await finder.read(NO_MATCH)
