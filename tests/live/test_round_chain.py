"""The chain of rounds of one process on a real Redis: who extends it, what is kept, and what other processes see."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from fairest_protocol.calculation.seal import NO_ROUNDS, chain_round_line
from fairest_protocol.messages.rounds import PAGE_LINES, RoundsPage
from fairest_server.live.round_chain import RoundChain
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.rounds import RoundStore
from tests.support.races import KEY
from tests.support.single_and_cluster import redis_url

__all__ = ["redis_url"]

Add = Callable[[int], Awaitable[None]]


def make_chain(redis: BatchingRedis, process_id: str = "one", kept: int = 100_000) -> RoundChain:
    return RoundChain(RoundStore(redis, process_id), KEY.sign_head, kept)


def opening(number: int) -> str:
    return json.dumps({"type": "opened", "commitment": f"{number:064x}", "rules": "classic 4 0"})


async def put(redis: BatchingRedis, *numbers: int) -> None:
    """Put openings into the outboxes, as append.lua does."""
    for number in numbers:
        await redis.xadd(keys.round_outbox(number % keys.BUCKETS), {"e": opening(number)})


async def lines(chain: RoundChain) -> list[str]:
    """Return all lines on the pages that are kept."""
    found: list[str] = []
    head = chain.head
    assert head is not None
    for number in range(chain.first_page, -(-head.number // PAGE_LINES)):
        body = await chain.page(number)
        assert body is not None
        found += RoundsPage.model_validate_json(body).lines
    return found


async def test_a_chain_without_entries_has_a_head_of_number_0(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await chain.advance()
    assert chain.head is not None
    assert (chain.head.number, chain.head.chain) == (0, NO_ROUNDS)


async def test_before_it_was_read_there_is_no_head(redis: BatchingRedis) -> None:
    assert make_chain(redis).head is None


async def test_a_head_that_was_not_read_for_a_minute_is_not_shown(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = make_chain(redis)
    await chain.advance()
    monkeypatch.setattr("fairest_server.live.round_chain.MERGE_SECONDS", -1)
    assert chain.head is None


async def test_each_entry_is_hashed_with_the_one_before(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await put(redis, 1, 2, 3)
    await chain.advance()
    value = NO_ROUNDS
    for line in await lines(chain):
        value = chain_round_line(value, line)
    assert chain.head is not None
    assert (chain.head.number, chain.head.chain) == (3, value)


async def test_entries_stay_in_the_outbox_for_a_while_and_are_not_moved_twice(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await put(redis, 1, 17)
    for _ in range(3):
        await chain.advance()
    assert await redis.xlen(keys.round_outbox(1)) == 2
    assert len(await lines(chain)) == 2


async def test_another_process_goes_on_where_the_writer_stopped(redis: BatchingRedis) -> None:
    """The second process becomes the writer when the first has not said for three seconds that it is."""
    one, two = make_chain(redis, "one"), make_chain(redis, "two")
    await put(redis, 1)
    await one.advance()
    await put(redis, 2)
    await two.advance()
    assert len(await lines(two)) == 1
    await redis.delete(keys.ROUND_WRITER)
    await two.advance()
    assert len(await lines(two)) == 2


async def test_processes_that_all_take_themselves_for_the_writer_write_each_entry_once(redis: BatchingRedis) -> None:
    chains = [make_chain(redis, "same") for _ in range(8)]
    for round_ in range(5):
        await put(redis, *range(round_ * 20, round_ * 20 + 20))
        await asyncio.gather(*(chain.advance() for chain in chains))
    for chain in chains:
        await chain.advance()
    commitments = [json.loads(line)["commitment"] for line in await lines(chains[0])]
    assert sorted(commitments) == [f"{number:064x}" for number in range(100)]
    assert len({(chain.head.number, chain.head.chain) for chain in chains if chain.head}) == 1


async def test_an_outbox_that_is_longer_than_one_read_is_emptied_at_once(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await put(redis, *range(0, 1200 * keys.BUCKETS, keys.BUCKETS))
    await chain.advance()
    assert len(await lines(chain)) == 1200


async def test_old_pages_are_dropped_and_the_rest_still_follows_from_one_hash(redis: BatchingRedis) -> None:
    chain = make_chain(redis, kept=500)
    for first in range(0, 1200, 100):
        await put(redis, *range(first, first + 100))
        await chain.advance()
    # The entry before the first page stays, since that page is chained to it.
    assert await redis.xlen(keys.ROUND_CHAIN) == 1200 - 500 + 1
    await chain.advance()
    assert chain.first_page == 2
    assert await chain.page(1) is None
    page = RoundsPage.model_validate_json(await chain.page(2) or b"")
    value = page.before
    for line in await lines(chain):
        value = chain_round_line(value, line)
    assert chain.head is not None
    assert value == chain.head.chain


async def test_entries_are_removed_from_the_outbox_when_the_chain_has_had_them_for_a_while(
    redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairest_server.live.round_chain.KEPT_IN_OUTBOX_MS", 0)
    monkeypatch.setattr("fairest_server.live.round_chain.FULL_READ_MS", 0)
    chain = make_chain(redis)
    await put(redis, 1)
    await chain.advance()
    await chain.advance()
    assert await redis.xlen(keys.round_outbox(1)) == 0
    await chain.advance()
    assert not await redis.exists(keys.CHAINED_ROUNDS)
    await put(redis, 2)
    await chain.advance()
    assert len(await lines(chain)) == 2


async def test_two_processes_that_knew_a_lost_end_declare_it_once(redis: BatchingRedis) -> None:
    one, two = make_chain(redis, "one"), make_chain(redis, "two")
    await put(redis, 1, 2)
    await one.advance()
    await two.advance()
    await redis.delete(keys.ROUND_CHAIN)
    for chain in (one, two, one, two):
        await chain.advance()
    found = [json.loads(line) for line in await lines(one)]
    assert [entry.get("lost_number") for entry in found] == [2]


async def test_a_second_loss_is_declared_too(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await put(redis, 1, 2, 3)
    await chain.advance()
    for _ in range(2):
        await redis.delete(keys.ROUND_CHAIN)
        await chain.advance()
        await chain.advance()
    found = [json.loads(line) for line in await lines(chain)]
    assert [entry["lost_number"] for entry in found] == [1]


async def test_a_page_behind_the_head_is_not_there(redis: BatchingRedis) -> None:
    chain = make_chain(redis)
    await put(redis, 1)
    await chain.advance()
    assert await chain.page(1) is None


async def test_a_page_holds_no_entry_behind_the_head_that_was_shown(redis: BatchingRedis) -> None:
    one, two = make_chain(redis, "one"), make_chain(redis, "two")
    await put(redis, 1)
    await one.advance()
    await two.advance()
    await put(redis, 2)
    await one.advance()
    assert len(await lines(two)) == 1
