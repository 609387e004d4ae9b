"""Matches that are over become records, however many end at the same moment."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest

from fairest_protocol.calculation.record import Record
from fairest_protocol.calculation.sliced import finish
from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.rater import Rater
from fairest_server.live.record_finder import RecordFinder
from fairest_server.live.record_maker import RecordMaker
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.slices import Slices
from fairest_server.room.match_record import MatchFold, record_matches
from fairest_server.room.steps import Step
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.log_entries import format_event
from fairest_server.store.matches import MatchList
from fairest_server.store.ratings import RatingStore
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.races import KEY, raced
from tests.support.redis_cluster import RedisCluster, other_than
from tests.support.stored_logs import entry_text, store_entries
from tests.support.waiting import PATIENCE_SECONDS, until

ROOMS = [f"room-{number}" for number in range(5 * keys.BUCKETS)]


def make_record_maker(
    redis: BatchingRedis,
    sign_lines: Callable[[Record], Iterator[str]] = KEY.sign_lines,
    stopping: asyncio.Event | None = None,
) -> RecordMaker:
    records, slices = RecordStore(redis), Slices()
    rater = Rater(RatingStore(redis), RecordFinder(records, None), RedisClock(), slices, lambda: KEY.public)
    stopping = stopping or asyncio.Event()
    return RecordMaker(Log(redis), records, MatchList(redis), rater, slices, sign_lines, stopping)


def read_log() -> None:
    """The room is not open here, so its log is read."""


def folded(steps: Sequence[Step]) -> MatchFold:
    matches = MatchFold()
    finish(matches.adding(steps))
    return matches


async def write_logs(redis: BatchingRedis) -> None:
    """The same race in every room, up to its end."""
    for room in ROOMS:
        await write_log(redis, room, raced(1).steps)


async def write_log(redis: BatchingRedis, room: str, steps: Sequence[Step]) -> None:
    """Write a room's log with these steps."""
    numbered = enumerate(steps, start=1)
    texts = [entry_text(number, step.tag, step.at_ms, format_event(step.event).decode()) for number, step in numbered]
    await store_entries(redis, room, *texts)


@pytest.mark.long
async def test_of_all_races_that_end_at_the_same_moment_one_of_a_bucket_is_in_memory(redis: BatchingRedis) -> None:
    await write_logs(redis)
    read, stored, most = 0, 0, 0

    def sign_lines(record: Record) -> Iterator[str]:
        nonlocal read, most
        read += 1
        most = max(most, read - stored)
        return KEY.sign_lines(record)

    publisher = make_record_maker(redis, sign_lines)

    async def archive(room: str) -> None:
        nonlocal stored
        await publisher.store_record(room, read_log)
        stored += 1

    async with asyncio.timeout(20):
        await asyncio.gather(*map(archive, ROOMS))
    assert stored == len(ROOMS)
    assert 1 < most <= keys.BUCKETS


@pytest.mark.long
async def test_races_whose_node_does_not_answer_hold_up_the_records_of_no_others(cluster: RedisCluster) -> None:
    # The record of the race, which is that of every room, has a key and a node of its own.
    [record] = record_matches("room", raced(1).steps)
    safe = cluster.owner(keys.record(record.match_id))
    frozen = other_than(safe, cluster)
    # Without a time limit: no race of the frozen node gives up, and lets others pass meanwhile.
    async with make_client(cluster.url, timeout_seconds=None) as redis:
        await write_logs(redis)
        hurt = [room for room in ROOMS if cluster.owner(keys.log(room)) is frozen]
        spared = next(room for room in ROOMS if cluster.owner(keys.log(room)) is safe)
        stopping = asyncio.Event()
        publisher = make_record_maker(redis, stopping=stopping)
        frozen.freeze()
        try:
            waiting = [asyncio.create_task(publisher.store_record(room, read_log)) for room in hurt]
            await asyncio.sleep(0)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await publisher.store_record(spared, read_log)
            assert not any(each.done() for each in waiting)
        finally:
            frozen.thaw()
            stopping.set()
            await asyncio.wait(waiting)


async def test_a_match_whose_process_was_killed_behind_its_record_is_listed_by_the_next_one(
    redis: BatchingRedis,
) -> None:
    steps = raced(1, RoomOptions(listed=True)).steps
    await write_log(redis, ROOMS[0], steps)
    [record] = record_matches(ROOMS[0], steps)
    store, matches = RecordStore(redis), MatchList(redis)
    await store.keep_lines(record.match_id, list(KEY.sign_lines(record)))
    maker = make_record_maker(redis)
    for _ in range(2):
        await maker.store_record(ROOMS[0], read_log)
    listed = await matches.page(record.finished_at_ms)
    assert [row.match for row in listed.matches] == [record.match_id]


async def test_a_match_is_recorded_from_what_its_open_room_knows(redis: BatchingRedis) -> None:
    steps = raced(1).steps
    [record] = record_matches(ROOMS[0], steps)
    await make_record_maker(redis).store_record(ROOMS[0], lambda: folded(steps))
    stored = await RecordStore(redis).read(record.match_id)
    assert stored == "\n".join(KEY.sign_lines(record)).encode()


async def test_once_redis_has_refused_a_record_only_what_the_log_still_holds_is_recorded(redis: BatchingRedis) -> None:
    """As after a fail-over that has lost the end of the race."""
    steps = raced(1).steps
    [record] = record_matches(ROOMS[0], steps)
    await write_log(redis, ROOMS[0], steps[:-5])
    await redis.config_set("maxmemory", 1)
    try:
        storing = asyncio.create_task(make_record_maker(redis).store_record(ROOMS[0], lambda: folded(steps)))

        async def is_refused() -> bool:
            return bool(await redis.info("errorstats"))

        await redis.config_resetstat()
        await until(is_refused, "Redis has refused the record")
    finally:
        await redis.config_set("maxmemory", 0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await storing == 0
    assert await RecordStore(redis).read(record.match_id) is None
