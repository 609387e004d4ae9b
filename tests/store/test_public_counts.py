"""The counts that everybody may know of a room: when they are written, and how those of processes are added up."""

import json

import pytest

from fairest_server.store import keys, public_counts
from fairest_server.store.public_counts import (
    PublicCounts,
    PublicCountStore,
    add_up,
    parse_counts,
    read_counts,
)
from fairest_server.store.redis.batching_client import BatchingRedis


async def test_counts_that_change_nothing_are_not_written_again(redis: BatchingRedis) -> None:
    store = PublicCountStore(redis, "0000aaaa")
    await store.write({"a-b": PublicCounts(1)})
    await redis.delete(keys.public_counts("0000aaaa"))
    await store.write({"a-b": PublicCounts(1)})
    assert await redis.exists(keys.public_counts("0000aaaa")) == 0


async def test_counts_that_stay_the_same_are_written_again_before_they_expire(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PublicCountStore(redis, "0000aaaa")
    await store.write({"a-b": PublicCounts(1)})
    await redis.delete(keys.public_counts("0000aaaa"))
    monkeypatch.setattr(public_counts, "REWRITE_SECONDS", 0.0)
    await store.write({"a-b": PublicCounts(1)})
    assert await redis.exists(keys.public_counts("0000aaaa")) == 1


async def test_the_counts_of_a_process_without_any_are_removed(redis: BatchingRedis) -> None:
    store = PublicCountStore(redis, "0000aaaa")
    await store.write({"a-b": PublicCounts(1)})
    await store.write({})
    assert await redis.exists(keys.public_counts("0000aaaa")) == 0


async def test_counts_expire_with_their_process(redis: BatchingRedis) -> None:
    await PublicCountStore(redis, "0000aaaa").write({"a-b": PublicCounts(1)})
    assert 0 < await redis.ttl(keys.public_counts("0000aaaa")) <= keys.PUBLIC_COUNTS_SECONDS


async def test_no_process_has_no_counts(redis: BatchingRedis) -> None:
    assert await read_counts(redis) == {}


def test_spectators_are_added_up_and_of_two_ticks_the_newer_one_counts() -> None:
    one, other = PublicCounts(2, (4, 7)), PublicCounts(3, (5, 7))
    assert add_up([{"a-b": one}, {"a-b": other, "c-d": other}]) == {"a-b": PublicCounts(5, (5, 7)), "c-d": other}


@pytest.mark.parametrize("text", ["", "[]", "7", '{"a-b":1}', '{"a-b":[]}', '{"a-b":["x",null]}', '{"a-b":[1,[2]]}'])
def test_counts_that_another_version_wrote_are_left_out(text: str) -> None:
    assert parse_counts(text.encode()) == {}


def test_counts_are_read_as_they_were_written() -> None:
    assert parse_counts(json.dumps({"a-b": (3, (1, 2))}).encode()) == {"a-b": PublicCounts(3, (1, 2))}
