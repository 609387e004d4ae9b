"""Daily deals in Redis: each step happens once, whoever tries it and how often."""

import asyncio

import pytest

from fairest_protocol.calculation.daily import AttemptScore, day_of, next_day
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.timed_moves import TimedMove
from fairest_protocol.value import replace
from fairest_server.daily.attempt import Attempt, Gap
from fairest_server.live.daily_deals import end_entry, opening_entry
from fairest_server.store import daily_keys, keys
from fairest_server.store.daily import Added, DailyDeal, DailyName, DailyStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from tests.support.daily import BEACON, LONG_AGO, SECRET, deal, deal_a_day, store_attempt

FAR_MS = 10**15
NOTHING = AttemptScore(won=False, placed=4, direct=0, time_ms=0)


async def begin(redis: BatchingRedis, name: DailyName, player: str = "p1", address: str = "here") -> Attempt:
    begun = await DailyStore(redis).begin(name, player, "ann", "ab" * 16, address, FAR_MS)
    assert isinstance(begun, Attempt)
    return begun


async def add(
    redis: BatchingRedis, name: DailyName, attempt: Attempt, move: str, *, ends: bool = False, until_ms: int = FAR_MS
) -> Added:
    made = MOVES[move] if move else None
    score = NOTHING if ends or not move else None
    added, _ = await DailyStore(redis).add(name, attempt, made, 0, until_ms, FAR_MS, score)
    return added


async def test_the_first_secret_of_a_deal_stays(redis: BatchingRedis) -> None:
    store, name = DailyStore(redis), LONG_AGO
    assert await store.announce(name, SECRET, opening_entry(name, SECRET))
    assert not await store.announce(name, bytes(32), opening_entry(name, bytes(32)))
    assert await store.find(name) == DailyDeal(name, SECRET)


async def test_an_announced_deal_has_one_entry_for_the_chain_of_rounds(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await DailyStore(redis).announce(LONG_AGO, SECRET, opening_entry(LONG_AGO, SECRET))
    assert await redis.xlen(keys.round_outbox(daily_keys.BUCKET)) == 1


async def test_the_first_beacon_of_a_deal_stays(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await DailyStore(redis).keep_beacon(LONG_AGO, 9, bytes(32))
    assert await DailyStore(redis).find(LONG_AGO) == DailyDeal(LONG_AGO, SECRET, 1, BEACON)


async def test_a_deal_by_drand_keeps_its_drand_round(redis: BatchingRedis) -> None:
    store, value = DailyStore(redis), bytes([1]) * 32
    await store.announce(LONG_AGO, SECRET, opening_entry(LONG_AGO, SECRET, is_drand=True), is_drand=True)
    assert await store.find(LONG_AGO) == DailyDeal(LONG_AGO, SECRET, is_drand=True)
    await store.keep_beacon(LONG_AGO, 9, value, bytes(48))
    await store.keep_beacon(LONG_AGO, 10, value, bytes(48))
    assert await store.find(LONG_AGO) == DailyDeal(LONG_AGO, SECRET, 9, value, is_drand=True, drand=bytes(48))


async def test_a_deal_by_drand_takes_no_entry_that_an_older_process_keeps_as_its_beacon(redis: BatchingRedis) -> None:
    name, store = DailyName(next_day(day_of(await read_clock(redis))), "classic"), DailyStore(redis)
    await store.announce(name, SECRET, opening_entry(name, SECRET, is_drand=True), is_drand=True)
    await store.keep_beacon(name, 9, bytes(32))
    assert await store.find(name) == DailyDeal(name, SECRET, is_drand=True)
    assert await store.begin(name, "p1", "ann", "ab" * 16, "here", 10**15) is None
    await store.keep_beacon(name, 9, bytes(32), bytes(48))
    assert await store.begin(name, "p1", "ann", "ab" * 16, "here", 10**15) is not None


async def test_no_attempt_is_begun_before_the_beacon_is_known(redis: BatchingRedis) -> None:
    name = DailyName("2999-01-01", "classic")
    await DailyStore(redis).announce(name, SECRET, opening_entry(name, SECRET))
    assert await DailyStore(redis).begin(name, "p1", "ann", "ab" * 16, "here", FAR_MS) is None


async def test_no_attempt_is_begun_once_the_day_is_over(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    assert await DailyStore(redis).begin(LONG_AGO, "p1", "ann", "ab" * 16, "here", FAR_MS) is None


async def test_a_player_has_one_attempt_however_many_processes_begin_it(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    stores = [DailyStore(redis) for _ in range(20)]
    begun = await asyncio.gather(
        *(store.begin(name, "p1", "ann", f"{number:032x}", "here", FAR_MS) for number, store in enumerate(stores))
    )
    assert len({attempt.attempt_id for attempt in begun if isinstance(attempt, Attempt)}) == 1
    assert await stores[0].counts(name) == (1, 0)


async def test_a_move_is_added_once_however_often_it_is_sent(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    attempt = await begin(redis, name)
    assert [await add(redis, name, attempt, "sa") for _ in range(3)] == [Added.MADE] * 3
    found = await DailyStore(redis).attempt(name, "p1")
    assert found is not None and [timed.move.text for timed in found.moves] == ["sa"]


async def test_of_two_moves_under_one_number_the_first_one_counts(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    attempt = await begin(redis, name)
    assert await add(redis, name, attempt, "sa") is Added.MADE
    assert await add(redis, name, attempt, "sb") is Added.CONFLICT


async def test_an_attempt_that_ends_is_in_the_table_at_once_and_takes_no_move(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    attempt = await begin(redis, name)
    assert await add(redis, name, attempt, "stop", ends=True) is Added.MADE
    assert await store.counts(name) == (1, 1)
    assert await store.running(name, FAR_MS) == []
    longer = replace(attempt, moves=(TimedMove(1, MOVES["stop"]),))
    assert await add(redis, name, longer, "sa") is Added.ENDED


async def test_the_last_move_sent_again_is_answered_as_before(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    attempt = await begin(redis, name)
    assert [await add(redis, name, attempt, "stop", ends=True) for _ in range(2)] == [Added.MADE] * 2
    assert await DailyStore(redis).counts(name) == (1, 1)


async def test_a_move_behind_the_limit_is_late_and_only_then_the_time_ends_an_attempt(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    attempt = await begin(redis, name)
    assert await add(redis, name, attempt, "") is Added.EARLY
    assert await add(redis, name, attempt, "sa", until_ms=1) is Added.LATE
    assert await add(redis, name, attempt, "", until_ms=1) is Added.MADE
    assert await add(redis, name, attempt, "", until_ms=1) is Added.ENDED


async def test_a_move_whose_time_to_be_stored_is_over_changes_nothing(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    attempt = await begin(redis, name)
    assert (await store.add(name, attempt, MOVES["sa"], 0, FAR_MS, 1, None))[0] is Added.SLOW
    assert await store.begin(name, "p2", "bob", "cd" * 16, "here", 1) is Added.SLOW
    assert await store.counts(name) == (1, 0)


async def test_a_deal_is_opened_only_after_its_day(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    found = await store.find(name)
    assert found is not None
    assert not await store.open(name, end_entry(found))


async def test_a_deal_is_opened_once_nobody_races_any_more(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    store = DailyStore(redis)
    found = await store.find(LONG_AGO)
    assert found is not None
    await redis.zadd(daily_keys.running(LONG_AGO.day, LONG_AGO.variant), {"p1": 1})
    assert not await store.open(LONG_AGO, end_entry(found))
    await redis.zrem(daily_keys.running(LONG_AGO.day, LONG_AGO.variant), "p1")
    assert [await store.open(LONG_AGO, end_entry(found)) for _ in range(2)] == [True, True]
    assert await redis.xlen(keys.round_outbox(daily_keys.BUCKET)) == 2
    assert await store.unopened() == []


async def test_equal_attempts_share_a_rank_on_every_page(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    for player in ("p1", "p2", "p3"):
        await store_attempt(redis, LONG_AGO, player, [])
    await store_attempt(redis, LONG_AGO, "p4", [], each_ms=2_000)
    store = DailyStore(redis)
    assert [row.rank for row in await store.rows(LONG_AGO, 0, 10)] == [1, 1, 1, 4]
    assert [row.rank for row in await store.rows(LONG_AGO, 2, 10)] == [1, 4]
    standing = await store.standing(LONG_AGO, "p4")
    assert standing is not None and standing[1:] == (4, 4)


async def test_the_table_counts_the_attempts_of_an_address(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    for player, address in (("p1", "here"), ("p2", "there"), ("p3", "here")):
        await add(redis, name, await begin(redis, name, player, address), "stop", ends=True)
    rows = await DailyStore(redis).rows(name, 0, 10)
    assert {row.attempt.player_id: row.from_address for row in rows} == {"p1": 2, "p2": 1, "p3": 2}


@pytest.mark.long
async def test_a_page_in_the_middle_of_a_thousand_attempts_has_their_ranks(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    for number in range(1_000):
        await store_attempt(redis, LONG_AGO, f"p{number:04}", [], each_ms=number + 1)
    rows = await DailyStore(redis).rows(LONG_AGO, 500, 100)
    assert [(row.rank, row.score.time_ms) for row in rows] == [(place, place) for place in range(501, 601)]


async def test_the_times_without_a_server_are_those_of_the_deployment(redis: BatchingRedis) -> None:
    await redis.rpush(keys.PAUSES, "1000-2000", "5000-9000")
    assert await DailyStore(redis).gaps() == (Gap(1_000, 2_000), Gap(5_000, 9_000))


async def test_an_attempt_is_begun_at_the_time_of_redis_by_its_player(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    before_ms, attempt, after_ms = await read_clock(redis), await begin(redis, name), await read_clock(redis)
    assert attempt == Attempt("ab" * 16, "p1", "ann", attempt.started_ms)
    assert before_ms <= attempt.started_ms <= after_ms


async def test_an_attempt_is_found_with_all_its_moves_by_its_player_and_by_its_id(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    attempt = await begin(redis, name)
    for count, move in enumerate(("sa", "sb", "sc")):
        known = replace(attempt, moves=(TimedMove(0, MOVES["sa"]),) * count)
        assert await add(redis, name, known, move) is Added.MADE
    found = await store.attempt(name, "p1")
    assert found is not None and [timed.move.text for timed in found.moves] == ["sa", "sb", "sc"]
    assert await store.find_attempt("ab" * 16) == (name, found)


async def test_an_attempt_that_was_never_begun_is_not_found(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    assert (await store.attempt(name, "p1"), await store.find_attempt("ab" * 16)) == (None, None)


async def test_an_attempt_that_is_not_kept_any_more_is_not_found_by_its_id(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    await begin(redis, name)
    await redis.delete(daily_keys.attempts(name.day, name.variant))
    assert await store.find_attempt("ab" * 16) is None


async def test_an_attempt_is_under_way_from_its_start_on(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    attempt = await begin(redis, name)
    found = [await store.running(name, attempt.started_ms + after_ms) for after_ms in (-1, 0)]
    assert found == [[], ["p1"]]


async def test_the_time_of_a_move_does_not_include_pauses(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    attempt = await begin(redis, name)
    assert await store.add(name, attempt, MOVES["sa"], FAR_MS, FAR_MS, FAR_MS, None) == (Added.MADE, 0)


async def test_a_day_lasts_from_midnight_to_midnight() -> None:
    second = DailyName("1970-01-02", "classic")
    assert (second.begins_ms, second.ends_ms) == (86_400_000, 2 * 86_400_000)


async def test_the_deals_that_are_not_opened_are_listed_oldest_first(redis: BatchingRedis) -> None:
    later = DailyName("2026-01-06", "classic")
    for name in (later, LONG_AGO):
        await deal(redis, name)
    assert [found.name for found in await DailyStore(redis).unopened()] == [LONG_AGO, later]


async def test_a_deal_that_is_not_kept_any_more_is_not_listed(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await redis.delete(daily_keys.deal(LONG_AGO.day, LONG_AGO.variant))
    assert await DailyStore(redis).unopened() == []


async def test_a_deal_that_was_opened_says_so(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    store = DailyStore(redis)
    before = await store.find(LONG_AGO)
    assert before is not None and not before.is_opened
    await store.open(LONG_AGO, end_entry(before))
    assert await store.find(LONG_AGO) == replace(before, is_opened=True)


@pytest.mark.parametrize(("first", "ranks"), [(1, [2, 2, 4]), (3, [4])])
async def test_a_page_begins_with_the_rank_of_its_first_attempt(
    redis: BatchingRedis, first: int, ranks: list[int]
) -> None:
    await deal(redis, LONG_AGO)
    for player, each_ms in (("p1", 1_000), ("p2", 2_000), ("p3", 2_000), ("p4", 3_000)):
        await store_attempt(redis, LONG_AGO, player, [], each_ms=each_ms)
    assert [row.rank for row in await DailyStore(redis).rows(LONG_AGO, first, 10)] == ranks


async def test_no_more_rows_than_asked_for_are_read(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    for player in ("p1", "p2", "p3"):
        await store_attempt(redis, LONG_AGO, player, [])
    rows = await DailyStore(redis).rows(LONG_AGO, 0, 2)
    assert [row.attempt.player_id for row in rows] == ["p3", "p2"]


async def test_a_table_without_attempts_has_no_rows(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    assert await DailyStore(redis).rows(LONG_AGO, 0, 10) == []


async def test_a_player_without_a_finished_attempt_has_no_place(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    await begin(redis, name)
    assert await DailyStore(redis).standing(name, "p1") is None


async def test_the_score_of_a_standing_is_that_of_the_attempt(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    attempt = await begin(redis, name)
    score = AttemptScore(won=False, placed=9, direct=3, time_ms=1_200_000)
    assert (await DailyStore(redis).add(name, attempt, None, 0, 1, FAR_MS, score))[0] is Added.MADE
    assert await DailyStore(redis).standing(name, "p1") == (score, 1, 1)


async def test_an_attempt_at_an_address_that_was_not_counted_is_the_only_one_there(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    await add(redis, name, await begin(redis, name), "stop", ends=True)
    await redis.delete(daily_keys.addresses(name.day, name.variant))
    assert [row.from_address for row in await DailyStore(redis).rows(name, 0, 10)] == [1]
