"""The log on a real Redis: appended where the sender believes it to be, or not at all."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_server.ops import metrics
from fairest_server.room.events import Event, Played, PlayerReady, RematchAsked, Started
from fairest_server.room.steps import LogSlice
from fairest_server.store import append_queue, keys
from fairest_server.store import log as log_module
from fairest_server.store.append_queue import MAX_BATCH, AppendQueue
from fairest_server.store.appends import Answer, Append, Reply
from fairest_server.store.log import Log
from fairest_server.store.log_entries import parse_wakeup
from fairest_server.store.redis.batch_connection import RETRIES, BatchConnection, CommandWords
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.redis.cluster_client import is_sharded, nodes_of, owner_of
from fairest_server.store.redis.scripts import Script
from tests.support.appending import Once, begin_append
from tests.support.faulty_link import faulty_link
from tests.support.processes import redis_process
from tests.support.stored_logs import any_checkpoint, count_entries, entry_text, store_entries
from tests.support.waiting import PATIENCE_SECONDS, until

ROOM = "quiet-amber-otter"
MOVE = Played(seat=1, move=MOVES["b4"])


class Writer:
    """Appends to one room and waits for the answer."""

    def __init__(self, log: Log) -> None:
        self.log = log

    async def append(self, expected: int = 0, expected_tag: str = "", tag: str = "t1", **more: object) -> Answer:
        events: Sequence[Event] = more.pop("events", (MOVE,))  # type: ignore[assignment]
        append = Append(ROOM, expected, expected_tag, tag, events, **more)  # type: ignore[arg-type]
        async with asyncio.timeout(PATIENCE_SECONDS):
            self.reply = await begin_append(self.log, append)
        return self.reply.answer

    async def append_one_by_one(self, count: int) -> None:
        """Append a move `count` times, to a room without a log."""
        for number in range(count):
            tag = f"t{number}" if number else ""
            assert await self.append(number, tag, f"t{number + 1}") is Answer.APPENDED


def opened_connections(client: BatchingRedis, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list to which each connection is added that `client` opens from now on."""
    opened: list[Any] = []
    make_connection: Any = client.connection_pool.make_connection

    def open_another() -> Any:
        opened.append(make_connection())
        return opened[-1]

    monkeypatch.setattr(client.connection_pool, "make_connection", open_another)
    return opened


class Recorded(Once):
    """Notes in `polled` that it was polled for its append."""

    def __init__(self, append: Append, polled: list[str]) -> None:
        super().__init__(append)
        self.polled = polled

    def build_append(self) -> Append:
        self.polled.append(self.code)
        return super().build_append()


class Idle(Recorded):
    """Has nothing to append when it is polled."""

    def build_append(self) -> None:  # type: ignore[override]
        super().build_append()


def neighbours(room: str, count: int) -> list[str]:
    """Return rooms of the same bucket, whose appends share batches with those of this one."""
    others = (f"room-{number}" for number in itertools.count())
    return list(itertools.islice((other for other in others if keys.bucket(other) == keys.bucket(room)), count))


@pytest.fixture
async def writer(redis: BatchingRedis) -> AsyncIterator[Writer]:
    log = Log(redis)
    async with log.sending():
        yield Writer(log)


async def test_appended_events_are_read_back_in_order(writer: Writer) -> None:
    events = (Started(), MOVE, PlayerReady(seat=0, entropy_hash=bytes(32)), RematchAsked(seat=1))
    assert await writer.append(events=events) is Answer.APPENDED
    logged = await writer.log.read(ROOM)
    assert [each.event for each in logged] == list(events)
    assert [each.index for each in logged] == [1, 2, 3, 4]


async def test_an_append_that_expects_too_few_entries_is_a_conflict_and_writes_nothing(writer: Writer) -> None:
    await writer.append()
    assert await writer.append(tag="t2") is Answer.CONFLICT
    assert len(await writer.log.read(ROOM)) == 1


async def test_a_conflict_returns_the_entries_from_the_append_with_the_expected_last_one_on(writer: Writer) -> None:
    await writer.append()
    await writer.append(expected=1, expected_tag="t1", tag="t2", events=(Started(), MOVE))
    await writer.append(expected=3, expected_tag="t2", tag="t3")
    assert await writer.append(expected=3, expected_tag="t2", tag="t4") is Answer.CONFLICT
    assert writer.reply.entries == (await writer.log.read(ROOM))[1:]


async def test_all_events_of_an_append_share_an_entry(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append(events=(Started(), MOVE, MOVE))
    assert await count_entries(redis, ROOM) == 1
    assert [(each.index, each.event) for each in await writer.log.read(ROOM)] == [(1, Started()), (2, MOVE), (3, MOVE)]


async def test_a_log_is_read_from_within_an_append_on(writer: Writer) -> None:
    await writer.append(events=(Started(), MOVE, MOVE))
    assert [each.index for each in await writer.log.read(ROOM, after=1)] == [2, 3]


async def test_a_clock_before_2001_has_stamps_that_are_read_again(redis: BatchingRedis) -> None:
    """A machine without a clock starts in 1970. Redis' clock cannot be set, so the script gets another one."""
    text = Script("append.lua", head="local publish, count = 'PUBLISH', 'NUMSUB'").text
    in_1970 = text.replace("call('TIME')", "{'100', '123456'}")
    log, tags = keys.log(ROOM), ("", "ab12cd34", "ef56ab78")
    for number in (0, 1):
        words = (f"{number} {tags[number]}\n", f"{number + 1} {tags[number + 1]}\n0sa", 0)
        await redis.execute_command("EVAL", in_1970, 1, log, 1, "", *words)
    found = [(each.index, each.tag, each.at_ms) for each in await Log(redis).read(ROOM)]
    assert (in_1970 != text, found) == (True, [(1, "ab12cd34", 100_123), (2, "ef56ab78", 100_123)])


async def test_a_log_that_is_cut_by_a_clock_before_2001_is_read_again(redis: BatchingRedis) -> None:
    text = Script("cut.lua", head="local publish = 'PUBLISH'\n").text
    in_1970 = text.replace("redis.call('TIME')", "{'100', '123456'}")
    log = keys.log(ROOM)
    await store_entries(redis, ROOM, entry_text(1, "ab12cd34", 100_122, "0sa"))
    await redis.execute_command("EVAL", in_1970, 1, log, "1 ab12cd34\n", 2, "ef56ab78", "0sb", 1)
    found = [(each.index, each.tag, each.at_ms) for each in await Log(redis).read(ROOM)]
    assert (in_1970 != text, found) == (True, [(1, "ab12cd34", 100_122), (2, "ef56ab78", 100_123)])


async def test_a_conflict_with_entries_that_cannot_be_read_is_unknown(writer: Writer, redis: BatchingRedis) -> None:
    await store_entries(redis, ROOM, "green", entry_text(2, "t1", 1, "0sa"))
    assert await writer.append() is Answer.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("green", id="no entry"),
        pytest.param("0000000000001 1 t1", id="no event"),
        pytest.param("0000000000001 t1 1\n0sa", id="another order"),
        pytest.param("noon 1 t1\n0sa", id="a time that is not a number"),
        pytest.param("0000000000001 1 t1\n2sa", id="a third seat"),
        pytest.param("0000000000001 1 t1\n0si", id="a ninth pile"),
    ],
)
async def test_reading_a_log_with_an_entry_that_we_did_not_write_fails(
    writer: Writer, redis: BatchingRedis, text: str
) -> None:
    await store_entries(redis, ROOM, text)
    with pytest.raises(ValueError, match=r"entry|JSON"):
        await writer.log.read(ROOM)


async def test_an_append_that_expects_too_many_entries_is_a_conflict_and_writes_nothing(writer: Writer) -> None:
    assert await writer.append(expected=3) is Answer.CONFLICT
    assert await writer.log.read(ROOM) == []


async def test_an_append_to_a_log_that_lost_its_tail_and_grew_again_is_a_conflict(writer: Writer) -> None:
    await writer.append(tag="another")
    assert await writer.append(expected=1, expected_tag="t1", tag="t2") is Answer.CONFLICT


async def test_the_same_append_sent_again_is_made_once_and_answered_the_same(writer: Writer) -> None:
    await writer.append(events=(MOVE, MOVE))
    stamp = writer.reply.now_ms
    assert await writer.append(events=(MOVE, MOVE)) is Answer.APPENDED
    assert writer.reply.now_ms == stamp
    assert len(await writer.log.read(ROOM)) == 2


async def test_an_append_that_is_sent_again_later_is_answered_with_the_stamp_of_its_entries(
    writer: Writer, redis: BatchingRedis
) -> None:
    long_ago = 1_000
    await store_entries(redis, ROOM, entry_text(1, "t1", long_ago, "1b4"))
    assert await writer.append(tag="t1") is Answer.APPENDED
    assert writer.reply.now_ms == long_ago


async def test_an_append_with_the_tag_of_a_longer_one_is_a_conflict(writer: Writer) -> None:
    await writer.append(events=(MOVE, MOVE))
    assert await writer.append(events=(MOVE,)) is Answer.CONFLICT


async def test_an_append_after_its_time_is_late(writer: Writer) -> None:
    assert await writer.append(not_after_ms=1) is Answer.LATE
    assert await writer.log.read(ROOM) == []


async def test_a_deadline_before_its_time_is_early(writer: Writer) -> None:
    soon = await writer.log.now_ms() + 60_000
    assert await writer.append(not_before_ms=soon) is Answer.EARLY
    assert writer.reply.now_ms < soon


async def test_stamps_never_run_backwards(writer: Writer, redis: BatchingRedis) -> None:
    future = await writer.log.now_ms() + 1_000_000
    await store_entries(redis, ROOM, entry_text(1, "t0", future, "0sa"))
    assert await writer.append(expected=1, expected_tag="t0") is Answer.APPENDED
    assert (await writer.log.read(ROOM))[-1].at_ms == future


async def test_a_stamp_is_the_clock_of_redis_also_in_the_first_tenth_of_a_second(
    writer: Writer, redis: BatchingRedis
) -> None:
    """Redis tells microseconds without zeros before them."""
    owner = await owner_of(redis, keys.log(ROOM))

    async def is_first_tenth() -> bool:
        return (await owner.time())[1] < 90_000

    await until(is_first_tenth, "a second of Redis' clock begins")
    earliest_ms = await read_clock(owner)
    await writer.append()
    assert earliest_ms <= writer.reply.now_ms <= await read_clock(owner)


async def test_reading_starts_after_the_index(writer: Writer) -> None:
    await writer.append(events=(MOVE, Started()))
    assert [each.index for each in await writer.log.read(ROOM, after=1)] == [2]


@pytest.mark.parametrize("count", [4, 5], ids=("the last page is full", "the last page is not full"))
async def test_a_log_of_several_pages_is_read_whole(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(log_module, "ENTRIES_IN_PAGE", 2)
    await writer.append(events=(MOVE,) * count)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert [each.index for each in await writer.log.read(ROOM)] == list(range(1, count + 1))


@pytest.mark.parametrize(("entries", "commands"), [(2 * 256 - 1, 2), (2 * 256, 3)])
async def test_256_entries_of_a_log_are_read_with_one_command(
    writer: Writer, redis: BatchingRedis, entries: int, commands: int
) -> None:
    await writer.append_one_by_one(entries)
    owner = await owner_of(redis, keys.log(ROOM))

    async def reads() -> int:
        found = (await owner.info("commandstats")).get("cmdstat_lrange", {"calls": 0})
        return int(found["calls"])

    before = await reads()
    assert len(await writer.log.read(ROOM)) == entries
    assert await reads() - before == commands


@pytest.mark.parametrize("read", [Log.last_positions, Log.created_ms])
async def test_the_ends_of_25_logs_are_read_in_one_batch(
    writer: Writer, redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch, read: Callable[..., Awaitable[object]]
) -> None:
    sizes: list[int] = []
    make: Any = redis.pipeline

    def pipeline(*, transaction: bool) -> Any:
        made = make(transaction=transaction)
        execute = made.execute

        async def counted(**options: object) -> object:
            sizes.append(len(made))
            return await execute(**options)

        made.execute = counted
        return made

    monkeypatch.setattr(redis, "pipeline", pipeline)
    await read(writer.log, [f"room-{number}" for number in range(51)])
    assert sizes == [25, 25, 1]


async def test_a_room_is_due_when_its_time_has_come(writer: Writer) -> None:
    await writer.append(next_check_ms=1)
    assert await writer.log.due_rooms(overdue_ms=0) == [ROOM]


async def test_a_room_without_deadlines_is_never_due(writer: Writer) -> None:
    await writer.append(next_check_ms=1)
    await writer.append(expected=1, expected_tag="t1", tag="t2", next_check_ms=0)
    assert await writer.log.due_rooms(overdue_ms=0) == []


async def test_a_room_whose_check_is_postponed_is_due_when_that_time_has_passed(writer: Writer) -> None:
    await writer.append(next_check_ms=1)
    await writer.log.postpone(ROOM, 60)
    assert await writer.log.due_rooms(overdue_ms=0) == []
    assert await writer.log.due_rooms(overdue_ms=-61_000) == [ROOM]


async def test_postponing_the_check_of_a_room_without_deadlines_gives_it_none(writer: Writer) -> None:
    await writer.append()
    await writer.log.postpone(ROOM, 0)
    assert await writer.log.due_rooms(overdue_ms=-1_000) == []


async def test_a_room_that_is_removed_from_the_index_is_neither_due_nor_listed(
    writer: Writer, redis: BatchingRedis
) -> None:
    await writer.append(next_check_ms=1, listing=b"{}")
    await writer.log.unindex(ROOM)
    assert await writer.log.due_rooms(overdue_ms=0) == []
    assert await redis.hkeys(keys.lobby(keys.bucket(ROOM))) == []


async def test_a_room_that_has_a_next_check_is_indexed(writer: Writer) -> None:
    await writer.append(next_check_ms=2**40)
    assert await writer.log.indexed_rooms() == [ROOM]


async def test_a_room_was_created_when_its_first_entry_was_appended(writer: Writer, redis: BatchingRedis) -> None:
    await store_entries(redis, ROOM, entry_text(1, "t1", 1_000, "0sa"), entry_text(2, "t2", 2_000, "0sa"))
    others = [f"room-{number}" for number in range(30)]
    assert await writer.log.created_ms([*others, ROOM, "no-such-room"]) == [*[0] * 30, 1_000, 0]


async def test_a_closed_room_expires(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append(expire_seconds=60)
    assert 0 < await redis.ttl(keys.log(ROOM)) <= 60


async def test_the_log_of_an_open_room_stays(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append()
    assert await redis.ttl(keys.log(ROOM)) == -1


async def test_a_shared_append_is_published_with_its_entries(writer: Writer, redis: BatchingRedis) -> None:
    pubsub = (await owner_of(redis, keys.log(ROOM))).pubsub(ignore_subscribe_messages=True)
    await (pubsub.ssubscribe if await is_sharded(redis) else pubsub.subscribe)(keys.log(ROOM))
    await pubsub.get_message(timeout=1)
    await writer.append(events=(MOVE, Started()), own_subscriptions=0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (message := await pubsub.get_message(timeout=None)) is None:
            continue
    assert parse_wakeup(message["data"]) == LogSlice("", await writer.log.read(ROOM))
    await pubsub.aclose()  # type: ignore[no-untyped-call]


async def test_a_flushed_script_cache_costs_nothing(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append()
    for node in await nodes_of(redis):
        await node.script_flush()
    assert await writer.append(expected=1, expected_tag="t1", tag="t2") is Answer.APPENDED


async def test_one_broken_log_does_not_harm_the_others_of_its_batch(writer: Writer, redis: BatchingRedis) -> None:
    broken, sound = neighbours(ROOM, 2)
    await redis.set(keys.log(broken), "not a stream")
    answers = [begin_append(writer.log, Append(room, 0, "", "t1", (MOVE,))) for room in (broken, sound)]
    assert [reply.answer for reply in await asyncio.gather(*answers)] == [Answer.FAILED, Answer.APPENDED]


async def until_polled(writer: Recorded) -> None:
    async def is_polled() -> bool:
        return bool(writer.polled)

    await until(is_polled, "the writer is polled")


async def test_a_writer_builds_its_append_when_it_is_polled_and_not_before() -> None:
    """Until then a room takes requests, and decides all of them together."""
    polled: list[str] = []
    one, other = (Recorded(Append(room, 0, "", "t1", (MOVE,)), polled) for room in neighbours(ROOM, 2))
    with redis_process() as process:
        async with (
            faulty_link(process.socket) as link,
            make_client(link.url) as client,
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            log = Log(client)
            async with log.sending():
                await Writer(log).append()
                link.stall()
                log.enqueue(one)
                await until_polled(one)
                log.enqueue(other)
                await asyncio.sleep(0)
                assert polled == [one.code]
                link.flow()
                await other.answered
    assert polled == [one.code, other.code]


async def count_polled_in_one_turn(*writers: Recorded) -> int:
    """Return how many of these writers are polled while Redis has not replied to the first of them."""
    with redis_process() as process:
        async with (
            faulty_link(process.socket) as link,
            make_client(link.url) as client,
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            log = Log(client)
            async with log.sending():
                await Writer(log).append()
                link.stall()
                for each in writers:
                    log.enqueue(each)
                await until_polled(writers[0])
                polled = len(writers[0].polled)
                link.flow()
    return polled


async def test_a_batch_holds_no_more_than_fifty_appends() -> None:
    polled: list[str] = []
    writers = [Recorded(Append(f"room-{each}", 0, "", "t1", (MOVE,)), polled) for each in range(MAX_BATCH + 1)]
    assert await count_polled_in_one_turn(*writers) == 50


async def test_writers_that_have_nothing_to_append_count_in_a_batch() -> None:
    """Otherwise one turn of the event loop would poll all rooms of the process."""
    polled: list[str] = []
    appends = [Append(f"room-{each}", 0, "", "t1", (MOVE,)) for each in range(MAX_BATCH + 1)]
    writers = [Recorded(appends[0], polled), *(Idle(append, polled) for append in appends[1:])]
    assert await count_polled_in_one_turn(*writers) == MAX_BATCH


async def test_a_writer_behind_many_that_have_nothing_to_append_is_polled(writer: Writer) -> None:
    polled: list[str] = []
    appends = [Append(f"room-{each}", 0, "", "t1", (MOVE,)) for each in range(MAX_BATCH + 1)]
    *idle, last = *(Idle(append, polled) for append in appends[1:]), Recorded(appends[0], polled)
    for each in (*idle, last):
        writer.log.enqueue(each)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await last.answered).answer is Answer.APPENDED


async def test_a_batch_of_those_left_over_is_sent_before_the_results_of_the_last_one_are_handed_out(
    writer: Writer,
) -> None:
    """Redis executes it while the rooms handle their results."""
    polled: list[str] = []
    polled_at_results: list[int] = []

    class Counting(Recorded):
        def on_append_result(self, reply: Reply) -> None:
            polled_at_results.append(len(polled))
            super().on_append_result(reply)

    count = MAX_BATCH + 1
    writers = [Counting(Append(room, 0, "", "t1", (MOVE,)), polled) for room in neighbours(ROOM, count)]
    for each in writers:
        writer.log.enqueue(each)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(each.answered for each in writers))
    assert polled_at_results == [count] * count


async def test_a_move_after_a_pause_is_polled_in_the_next_turn_of_the_event_loop(writer: Writer) -> None:
    polled: list[str] = []
    alone = Recorded(Append(ROOM, 0, "", "t1", (MOVE,)), polled)
    writer.log.enqueue(alone)
    await asyncio.sleep(0)
    assert polled == [alone.code]
    await alone.answered


async def test_a_batch_waits_for_its_time_after_the_last_one(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(append_queue, "BATCH_SECONDS", 0.1)
    begin = time.perf_counter()
    await writer.append()
    await writer.append(expected=1, expected_tag="t1", tag="t2")
    # The event loop rounds a timer to milliseconds.
    assert time.perf_counter() - begin > 0.098


async def test_the_end_of_sending_does_not_wait_for_the_time_of_a_batch(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append_queue, "BATCH_SECONDS", 10 * PATIENCE_SECONDS)
    log = Log(redis)
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with log.sending():
            await Writer(log).append()
            answered = begin_append(log, Append(ROOM, 1, "t1", "t2", (MOVE,)))
            await asyncio.sleep(0)
        assert (await answered).answer is Answer.APPENDED


async def test_a_writer_enqueued_by_the_last_result_is_sent_before_sending_ends(redis: BatchingRedis) -> None:
    class Chained(Once):
        def on_append_result(self, reply: Reply) -> None:
            log.enqueue(last)
            super().on_append_result(reply)

    log = Log(redis)
    rooms = neighbours(ROOM, 2)
    first, last = Chained(Append(rooms[0], 0, "", "t1", (MOVE,))), Once(Append(rooms[1], 0, "", "t1", (MOVE,)))
    async with log.sending():
        log.enqueue(first)
    assert last.answered.done()


async def test_a_writer_that_is_enqueued_first_is_polled_before_those_that_wait(writer: Writer) -> None:
    polled: list[str] = []
    one, other = (Recorded(Append(room, 0, "", "t1", (MOVE,)), polled) for room in neighbours(ROOM, 2))
    writer.log.enqueue(one)
    writer.log.enqueue(other, is_first=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(one.answered, other.answered)
    assert polled == [other.code, one.code]


async def test_a_writer_that_raises_gets_failed_and_harms_no_other(writer: Writer) -> None:
    failing = FailsToBuild(Append(neighbours(ROOM, 1)[0], 0, "", "t1", (MOVE,)))
    writer.log.enqueue(failing)
    assert await writer.append() is Answer.APPENDED
    assert (await failing.answered).answer is Answer.FAILED


def test_an_unknown_answer_has_no_time() -> None:
    assert Reply(Answer.UNKNOWN).now_ms == 0


async def test_without_redis_the_answer_is_unknown() -> None:
    client = make_client("unix:///nowhere/redis.sock")
    log = Log(client)
    async with log.sending():
        assert await Writer(log).append() is Answer.UNKNOWN
    await client.aclose()


async def test_an_append_over_a_connection_that_was_cut_is_made_once(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append()
    await redis.client_kill_filter(_type="normal", skipme=True)
    assert await writer.append(1, "t1", "t2") is Answer.APPENDED
    assert [logged.index for logged in await writer.log.read(ROOM)] == [1, 2]


async def test_a_writer_that_is_enqueued_after_sending_has_ended_is_not_polled(redis: BatchingRedis) -> None:
    polled: list[str] = []
    log = Log(redis)
    async with log.sending():
        await Writer(log).append()
    log.enqueue(Recorded(Append(ROOM, 1, "t1", "t2", (MOVE,)), polled))
    # A writer is polled in the next turn of the loop.
    await asyncio.sleep(0)
    assert polled == []


async def test_an_append_whose_connection_broke_is_retried_as_often_as_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(append_queue, "BATCH_SECONDS", 0)
    with redis_process() as process:
        async with faulty_link(process.socket) as link:
            client = make_client(link.url)
            log = Log(client)
            async with log.sending():
                writer = Writer(log)
                await writer.append()
                opened = opened_connections(client, monkeypatch)
                link.stall()
                answered = begin_append(log, Append(ROOM, 1, "t1", "t2", (MOVE,)))
                await asyncio.sleep(0)
                link.is_closed = True
                link.reset()
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert (await answered).answer is Answer.UNKNOWN
            assert len(opened) == RETRIES
            await client.aclose()


async def test_waiting_appends_are_sent_before_sending_ends(redis: BatchingRedis) -> None:
    log = Log(redis)
    async with log.sending():
        answered = begin_append(log, Append(ROOM, 0, "", "t1", (MOVE,)))
    assert answered.result().answer is Answer.APPENDED


async def test_an_append_that_cannot_be_written_has_failed_and_the_next_one_is_made(writer: Writer) -> None:
    assert await writer.append(events=(object(),)) is Answer.FAILED
    assert await writer.append() is Answer.APPENDED


async def test_the_error_about_an_unreadable_entry_does_not_quote_it(writer: Writer, redis: BatchingRedis) -> None:
    """The error is logged, and the entry may hold a secret."""
    opened = {"type": "round_opened", "round": "aa", "secret": "5ec12e7" * 9, "signature": "5ec12e7"}
    await store_entries(redis, ROOM, entry_text(1, "t1", 1, json.dumps(opened)))
    with pytest.raises(ValueError, match="round_opened") as error:
        await writer.log.read(ROOM)
    assert "5ec12e7" not in str(error.value)


async def test_the_clock_of_a_log_is_that_of_redis(writer: Writer, redis: BatchingRedis) -> None:
    before_ms, now_ms, after_ms = await read_clock(redis), await writer.log.now_ms(), await read_clock(redis)
    assert before_ms <= now_ms <= after_ms


async def test_an_append_writes_and_removes_the_row_of_its_room(writer: Writer, redis: BatchingRedis) -> None:
    async def row() -> bytes | None:
        found: bytes | None = await cast("Any", redis.hget(keys.lobby(keys.bucket(ROOM)), ROOM))
        return found

    await writer.append(listing=b"a row")
    assert await row() == b"a row"
    await writer.append(expected=1, expected_tag="t1", tag="t2")
    assert await row() == b"a row"
    await writer.append(expected=2, expected_tag="t2", tag="t3", listing=b"")
    assert await row() is None


async def test_appends_and_their_batches_are_counted(writer: Writer) -> None:
    def sizes() -> float:
        (family,) = metrics.BATCHES.collect()
        return next(sample.value for sample in family.samples if sample.name.endswith("_sum"))

    before = sizes()
    rooms = neighbours(ROOM, 3)
    await asyncio.gather(*(begin_append(writer.log, Append(room, 0, "", "t1", (MOVE,))) for room in rooms))
    assert sizes() - before == 3


async def test_each_append_is_counted_under_its_answer(writer: Writer) -> None:
    def counted() -> dict[str, float]:
        (family,) = metrics.APPENDS.collect()
        samples = [each for each in family.samples if each.name.endswith("_total")]
        return {each.labels["answer"]: each.value for each in samples}

    before = counted()
    await writer.append()
    await writer.append(expected=5, expected_tag="t5", tag="t6")
    grown = {answer: value - before.get(answer, 0) for answer, value in counted().items()}
    assert {answer: by for answer, by in grown.items() if by} == {Answer.APPENDED: 1, Answer.CONFLICT: 1}


def faults(part: metrics.Part = metrics.Part.LOG) -> float:
    """Return the number of faults that were counted for this part of the server."""
    (family,) = metrics.FAULTS.collect()
    counted = [sample for sample in family.samples if sample.name.endswith("_total")]
    return sum(sample.value for sample in counted if sample.labels["where"] == part)


class FailsToBuild(Once):
    def build_append(self) -> Append:
        raise RuntimeError("we have a bug")


class FailsAtResult(Once):
    def on_append_result(self, reply: Reply) -> None:
        super().on_append_result(reply)
        raise RuntimeError("we have a bug")


@pytest.mark.parametrize("failing", [FailsToBuild, FailsAtResult])
async def test_a_writer_that_raises_is_counted_as_a_fault_of_a_room(writer: Writer, failing: type[Once]) -> None:
    before = faults(metrics.Part.ROOM)
    once = failing(Append(ROOM, 0, "", "t1", (MOVE,)))
    writer.log.enqueue(once)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await once.answered
    assert faults(metrics.Part.ROOM) - before == 1


async def test_an_append_that_is_not_shared_is_not_published() -> None:
    with redis_process() as process:
        async with make_client(process.url) as redis:
            log = Log(redis)
            async with log.sending():
                await Writer(log).append()
        assert b"publish" not in process.info("commandstats")


async def test_an_append_without_redis_is_tried_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    async with make_client("unix:///nowhere/redis.sock") as client:
        opened = opened_connections(client, monkeypatch)
        log = Log(client)
        async with log.sending():
            assert await Writer(log).append() is Answer.UNKNOWN
    assert len(opened) == 1 + RETRIES == 3


async def test_a_batch_that_cannot_be_packed_is_counted_as_a_fault_twice(redis_server: str) -> None:
    """Over the open connection, and when it is sent again."""
    async with make_client(redis_server) as redis:
        log = Log(redis)
        async with log.sending():
            writer = Writer(log)
            await writer.append()
            before = faults()
            assert await writer.append(1, "t1", not_before_ms=object()) is Answer.UNKNOWN
    assert faults() - before == 2


async def test_a_reply_whose_fields_are_of_other_types_is_counted_as_a_fault(redis_server: str) -> None:
    before = faults()
    async with make_client(redis_server) as redis:
        assert await reply_to_append(redis, [[b"late", None]]) == Reply(Answer.UNKNOWN)
    assert faults() - before == 1


async def test_the_time_of_an_append_is_measured_from_when_it_is_sent(writer: Writer) -> None:
    def seconds() -> float:
        (family,) = metrics.APPEND_SECONDS.collect()
        return next(sample.value for sample in family.samples if sample.name.endswith("_sum"))

    before, started = seconds(), time.perf_counter()
    await writer.append()
    assert 0 < seconds() - before <= time.perf_counter() - started


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param([[b"perhaps", b"1"]], id="an answer that is not one"),
        pytest.param([[b"late"]], id="no time"),
        pytest.param([[b"late", None]], id="a time that is none"),
        pytest.param(b"appended", id="a word that is not a stamp"),
        pytest.param(b"1 2", id="a stamp too many"),
        pytest.param([], id="no result"),
        pytest.param(1, id="a number"),
    ],
)
async def test_a_reply_that_append_lua_does_not_give_is_unknown(redis_server: str, reply: object) -> None:
    async with make_client(redis_server) as redis:
        assert await reply_to_append(redis, reply) == Reply(Answer.UNKNOWN)


async def reply_to_append(redis: BatchingRedis, reply: object) -> Reply:
    """Return the reply to an append to which Redis sends `reply`."""

    class Strange(BatchConnection):
        async def send(self, commands: Sequence[CommandWords], failures: int = 0) -> list[Any]:  # noqa: ARG002
            return [reply] * len(commands)

    queue = AppendQueue(redis, Strange(redis))
    once = Once(Append(ROOM, 0, "", "t1", (MOVE,)))
    queue.enqueue(once, is_first=False)
    async with asyncio.timeout(PATIENCE_SECONDS):
        found = await once.answered
    await queue.close()
    return found


async def test_a_queue_that_becomes_idle_reports_no_fault_to_the_event_loop(redis: BatchingRedis) -> None:
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    log = Log(redis)
    async with log.sending():
        await Writer(log).append()
        await asyncio.sleep(0)
    assert faults == []


async def test_a_writer_that_is_enqueued_while_sending_ends_reports_no_fault_to_the_event_loop(
    redis: BatchingRedis,
) -> None:
    faults: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context))
    room, other = neighbours(ROOM, 2)
    log = Log(redis)

    class Last(Once):
        def on_append_result(self, reply: Reply) -> None:
            super().on_append_result(reply)
            loop.call_soon(log.enqueue, Idle(Append(other, 0, "", "t1", (MOVE,)), []))

    async with log.sending():
        log.enqueue(Last(Append(room, 0, "", "t1", (MOVE,))))
    await asyncio.sleep(0)
    assert faults == []


async def test_a_room_exists_once_its_log_has_an_entry(writer: Writer) -> None:
    assert not await writer.log.exists(ROOM)
    await writer.append()
    assert await writer.log.exists(ROOM)


async def test_the_last_position_of_a_log_without_entries_is_zero_without_a_tag(writer: Writer) -> None:
    assert await writer.log.last_positions([ROOM]) == [(0, "")]


async def test_an_append_over_an_open_connection_sends_nothing_that_redis_refuses(
    writer: Writer, redis: BatchingRedis
) -> None:
    await writer.append()
    owner = await owner_of(redis, keys.log(ROOM))
    before = await owner.info("errorstats")
    await writer.append(1, "t1", "t2")
    assert await owner.info("errorstats") == before


async def test_a_hundred_due_rooms_of_a_bucket_are_returned_at_once(writer: Writer, redis: BatchingRedis) -> None:
    await redis.zadd(keys.deadlines(0), {f"room-{number}": 1 for number in range(101)})
    assert len(await writer.log.due_rooms(overdue_ms=0)) == 100


async def test_every_room_of_a_bucket_is_listed(writer: Writer, redis: BatchingRedis) -> None:
    await redis.zadd(keys.deadlines(0), {"one": 1, "two": 2, "three": 3})
    assert await writer.log.indexed_rooms() == ["one", "two", "three"]


async def test_64_entries_are_kept_before_a_checkpoint(writer: Writer) -> None:
    await writer.append_one_by_one(70)
    checkpoint = any_checkpoint()
    assert await writer.log.cut(ROOM, (await writer.log.read(ROOM))[-1], "cut", checkpoint) is not None
    assert [each.index for each in await writer.log.read(ROOM)] == list(range(71 - 64, 72))


async def test_a_room_whose_log_was_cut_was_created_when_its_checkpoint_says(writer: Writer) -> None:
    await writer.append_one_by_one(70)
    checkpoint = any_checkpoint()
    await writer.log.cut(ROOM, (await writer.log.read(ROOM))[-1], "cut", checkpoint)
    assert await writer.log.created_ms([ROOM]) == [checkpoint.created_ms]


async def test_the_append_that_holds_the_first_kept_entry_is_kept_whole(writer: Writer) -> None:
    await writer.append(events=(MOVE,) * 70)
    await writer.log.cut(ROOM, (await writer.log.read(ROOM))[-1], "cut", any_checkpoint())
    assert [each.index for each in await writer.log.read(ROOM)] == list(range(1, 72))


async def test_a_log_that_has_moved_on_is_not_cut(writer: Writer) -> None:
    await writer.append(events=(MOVE, MOVE))
    checkpoint = any_checkpoint()
    assert await writer.log.cut(ROOM, (await writer.log.read(ROOM))[0], "t2", checkpoint) is None


async def test_the_check_of_a_room_is_postponed_to_the_second(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append(next_check_ms=1)
    before_ms = await read_clock(redis)
    await writer.log.postpone(ROOM, 600)
    after_ms = await read_clock(redis)
    check_ms = await redis.zscore(keys.deadlines(keys.bucket(ROOM)), ROOM)
    assert check_ms is not None and before_ms + 600_000 <= check_ms <= after_ms + 600_000


async def test_a_log_that_is_no_list_counts_as_lost_and_leaves_the_others_their_positions(
    writer: Writer, redis: BatchingRedis
) -> None:
    await writer.append()
    await redis.set(keys.log("broken-room"), "not a list")
    assert await writer.log.last_positions(["broken-room", ROOM]) == [(0, ""), (1, "t1")]


async def test_rooms_are_due_beside_a_bucket_that_cannot_be_read(writer: Writer, redis: BatchingRedis) -> None:
    await writer.append(next_check_ms=1)
    await redis.set(keys.deadlines((keys.bucket(ROOM) + 1) % keys.BUCKETS), "not a sorted set")
    assert await writer.log.due_rooms(overdue_ms=0) == [ROOM]


async def test_writers_are_polled_in_the_order_in_which_they_are_enqueued(writer: Writer) -> None:
    polled: list[str] = []
    writers = [Recorded(Append(room, 0, "", "t1", (MOVE,)), polled) for room in neighbours(ROOM, 3)]
    for each in writers:
        writer.log.enqueue(each)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(each.answered for each in writers))
    assert polled == [each.code for each in writers]


def test_an_append_without_more_words_has_no_deadline_and_is_not_shared() -> None:
    plain = Append(ROOM, 0, "", "t1", (MOVE,))
    assert plain == Append(ROOM, 0, "", "t1", (MOVE,), 0, 0, None, 0, None, None, ())


def test_an_answer_is_the_word_of_the_script_and_the_label_of_the_metric() -> None:
    assert [*Answer] == ["appended", "conflict", "early", "late", "failed", "unknown"]


def test_every_answer_is_counted_from_the_start() -> None:
    (family,) = metrics.APPENDS.collect()
    assert {each.labels["answer"] for each in family.samples} >= set(Answer)
