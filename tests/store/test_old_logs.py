"""Logs of version 0.1.0 are read, appended to and cut, once they were written anew."""

import asyncio

import pytest
from redis.exceptions import ResponseError

from fairest_protocol.calculation.moves import MOVES
from fairest_server.room.events import Played
from fairest_server.store import keys
from fairest_server.store.appends import Answer, Append
from fairest_server.store.log import Log
from fairest_server.store.old_logs import convert_log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.appending import append_once
from tests.support.stored_logs import entry_text, store_entries, store_old_entry, stored_entries

ROOM = "quiet-amber-otter"
MOVE = Played(seat=1, move=MOVES["b4"])


async def store_two(redis: BatchingRedis) -> None:
    await store_old_entry(redis, ROOM, 1, t=1_795_465_557_250, g="7c84cdc2", e="0sa")
    await store_old_entry(redis, ROOM, 2, t=1_795_465_557_300, g="48cc7a25", e="1b4")


async def test_an_old_log_is_written_anew_when_it_is_read(redis: BatchingRedis) -> None:
    await store_two(redis)
    await Log(redis).read(ROOM)
    assert await stored_entries(redis, ROOM) == [
        b"1795465557250 1 7c84cdc2\n0sa",
        b"1795465557300 2 48cc7a25\n1b4",
    ]


async def test_an_old_log_is_read_as_it_was_written(redis: BatchingRedis) -> None:
    await store_two(redis)
    found = [(each.index, each.tag, each.at_ms) for each in await Log(redis).read(ROOM)]
    assert found == [(1, "7c84cdc2", 1_795_465_557_250), (2, "48cc7a25", 1_795_465_557_300)]


async def test_an_old_log_that_was_cut_begins_where_it_began(redis: BatchingRedis) -> None:
    await store_old_entry(redis, ROOM, 71)
    await store_old_entry(redis, ROOM, 72)
    assert [each.index for each in await Log(redis).read(ROOM)] == [71, 72]


async def test_an_old_log_expires_when_it_would_have(redis: BatchingRedis) -> None:
    await store_two(redis)
    await redis.expire(keys.log(ROOM), 500)
    await Log(redis).read(ROOM)
    assert 490 < await redis.ttl(keys.log(ROOM)) <= 500


async def test_an_append_follows_an_old_entry(redis: BatchingRedis) -> None:
    await store_two(redis)
    log = Log(redis)
    await log.read(ROOM)
    async with log.sending():
        assert await append_once(log, Append(ROOM, 2, "48cc7a25", "t3", (MOVE,))) is Answer.APPENDED


async def test_an_append_to_an_old_log_that_nobody_has_read_fails_and_changes_nothing(redis: BatchingRedis) -> None:
    await store_two(redis)
    log = Log(redis)
    async with log.sending():
        assert await append_once(log, Append(ROOM, 2, "48cc7a25", "t3", (MOVE,))) is Answer.FAILED
    assert await redis.xlen(keys.log(ROOM)) == 2


async def test_two_processes_that_read_an_old_log_at_once_convert_it_once(redis: BatchingRedis) -> None:
    await store_two(redis)
    both = await asyncio.gather(Log(redis).read(ROOM), Log(redis).read(ROOM))
    assert [len(found) for found in both] == [2, 2]


async def test_a_log_of_this_version_is_not_changed(redis: BatchingRedis) -> None:
    await store_entries(redis, ROOM, entry_text(1, "t1", 1, "0sa"))
    await convert_log(redis, ROOM)
    assert await stored_entries(redis, ROOM) == [b"0000000000001 1 t1\n0sa"]


async def test_a_room_of_an_old_log_was_created_when_its_first_entry_was_appended(redis: BatchingRedis) -> None:
    await store_two(redis)
    assert await Log(redis).created_ms([ROOM]) == [1_795_465_557_250]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"colour": "green"}, id="other fields"),
        pytest.param({"e": "0sa", "g": "t1", "t": 1}, id="another order"),
        pytest.param({"t": "noon", "g": "t1", "e": "0sa"}, id="a time that is not a number"),
        pytest.param({"t": 1, "g": "t1", "e": "2sa"}, id="a third seat"),
        pytest.param({"t": 1, "g": "t1", "e": "0sa", "more": 1}, id="a field more"),
    ],
)
async def test_an_old_log_that_we_did_not_write_cannot_be_read(redis: BatchingRedis, fields: dict[str, object]) -> None:
    await store_old_entry(redis, ROOM, 1, **fields)
    with pytest.raises(ValueError, match=r"entry|JSON"):
        await Log(redis).read(ROOM)


async def test_a_stream_that_is_no_log_is_left_as_it_is(redis: BatchingRedis) -> None:
    await store_two(redis)
    await store_old_entry(redis, ROOM, 3, colour="green")
    with pytest.raises(ValueError, match=r"version 0\.1\.0"):
        await convert_log(redis, ROOM)
    assert await redis.xlen(keys.log(ROOM)) == 3


async def test_a_key_of_another_type_is_an_error_of_redis(redis: BatchingRedis) -> None:
    await redis.set(keys.log(ROOM), "text")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await Log(redis).read(ROOM)
