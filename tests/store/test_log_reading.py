"""A log is read from any index, in as few commands as it can be, and whole also while it changes."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fairest_server.store import keys
from fairest_server.store import log as log_module
from fairest_server.store.log import NEWEST_ENTRIES, Log
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.cluster_client import owner_of
from tests.support.stored_logs import any_checkpoint, entry_text, store_entries

ROOM = "quiet-amber-otter"


async def store_moves(redis: BatchingRedis, count: int, first: int = 1, tag: str = "t") -> None:
    """Add entries of one move each, the first of them with the index `first`."""
    numbers = range(first, first + count)
    await store_entries(redis, ROOM, *(entry_text(number, f"{tag}{number}", number, "0sa") for number in numbers))


async def reads(redis: BatchingRedis) -> int:
    """Return how often entries of a log were read."""
    found = (await (await owner_of(redis, keys.log(ROOM))).info("commandstats")).get("cmdstat_lrange", {"calls": 0})
    return int(found["calls"])


async def count_reads(redis: BatchingRedis, awaited: Awaitable[object]) -> int:
    """Return how often entries of a log are read by what is awaited."""
    before = await reads(redis)
    await awaited
    return await reads(redis) - before


def after_first_read(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch, change: Callable[[], Awaitable[object]]
) -> None:
    """Make pages of two entries, and change the log once the first one was read."""
    execute: Any = redis.execute_command
    pages = 0

    async def execute_command(*words: Any, **options: Any) -> Any:
        nonlocal pages
        found = await execute(*words, **options)
        if words[0] == "LRANGE":
            pages += 1
            if pages == 1:
                await change()
        return found

    monkeypatch.setattr(log_module, "ENTRIES_IN_PAGE", 2)
    monkeypatch.setattr(redis, "execute_command", execute_command)


@pytest.mark.parametrize("missed", [0, 1, NEWEST_ENTRIES])
async def test_a_reader_that_missed_few_entries_reads_them_with_one_command(redis: BatchingRedis, missed: int) -> None:
    await store_moves(redis, 50)
    assert await count_reads(redis, Log(redis).read(ROOM, 50 - missed)) == 1


@pytest.mark.parametrize("missed", [0, 1, NEWEST_ENTRIES, NEWEST_ENTRIES + 1, 49])
async def test_a_reader_gets_what_it_missed(redis: BatchingRedis, missed: int) -> None:
    await store_moves(redis, 50)
    found = await Log(redis).read(ROOM, 50 - missed)
    assert [each.index for each in found] == list(range(51 - missed, 51))


async def test_a_reader_of_a_log_that_was_cut_behind_its_index_gets_all_of_it(redis: BatchingRedis) -> None:
    await store_moves(redis, 10, first=41)
    assert [each.index for each in await Log(redis).read(ROOM, 20)] == list(range(41, 51))


async def test_a_log_of_few_entries_is_read_with_one_command_wherever_it_begins(redis: BatchingRedis) -> None:
    await store_moves(redis, 10, first=41)
    assert await count_reads(redis, Log(redis).read(ROOM, 20)) == 1


async def test_a_reader_of_a_log_that_is_gone_gets_nothing(redis: BatchingRedis) -> None:
    assert await Log(redis).read(ROOM, 20) == []


async def test_a_log_that_is_cut_while_it_is_read_is_read_from_its_new_beginning(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store_moves(redis, 70)
    log = Log(redis)
    end = (await log.read(ROOM))[-1]
    after_first_read(redis, monkeypatch, lambda: log.cut(ROOM, end, "cut", any_checkpoint()))
    assert [each.index for each in await log.read(ROOM)] == list(range(7, 72))


async def test_a_log_that_lost_its_tail_while_it_is_read_is_read_as_it_is_then(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose_tail() -> None:
        await redis.delete(keys.log(ROOM))
        await store_moves(redis, 3, tag="u")

    await store_moves(redis, 5)
    after_first_read(redis, monkeypatch, lose_tail)
    assert [each.tag for each in await Log(redis).read(ROOM)] == ["u1", "u2", "u3"]


async def test_a_log_that_goes_while_it_is_read_has_no_entries(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store_moves(redis, 5)
    after_first_read(redis, monkeypatch, lambda: redis.delete(keys.log(ROOM)))
    assert await Log(redis).read(ROOM) == []


async def test_a_log_that_was_not_cut_is_not_read_to_learn_when_its_room_was_created(redis: BatchingRedis) -> None:
    await store_moves(redis, 5)
    assert await count_reads(redis, Log(redis).created_ms([ROOM])) == 0
