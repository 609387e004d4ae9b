"""Appends of one batch share scripts, and none of them can tell."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.value import replace
from fairest_server.room.events import Played
from fairest_server.room.steps import LogSlice
from fairest_server.store import keys
from fairest_server.store.append_queue import MAX_BATCH
from fairest_server.store.appends import MAX_TOGETHER, Answer, Append, Reply
from fairest_server.store.log import Log
from fairest_server.store.log_entries import parse_wakeup
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.cluster_client import is_sharded, owner_of
from tests.support.appending import append_once, begin_append
from tests.support.processes import redis_process
from tests.support.waiting import PATIENCE_SECONDS

FIRST = "quiet-amber-otter"
MOVE = Played(seat=1, move=MOVES["b4"])


def rooms(count: int) -> list[str]:
    """Return rooms of one bucket, since on a Cluster only those share batches."""
    others = (f"room-{number}" for number in itertools.count())
    return list(itertools.islice((each for each in others if keys.bucket(each) == keys.bucket(FIRST)), count))


def first_appends(count: int) -> list[Append]:
    """Return the first append of each of so many rooms."""
    return [Append(room, 0, "", "t1", (MOVE,)) for room in rooms(count)]


async def append_together(log: Log, appends: Sequence[Append]) -> list[Reply]:
    """Make these appends in one batch, and return the replies."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await asyncio.gather(*(begin_append(log, append) for append in appends))


def answers(replies: Sequence[Reply]) -> list[Answer]:
    """Return the answers of these replies."""
    return [reply.answer for reply in replies]


@pytest.fixture
async def log(redis: BatchingRedis) -> AsyncIterator[Log]:
    """Yield a log over an open connection to a Redis that knows the script; otherwise each append has its own."""
    log = Log(redis)
    async with log.sending():
        await append_once(log, Append(FIRST, 0, "", "t1", (MOVE,)))
        yield log


async def count_scripts(appends: Sequence[Append]) -> int:
    """Return the number of scripts that make these appends in one batch."""

    async def scripts(client: BatchingRedis) -> int:
        return int((await client.info("commandstats"))["cmdstat_evalsha"]["calls"])

    with redis_process() as process:
        async with make_client(process.url) as client:
            log = Log(client)
            async with log.sending():
                await append_once(log, Append(FIRST, 0, "", "t1", (MOVE,)))
                before = await scripts(client)
                await append_together(log, appends)
                return await scripts(client) - before


async def test_up_to_25_appends_share_a_script() -> None:
    assert await count_scripts(first_appends(MAX_BATCH)) == MAX_BATCH / 25


async def test_up_to_25_appends_that_other_processes_may_wait_for_share_a_script() -> None:
    shared = [replace(append, own_subscriptions=0) for append in first_appends(MAX_BATCH)]
    assert await count_scripts(shared) == MAX_BATCH / 25


async def test_each_of_many_appends_is_in_its_own_log(log: Log) -> None:
    appends = first_appends(2 * MAX_TOGETHER + 1)
    assert set(answers(await append_together(log, appends))) == {Answer.APPENDED}
    assert [len(await log.read(append.room)) for append in appends] == [1] * len(appends)


async def test_appends_of_several_events_keep_their_order(log: Log) -> None:
    moves = [Played(seat=0, move=MOVES[text]) for text in ("sa", "sb", "sc")]
    appends = [Append(room, 0, "", "t1", moves[: 1 + place]) for place, room in enumerate(rooms(3))]
    await append_together(log, appends)
    logged = [[entry.event for entry in await log.read(append.room)] for append in appends]
    assert logged == [moves[:1], moves[:2], moves]


async def test_an_append_that_is_refused_leaves_the_others_of_its_script_as_they_are(log: Log) -> None:
    sound, conflict, late, early, last = rooms(5)
    appends = [
        Append(sound, 0, "", "t1", (MOVE,)),
        Append(conflict, 5, "t0", "t1", (MOVE,)),
        Append(late, 0, "", "t1", (MOVE,), not_after_ms=1),
        Append(early, 0, "", "t1", (MOVE,), not_before_ms=1 << 50),
        Append(last, 0, "", "t1", (MOVE,)),
    ]
    replies = await append_together(log, appends)
    assert answers(replies) == [Answer.APPENDED, Answer.CONFLICT, Answer.LATE, Answer.EARLY, Answer.APPENDED]


async def test_a_script_that_fails_half_way_makes_no_append_twice(log: Log, redis: BatchingRedis) -> None:
    before, broken, behind = rooms(3)
    await redis.set(keys.log(broken), "not a list")
    appends = [Append(room, 0, "", "t1", (MOVE,)) for room in (before, broken, behind)]
    replies = await append_together(log, appends)
    assert answers(replies) == [Answer.APPENDED, Answer.FAILED, Answer.APPENDED]
    assert [len(await log.read(room)) for room in (before, behind)] == [1, 1]


async def test_a_row_of_the_lobby_among_moves_is_that_of_its_room(log: Log, redis: BatchingRedis) -> None:
    one, listed, other = rooms(3)
    appends = [
        Append(one, 0, "", "t1", (MOVE,)),
        Append(listed, 0, "", "t1", (MOVE,), next_check_ms=7, listing=b"a row"),
        Append(other, 0, "", "t1", (MOVE,)),
    ]
    await append_together(log, appends)
    assert await cast("Any", redis.hgetall(keys.lobby(keys.bucket(FIRST)))) == {listed.encode(): b"a row"}


async def test_a_next_check_among_moves_is_that_of_its_room(log: Log) -> None:
    one, due, other = rooms(3)
    appends = [
        Append(one, 0, "", "t1", (MOVE,)),
        Append(due, 0, "", "t1", (MOVE,), next_check_ms=7),
        Append(other, 0, "", "t1", (MOVE,)),
    ]
    await append_together(log, appends)
    assert await log.due_rooms(overdue_ms=0) == [due]


@asynccontextmanager
async def subscribed(redis: BatchingRedis, rooms: Sequence[str]) -> AsyncIterator[Callable[[], Awaitable[LogSlice]]]:
    """Subscribe to the wake-ups of these rooms; yield a function that waits for the next one."""
    pubsub = (await owner_of(redis, keys.log(rooms[0]))).pubsub(ignore_subscribe_messages=True)
    subscribe = pubsub.ssubscribe if await is_sharded(redis) else pubsub.subscribe
    await subscribe(*map(keys.log, rooms))
    for _ in rooms:
        await pubsub.get_message(timeout=1)

    async def receive() -> LogSlice:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (message := await pubsub.get_message(timeout=None)) is None:
                continue
        return parse_wakeup(message["data"])

    yield receive
    await pubsub.aclose()  # type: ignore[no-untyped-call]


async def test_a_shared_append_among_moves_is_published_alone(log: Log, redis: BatchingRedis) -> None:
    one, shared, other = rooms(3)
    appends = [
        Append(one, 0, "", "t1", (MOVE,)),
        Append(shared, 0, "", "t2", (MOVE, MOVE), own_subscriptions=0),
        Append(other, 0, "", "t3", (MOVE,)),
    ]
    async with subscribed(redis, (one, shared, other)) as receive:
        await append_together(log, appends)
        await append_once(log, Append(other, 1, "t3", "t4", (MOVE,), own_subscriptions=0))
        assert [await receive(), await receive()] == [
            LogSlice("", await log.read(shared)),
            LogSlice("t3", await log.read(other, after=1)),
        ]


async def test_each_of_several_shared_appends_is_published(log: Log, redis: BatchingRedis) -> None:
    several = rooms(3)
    appends = [Append(room, 0, "", f"t{room}", (MOVE,), own_subscriptions=0) for room in several]
    async with subscribed(redis, several) as receive:
        await append_together(log, appends)
        assert [await receive() for _ in several] == [LogSlice("", await log.read(room)) for room in several]


async def test_an_append_that_only_its_sender_would_hear_is_not_published_with_those_of_its_batch(
    log: Log, redis: BatchingRedis
) -> None:
    one, own, other = rooms(3)
    appends = [Append(room, 0, "", "t1", (MOVE,), own_subscriptions=int(room == own)) for room in (one, own, other)]
    async with subscribed(redis, (one, own, other)) as receive:
        await append_together(log, appends)
        assert [await receive(), await receive()] == [LogSlice("", await log.read(room)) for room in (one, other)]


async def test_a_shared_append_with_a_row_of_the_lobby_is_published(log: Log, redis: BatchingRedis) -> None:
    one, listed, other = rooms(3)
    appends = [Append(room, 0, "", "t1", (MOVE,), own_subscriptions=0) for room in (one, listed, other)]
    appends[1] = replace(appends[1], next_check_ms=7, listing=b"a row")
    async with subscribed(redis, [listed]) as receive:
        await append_together(log, appends)
        assert await receive() == LogSlice("", await log.read(listed))
    assert await cast("Any", redis.hgetall(keys.lobby(keys.bucket(FIRST)))) == {listed.encode(): b"a row"}
