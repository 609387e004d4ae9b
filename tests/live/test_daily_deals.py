"""Daily deals over their days: announced, dealt by the beacon, ended by the limit, and opened."""

from typing import Any

from redis.asyncio import Redis

from fairest_protocol.calculation.daily import LIMIT_MS, daily_seed, day_start_ms
from fairest_protocol.calculation.drand import drand_value
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.rounds import ChainedEnd, ChainedOpening, RoundEnd, chained_line, parse_chained
from fairest_server.live.daily_deals import DailyDeals, commitment_of, opening_entry, round_id_of
from fairest_server.live.drand_relay import DrandRelay
from fairest_server.live.redis_clock import RedisClock
from fairest_server.store import daily_keys, keys
from fairest_server.store.daily import DailyDeal, DailyName, DailyStore
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.rounds import NewEntry, RoundStore
from tests.support.daily import BEACON, LONG_AGO, SECRET, deal, deal_a_day, store_attempt
from tests.support.drand import NETWORK, needs_pyblst, serving_relay, shown_rounds, sign_drand

RULES = (VARIANTS["classic"].rules, VARIANTS["senior"].rules)
TODAY = DailyName("2026-11-24", "classic")
START_MS = day_start_ms(TODAY.day)


FIRST_DRAND = NETWORK.first_round(START_MS)


def deals_at(redis: BatchingRedis, now_ms: int, relay: str | None = None) -> DailyDeals:
    """Return the daily deals of a process that believes that it is `now_ms`, with a relay of drand at this URL."""
    clock = RedisClock()
    clock.beat(now_ms)
    return DailyDeals(
        DailyStore(redis), RoundStore(redis, "process1"), clock, RULES, DrandRelay(relay, NETWORK) if relay else None
    )


async def dealt(redis: Redis, name: DailyName = TODAY) -> DailyDeal:
    """Return a deal that was announced."""
    found = await DailyStore(redis).find(name)
    assert found is not None
    return found


async def announce_by_drand(redis: BatchingRedis) -> None:
    """Announce the deals of `TODAY` hours before it, with a drand round as their beacon."""
    await deals_at(redis, START_MS - 13 * 3_600_000, "http://127.0.0.1:9").advance()


async def outbox(redis: Redis) -> list[ChainedOpening | ChainedEnd]:
    """Return the entries that wait for the chain of rounds."""
    found: Any = await redis.xrange(keys.round_outbox(daily_keys.BUCKET))
    parsed = [parse_chained(chained_line(fields[b"e"].decode(), 1, 1)) for _, fields in found]
    return [entry for entry in parsed if isinstance(entry, ChainedOpening | ChainedEnd)]


async def test_tomorrow_is_announced_once_for_each_variant(redis: BatchingRedis) -> None:
    for _ in range(2):
        deals = deals_at(redis, START_MS - 3_600_000)
        await deals.advance()
        await deals.advance()
    entries = await outbox(redis)
    assert [entry.rules for entry in entries if isinstance(entry, ChainedOpening)] == [
        "classic-daily 4 0",
        "senior-daily 4 0",
    ]
    found = await DailyStore(redis).find(TODAY)
    assert found is not None
    assert entries[0].commitment == commitment_of(found)


async def test_a_day_that_has_begun_is_announced_no_more(redis: BatchingRedis) -> None:
    await deals_at(redis, START_MS + 3_600_000).advance()
    assert await DailyStore(redis).find(TODAY) is None


async def test_the_beacon_is_the_chain_of_the_last_entry_before_the_day(redis: BatchingRedis) -> None:
    rounds, store = RoundStore(redis, "process1"), DailyStore(redis)
    await store.announce(TODAY, SECRET, opening_entry(TODAY, SECRET))
    entry = opening_entry(LONG_AGO, bytes(32))
    for number, at_ms in enumerate((START_MS - 5_000, START_MS - 1, START_MS, START_MS + 1), 1):
        end = await rounds.read_end(0)
        added = NewEntry(bytes([number]) * 32, chained_line(entry, number, at_ms))
        assert await rounds.extend(end, [added], at_ms, 0)
    await deals_at(redis, START_MS + 1_000).advance()
    assert (await store.find(TODAY)).beacon is None  # type: ignore[union-attr]
    await deals_at(redis, START_MS + 60_000).advance()
    found = await store.find(TODAY)
    assert found is not None and (found.beacon_number, found.beacon) == (2, bytes([2]) * 32)


async def test_with_a_relay_tomorrow_is_announced_for_a_drand_round(redis: BatchingRedis) -> None:
    await announce_by_drand(redis)
    assert [entry.rules for entry in await outbox(redis) if isinstance(entry, ChainedOpening)] == [
        "classic-drand-daily 4 0",
        "senior-drand-daily 4 0",
    ]
    assert (await dealt(redis)).is_drand


@needs_pyblst
async def test_the_first_drand_round_of_the_day_is_its_beacon(redis: BatchingRedis) -> None:
    await announce_by_drand(redis)
    with serving_relay(shown_rounds(FIRST_DRAND)) as url:
        await deals_at(redis, START_MS + 60_000, url).advance()
    for name in (TODAY, DailyName(TODAY.day, "senior")):
        found, signature = await dealt(redis, name), sign_drand(FIRST_DRAND)
        assert (found.beacon_number, found.beacon, found.drand) == (FIRST_DRAND, drand_value(signature), signature)


@needs_pyblst
async def test_a_day_waits_for_its_drand_round_and_takes_no_other_beacon(redis: BatchingRedis) -> None:
    await announce_by_drand(redis)
    end = await RoundStore(redis, "process1").read_end(0)
    line = chained_line(opening_entry(LONG_AGO, bytes(32)), 1, START_MS - 1)
    assert await RoundStore(redis, "process1").extend(end, [NewEntry(bytes(32), line)], START_MS - 1, 0)
    with serving_relay(shown_rounds(FIRST_DRAND + 1)) as url:
        await deals_at(redis, START_MS + 60_000, url).advance()
    await deals_at(redis, START_MS + 120_000).advance()
    assert (await dealt(redis)).beacon is None


@needs_pyblst
async def test_a_relay_without_the_drand_round_is_asked_again_after_ten_seconds(redis: BatchingRedis) -> None:
    await announce_by_drand(redis)
    pages: dict[str, bytes] = {}
    with serving_relay(pages) as url:
        clock = RedisClock()
        deals = DailyDeals(DailyStore(redis), RoundStore(redis, "process1"), clock, RULES, DrandRelay(url, NETWORK))
        beacons = []
        for seconds in (60, 69, 71):
            clock.beat(START_MS + 1000 * seconds)
            await deals.advance()
            pages |= shown_rounds(FIRST_DRAND)
            beacons.append((await dealt(redis)).beacon)
    assert [beacon is None for beacon in beacons] == [True, True, False]


async def test_a_deal_by_drand_is_not_announced_in_the_last_twelve_hours_before_its_day(redis: BatchingRedis) -> None:
    await deals_at(redis, START_MS - 12 * 3_600_000, "http://127.0.0.1:9").advance()
    assert await outbox(redis) == []


@needs_pyblst
async def test_a_drand_round_that_comes_when_the_day_is_over_is_not_kept(redis: BatchingRedis) -> None:
    """The deal may have been called off meanwhile, by another process."""
    await announce_by_drand(redis)
    clock = RedisClock()
    clock.beat(START_MS + 60_000)

    class SlowRelay(DrandRelay):
        async def fetch(self, number: int) -> bytes:
            clock.beat(START_MS + 86_400_000)
            return await super().fetch(number)

    with serving_relay(shown_rounds(FIRST_DRAND)) as url:
        relay = SlowRelay(url, NETWORK)
        await DailyDeals(DailyStore(redis), RoundStore(redis, "process1"), clock, RULES[:1], relay).advance()
    assert (await dealt(redis)).beacon is None


async def test_a_day_without_its_drand_round_is_called_off(redis: BatchingRedis) -> None:
    entry = opening_entry(LONG_AGO, SECRET, is_drand=True)
    await DailyStore(redis).announce(LONG_AGO, SECRET, entry, is_drand=True)
    await deals_at(redis, await read_clock(redis)).advance()
    end = next(entry for entry in await outbox(redis) if isinstance(entry, ChainedEnd))
    assert (end.how, end.seed) == (RoundEnd.VOIDED, None)


async def test_a_day_that_was_announced_without_drand_has_an_entry_as_its_beacon(redis: BatchingRedis) -> None:
    store, rounds = DailyStore(redis), RoundStore(redis, "process1")
    await store.announce(TODAY, SECRET, opening_entry(TODAY, SECRET))
    line = chained_line(opening_entry(LONG_AGO, bytes(32)), 1, START_MS - 1)
    assert await rounds.extend(await rounds.read_end(0), [NewEntry(bytes([1]) * 32, line)], START_MS - 1, 0)
    with serving_relay(shown_rounds(FIRST_DRAND)) as url:
        await deals_at(redis, START_MS + 60_000, url).advance()
    found = await dealt(redis)
    assert (found.beacon_number, found.beacon, found.drand) == (1, bytes([1]) * 32, None)


async def test_a_day_that_is_over_is_opened_with_its_seed_in_the_chain_of_rounds(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await store_attempt(redis, LONG_AGO, "p1", [])
    await deals_at(redis, await read_clock(redis)).advance()
    found = await DailyStore(redis).find(LONG_AGO)
    assert found is not None and found.is_opened
    end = next(entry for entry in await outbox(redis) if isinstance(entry, ChainedEnd))
    assert (end.how, end.seed) == (RoundEnd.PROVED, daily_seed(SECRET, BEACON, round_id_of(LONG_AGO)))


async def test_a_deal_that_was_never_dealt_is_called_off(redis: BatchingRedis) -> None:
    await DailyStore(redis).announce(LONG_AGO, SECRET, opening_entry(LONG_AGO, SECRET))
    await deals_at(redis, await read_clock(redis)).advance()
    end = next(entry for entry in await outbox(redis) if isinstance(entry, ChainedEnd))
    assert (end.how, end.seed) == (RoundEnd.VOIDED, None)


async def test_an_attempt_whose_time_is_over_ends_with_the_cards_that_it_has_placed(redis: BatchingRedis) -> None:
    name, store = await deal_a_day(redis), DailyStore(redis)
    begun = await store.begin(name, "p1", "ann", "ab" * 16, "here", 10**15)
    assert begun is not None
    long_ago_ms = await read_clock(redis) - LIMIT_MS - 60_000
    await redis.hset(daily_keys.attempts(name.day, name.variant), "p1", f"{long_ago_ms} {'ab' * 16} ann here")
    await redis.zadd(daily_keys.running(name.day, name.variant), {"p1": long_ago_ms})
    await deals_at(redis, await read_clock(redis)).advance()
    standing = await store.standing(name, "p1")
    assert standing is not None and (standing[0].placed, standing[0].time_ms) == (4, LIMIT_MS)


async def test_a_process_without_daily_deals_announces_none(redis: BatchingRedis) -> None:
    clock = RedisClock()
    clock.beat(START_MS)
    await DailyDeals(DailyStore(redis), RoundStore(redis, "process1"), clock, ()).advance()
    assert await outbox(redis) == []
