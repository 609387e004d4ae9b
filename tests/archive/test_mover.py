"""Records go from Redis to the archive: old ones, whole ones, each once."""

import asyncio
from pathlib import Path

import pytest

from fairest_protocol.calculation.record import Record
from fairest_server.archive.mover import Moved, move_records
from fairest_server.archive.places import ArchiveUnavailable, Folder
from fairest_server.archive.record_archive import RecordArchive, file_name
from fairest_server.store import keys
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.records import file_of, store_records


def ignore_progress(_moved: Moved) -> None:
    pass


async def move(redis: BatchingRedis, folder: Path, older_than_days: float = 30) -> Moved:
    return await move_records(redis, RecordArchive(Folder(folder)), older_than_days, ignore_progress)


async def in_redis(redis: BatchingRedis, records: list[Record]) -> list[Record]:
    store = RecordStore(redis)
    return [record for record in records if await store.read(record.match_id) is not None]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}


async def test_old_records_are_moved_and_young_ones_stay(redis: BatchingRedis, tmp_path: Path) -> None:
    old = await store_records(redis, 20, days_ago=31)
    young = await store_records(redis, 5, days_ago=29, first=100)
    moved = await move(redis, tmp_path)
    assert (moved.moved, moved.kept, moved.broken) == (20, 5, [])
    assert files(tmp_path) == {file_name(each.match_id): file_of(each) for each in old}
    assert await in_redis(redis, old + young) == young


async def test_the_age_is_that_of_the_match_and_not_that_of_its_key(redis: BatchingRedis, tmp_path: Path) -> None:
    [record] = await store_records(redis, 1, days_ago=31)
    await redis.expire(keys.record(record.match_id), keys.RECORD_SECONDS)
    assert (await move(redis, tmp_path)).moved == 1


async def test_a_broken_record_is_left_in_redis_and_reported(redis: BatchingRedis, tmp_path: Path) -> None:
    records = await store_records(redis, 3)
    broken = keys.record(records[1].match_id)
    await redis.set(broken, "\n".join(records[1].lines()).replace('"seat":0', '"seat":1', 1))
    await redis.set(keys.record("f" * 32), "no record at all")
    await redis.sadd(keys.record("e" * 32), "a set")
    moved = await move(redis, tmp_path)
    assert moved.moved == 2
    assert sorted(each[:32] for each in moved.broken) == sorted(["f" * 32, "e" * 32, records[1].match_id])
    assert await in_redis(redis, records) == [records[1]]
    assert len(files(tmp_path)) == 2


async def test_a_key_that_no_server_writes_is_left_in_redis_and_reported(redis: BatchingRedis, tmp_path: Path) -> None:
    elsewhere = keys.record("f" * 32).replace("{15}", "{14}")
    await redis.set(elsewhere, "no record")
    await redis.set("fairest:{3}:record:notes", "no record")
    moved = await move(redis, tmp_path)
    assert sorted(moved.broken) == [
        f"{elsewhere}: no record has such a key",
        "fairest:{3}:record:notes: no record has such a key",
    ]


async def test_a_record_that_changes_while_it_is_moved_stays_in_redis(redis: BatchingRedis, tmp_path: Path) -> None:
    [record] = await store_records(redis, 1)
    loop = asyncio.get_running_loop()

    async def change(match_id: str) -> None:
        await redis.set(keys.record(match_id), "another")

    class Changed(RecordArchive):
        def keep(self, match_id: str, content: bytes) -> None:
            super().keep(match_id, content)
            asyncio.run_coroutine_threadsafe(change(match_id), loop).result()

    moved = await move_records(redis, Changed(Folder(tmp_path)), 30, ignore_progress)
    assert moved.moved == 0
    assert await redis.get(keys.record(record.match_id)) == b"another"


@pytest.mark.long
async def test_two_runs_at_the_same_time_move_each_record_once(redis: BatchingRedis, tmp_path: Path) -> None:
    records = await store_records(redis, 40)
    first, second = await asyncio.gather(move(redis, tmp_path), move(redis, tmp_path))
    assert first.moved + second.moved == 40
    assert first.broken + second.broken == []
    assert files(tmp_path) == {file_name(each.match_id): file_of(each) for each in records}


async def test_a_record_stored_again_after_its_move_is_moved_again(redis: BatchingRedis, tmp_path: Path) -> None:
    [record] = await store_records(redis, 1)
    await move(redis, tmp_path)
    await RecordStore(redis).keep(record)
    assert (await move(redis, tmp_path)).moved == 1
    assert len(files(tmp_path)) == 1


async def test_an_archive_that_cannot_be_written_leaves_everything_in_redis(
    redis: BatchingRedis, tmp_path: Path
) -> None:
    records = await store_records(redis, 3)
    (tmp_path / "archive").write_text("a file")
    with pytest.raises(ArchiveUnavailable):
        await move(redis, tmp_path / "archive")
    assert await in_redis(redis, records) == records
