"""A restore brings back all that Redis held: every type, every time to live, every room with its surroundings."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairest_protocol.messages.options import RoomOptions
from fairest_server.backup.entries import Entry, Room, Text
from fairest_server.backup.export import CannotExport, export_entries
from fairest_server.backup.file import BackupFile, BadBackup, check_backup
from fairest_server.backup.restoring import CannotRestore, count_keys, restore_entries
from fairest_server.live.round_chain import RoundChain
from fairest_server.live.signing import SigningKey
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.cluster_client import nodes_of
from fairest_server.store.rounds import RoundStore
from tests.support.processes import redis_process
from tests.support.records import store_records
from tests.support.room_server import create_room, heartbeat, serving_room_server
from tests.support.stored_logs import store_old_entry, stored_entries

KEY = bytes(range(224, 256))


@pytest.fixture
async def other() -> AsyncIterator[BatchingRedis]:
    """Yield a client of another Redis, which is empty."""
    with redis_process("--appendonly", "no") as process:
        async with make_client(process.url) as client:
            yield client


async def fill(redis: BatchingRedis, redis_url: str) -> str:
    """Store something of everything; return the code of a listed room."""
    await redis.set(keys.SIGNING_KEY, KEY)
    await redis.hset(keys.player("one"), mapping={"name": "ann"})
    await redis.expire(keys.player("one"), 5000)
    await redis.zadd(keys.PROCESSES, {"abcd1234": 1_795_433_234_611.0})
    await redis.sadd(keys.attached_rooms("abcd1234"), "room-a", "room-b")
    await redis.rpush(keys.PAUSES, "1-2", "3-4")
    await redis.xadd(keys.CONTROL, {"request": "close"}, id="7-1")
    await redis.set(keys.LAST_HEARTBEAT, 1_795_433_234_611)
    await store_records(redis, 5)
    async with serving_room_server(redis, redis_url) as rooms, heartbeat(rooms):
        room, _ = await create_room(rooms, RoomOptions(listed=True))
        await redis.zadd(keys.deadlines(keys.bucket(room.code)), {room.code: 1_795_433_234_611})
    return room.code


async def entries_of(redis: BatchingRedis) -> list[Entry]:
    return sorted([entry async for entry in export_entries(redis)], key=repr)


async def write(redis: BatchingRedis, folder: Path) -> Path:
    file = BackupFile(folder, 0)
    async for entry in export_entries(redis):
        file.add(entry)
    return file.finish()


async def restore(redis: BatchingRedis, path: Path) -> tuple[int, int]:
    restored = await restore_entries(redis, path, check_backup(path), lambda _: None)
    return restored.entries, restored.expired


async def test_another_redis_holds_the_same_after_a_restore(
    redis: BatchingRedis, redis_url: str, other: BatchingRedis, tmp_path: Path
) -> None:
    await fill(redis, redis_url)
    path = await write(redis, tmp_path)
    await restore(other, path)
    before, after = await entries_of(redis), await entries_of(other)
    # A time to live is read, and then added to our clock: on a busy machine seconds may lie between the two.
    assert [repr(entry).split("expires_at_ms")[0] for entry in before] == [
        repr(entry).split("expires_at_ms")[0] for entry in after
    ]
    for was, found in zip(before, after, strict=True):
        assert abs(was.expires_at_ms - found.expires_at_ms) <= 5_000
        assert [getattr(was, name) for name in was.__struct_fields__ if name != "expires_at_ms"] == [
            getattr(found, name) for name in found.__struct_fields__ if name != "expires_at_ms"
        ]
    assert await count_keys(other) == await count_keys(redis)


async def test_the_chain_of_rounds_goes_on_after_a_restore(
    redis: BatchingRedis, other: BatchingRedis, tmp_path: Path
) -> None:
    """Also with an outbox that was emptied, which is a key without entries."""
    chain = RoundChain(RoundStore(redis, "one"), SigningKey(KEY).sign_head, 1000)
    emptied = await redis.xadd(keys.round_outbox(1), {"e": "{}"})
    await redis.xdel(keys.round_outbox(1), emptied)
    for number in range(3):
        await redis.xadd(keys.round_outbox(0), {"e": f'{{"type":"opened","commitment":"{number:064x}"}}'})
    await chain.advance()
    await restore(other, await write(redis, tmp_path))
    restored = RoundChain(RoundStore(other, "two"), SigningKey(KEY).sign_head, 1000)
    await other.delete(keys.ROUND_WRITER)
    await restored.advance()
    assert chain.head is not None
    assert restored.head is not None
    assert (restored.head.number, restored.head.chain) == (3, chain.head.chain)


async def test_a_cluster_takes_the_backup_of_any_redis(redis: BatchingRedis, redis_url: str, tmp_path: Path) -> None:
    code = await fill(redis, redis_url)
    path, before = await write(redis, tmp_path), await entries_of(redis)
    for node in await nodes_of(redis):
        await node.flushall()
    await restore(redis, path)
    after = await entries_of(redis)
    assert len(after) == len(before)
    [room] = [entry for entry in after if isinstance(entry, Room)]
    assert room.room == code and room.lobby and room.next_check


async def test_the_last_heartbeat_is_read_after_everything_else(redis: BatchingRedis, redis_url: str) -> None:
    await fill(redis, redis_url)
    # SCAN returns keys in no order: among so many, the heartbeat is not last by chance.
    for number in range(50):
        await redis.sadd(keys.attached_rooms(f"{number:08x}"), "room-a")
    *_, last = [entry async for entry in export_entries(redis)]
    assert isinstance(last, Text) and last.key == keys.LAST_HEARTBEAT


async def test_processes_that_spoke_for_players_count_as_lapsed(
    redis: BatchingRedis, redis_url: str, other: BatchingRedis, tmp_path: Path
) -> None:
    code = await fill(redis, redis_url)
    await redis.delete(keys.PROCESSES, keys.attached_rooms("abcd1234"))
    await restore(other, await write(redis, tmp_path))
    assert await other.smembers(keys.attached_rooms("abcd1234")) == {code.encode()}
    assert await other.zscore(keys.PROCESSES, "abcd1234") == 0


async def test_keys_that_have_expired_since_the_backup_are_left_out(other: BatchingRedis, tmp_path: Path) -> None:
    file = BackupFile(tmp_path, 0)
    file.add(Text("fairest:name:ann", 1, "one"))
    file.add(Text("fairest:name:bob", 0, "two"))
    assert await restore(other, file.finish()) == (2, 1)
    assert [key async for key in other.scan_iter()] == [b"fairest:name:bob"]


async def test_a_redis_that_is_not_empty_is_refused_and_stays_as_it_is(
    redis: BatchingRedis, other: BatchingRedis, redis_url: str, tmp_path: Path
) -> None:
    await fill(redis, redis_url)
    await other.set("any", "thing")
    with pytest.raises(CannotRestore, match="this Redis is not empty"):
        await restore(other, await write(redis, tmp_path))
    assert [key async for key in other.scan_iter()] == [b"any"]


async def test_a_restore_that_broke_off_is_run_again_with_the_same_file_only(
    redis: BatchingRedis, other: BatchingRedis, redis_url: str, tmp_path: Path
) -> None:
    await fill(redis, redis_url)
    path = await write(redis, tmp_path)
    facts, whole = check_backup(path), path.read_bytes()
    path.write_bytes(whole[:-60])
    with pytest.raises(BadBackup):
        await restore_entries(other, path, facts, lambda _: None)
    assert await other.exists(keys.RESTORING)
    with pytest.raises(CannotExport, match="has not ended"):
        await entries_of(other)
    later = BackupFile(tmp_path, 1)
    with pytest.raises(CannotRestore, match="another backup was begun here"):
        await restore(other, later.finish())
    path.write_bytes(whole)
    await restore(other, path)
    # A second time everything is written over what is there already.
    await other.set(keys.RESTORING, facts.sha256)
    await restore(other, path)
    assert await count_keys(other) == await count_keys(redis)
    assert await other.lrange(keys.PAUSES, 0, -1) == [b"1-2", b"3-4"]


async def test_a_key_that_is_not_ours_is_not_in_the_backup(redis: BatchingRedis) -> None:
    await redis.set("another:program", "x")
    assert await entries_of(redis) == []


async def test_an_old_log_is_backed_up_as_one_of_this_version(
    redis: BatchingRedis, other: BatchingRedis, tmp_path: Path
) -> None:
    await store_old_entry(redis, "quiet-amber-otter", 1, t=1_795_465_557_250, g="7c84cdc2", e="0sa")
    await restore(other, await write(redis, tmp_path))
    assert await stored_entries(other, "quiet-amber-otter") == [b"1795465557250 1 7c84cdc2\n0sa"]


async def test_an_old_log_is_left_as_it_is_by_a_backup(redis: BatchingRedis, tmp_path: Path) -> None:
    """Servers of version 0.1.0 may still run."""
    await store_old_entry(redis, "quiet-amber-otter", 1)
    await write(redis, tmp_path)
    assert await redis.xlen(keys.log("quiet-amber-otter")) == 1


async def test_a_stream_in_the_place_of_a_log_is_named(redis: BatchingRedis) -> None:
    await store_old_entry(redis, "quiet-amber-otter", 1, colour="green")
    with pytest.raises(CannotExport, match="quiet-amber-otter' is not the log of a room"):
        await entries_of(redis)
