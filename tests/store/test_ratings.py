"""Ratings in Redis: a match is rated once, all of it or nothing, on a single Redis and on a Cluster."""

import asyncio
from typing import Any

import pytest

from fairest_server.ratings.match_result import DAY_MS, MatchResult, RoundResult, SeatResult
from fairest_server.ratings.tally import MatchTallies, PairScore, Tally, rate_match
from fairest_server.store import keys
from fairest_server.store.ratings import Kept, RatingStore, TalliesBefore, WaitingMatch
from fairest_server.store.redis.batching_client import BatchingRedis

PLAIN = SeatResult(won_ms=None, direct=0, is_near_miss=False, has_left=False)
PLAYERS = ("one", "two")
NAMES = ("Ann", "Bob")


@pytest.fixture
def store(redis: BatchingRedis) -> RatingStore:
    return RatingStore(redis)


@pytest.fixture
async def today(redis: BatchingRedis) -> int:
    seconds, _ = await redis.time()
    return int(seconds) * 1000 // DAY_MS


def won_by(winner: int | None, day: int) -> MatchResult:
    return MatchResult("classic", day, (RoundResult(winner, (PLAIN, PLAIN)),))


async def rate(
    store: RatingStore, match_id: str, result: MatchResult, players: tuple[str, str] = PLAYERS
) -> tuple[Kept, MatchTallies]:
    """Rate a match as a process does; return what came of it, and what should follow."""
    before = await store.read_before(result.variant, players)
    after = rate_match(before.tallies, result, is_swapped=players[1] < players[0])
    return await store.keep(match_id, players, NAMES, result, before, after), after


async def established(store: RatingStore, today: int, players: tuple[str, str] = PLAYERS) -> None:
    """Rate matches between two players until both stand on the board."""
    for number in range(20):
        await rate(store, f"{'-'.join(players)} {number}", won_by(number % 2, today), players)


async def test_a_match_that_waits_is_found_with_its_players(store: RatingStore) -> None:
    match = WaitingMatch(3, "a" * 32, PLAYERS, 1_000)
    await store.add_waiting(match)
    assert await store.waiting() == [match]


async def test_a_match_waits_once_however_often_it_is_added(store: RatingStore) -> None:
    match = WaitingMatch(3, "a" * 32, PLAYERS, 1_000)
    for _ in range(2):
        await store.add_waiting(match)
    assert len(await store.waiting()) == 1


async def test_a_match_that_was_removed_does_not_wait(store: RatingStore) -> None:
    match = WaitingMatch(3, "a" * 32, PLAYERS, 1_000)
    await store.add_waiting(match)
    await store.remove(match)
    assert await store.waiting() == []


async def test_players_without_matches_have_new_tallies(store: RatingStore) -> None:
    assert (await store.read_before("classic", PLAYERS)).tallies == MatchTallies()


async def test_what_follows_from_a_match_is_read_before_the_next_one(store: RatingStore, today: int) -> None:
    kept, after = await rate(store, "first", won_by(0, today))
    assert kept is Kept.RATED
    assert (await store.read_before("classic", PLAYERS)).tallies == after


async def test_a_match_is_rated_once(store: RatingStore, today: int) -> None:
    _, after = await rate(store, "first", won_by(0, today))
    kept, _ = await rate(store, "first", won_by(0, today))
    assert kept is Kept.KNOWN
    assert (await store.read_before("classic", PLAYERS)).tallies == after


async def test_a_match_is_not_rated_on_tallies_that_have_changed(store: RatingStore, today: int) -> None:
    before = await store.read_before("classic", PLAYERS)
    _, after = await rate(store, "first", won_by(0, today))
    stale = rate_match(before.tallies, won_by(1, today), is_swapped=False)
    assert await store.keep("second", PLAYERS, NAMES, won_by(1, today), before, stale) is Kept.CHANGED
    assert (await store.read_before("classic", PLAYERS)).tallies == after
    assert [rated.match_id for rated in await store.results_after(0)] == ["first"]


async def test_a_match_that_finished_too_long_ago_is_not_rated(store: RatingStore, today: int) -> None:
    kept, _ = await rate(store, "old", won_by(0, today - keys.RATED_DAYS - 1))
    assert kept is Kept.LATE
    assert await store.results_after(0) == []


async def test_the_mark_of_a_match_is_kept_as_long_as_it_may_be_rated(
    store: RatingStore, redis: BatchingRedis, today: int
) -> None:
    await redis.zadd(keys.RATED_MARKS, {"older": today - keys.RATED_DAYS - 1, "oldest": today - keys.RATED_DAYS})
    await rate(store, "new", won_by(0, today))
    assert set(await redis.zrange(keys.RATED_MARKS, 0, -1)) == {b"oldest", b"new"}


async def test_variants_are_rated_by_themselves(store: RatingStore, today: int) -> None:
    await rate(store, "first", won_by(0, today))
    assert (await store.read_before("easy", PLAYERS)).tallies == MatchTallies()


async def test_results_are_numbered_in_the_order_in_which_they_were_rated(store: RatingStore, today: int) -> None:
    await rate(store, "first", won_by(0, today))
    _, after = await rate(store, "second", won_by(1, today))
    first, second = await store.results_after(0)
    assert (first.number, second.number) == (1, 2)
    assert (second.match_id, second.variant, second.players, second.after) == ("second", "classic", PLAYERS, after)


async def test_results_are_read_from_a_number_on(store: RatingStore, today: int) -> None:
    for number in range(3):
        await rate(store, str(number), won_by(0, today))
    assert [rated.number for rated in await store.results_after(1)] == [2, 3]


async def test_many_at_once_rate_each_match_once(store: RatingStore, today: int) -> None:
    """Five attempts for each of twenty matches between the same players: every tally that was read may be stale."""

    async def try_until_done(number: int) -> None:
        kept = Kept.CHANGED
        while kept is Kept.CHANGED:
            kept, _ = await rate(store, str(number), won_by(number % 2, today))

    await asyncio.gather(*(try_until_done(number) for number in range(20) for _ in range(5)))
    [first, second] = await store.read_tallies("classic", PLAYERS)
    assert (first.rounds, second.rounds, len(await store.results_after(0))) == (20, 20, 20)


async def test_a_provisional_player_does_not_stand_on_the_board(
    store: RatingStore, redis: BatchingRedis, today: int
) -> None:
    await rate(store, "first", won_by(0, today))
    assert await redis.zcard(keys.board("classic")) == 0


async def test_an_established_player_stands_on_the_board_with_its_mean(store: RatingStore, today: int) -> None:
    await established(store, today)
    assert await store.read_means("classic", PLAYERS) == [
        tally.mean for tally in await store.read_tallies("classic", PLAYERS)
    ]


async def test_a_player_leaves_the_board_when_its_rating_is_provisional_again(store: RatingStore, today: int) -> None:
    await established(store, today)
    until = max(tally.established_until for tally in await store.read_tallies("classic", PLAYERS))
    assert await store.drop_faded(until) <= 1
    await store.drop_faded(until + 1)
    assert await store.read_means("classic", PLAYERS) == [None, None]


async def test_nobody_leaves_the_board_on_the_day_of_its_last_round(store: RatingStore, today: int) -> None:
    await established(store, today)
    assert await store.drop_faded(today) == 0


async def test_the_player_of_a_name_is_the_one_that_used_it_last(
    store: RatingStore, redis: BatchingRedis, today: int
) -> None:
    await rate(store, "first", won_by(0, today))
    await rate(store, "second", won_by(0, today), ("three", "two"))
    assert await redis.get(keys.rated_name("ANN")) == b"three"


async def test_a_pair_is_the_same_whoever_has_which_seat(store: RatingStore, today: int) -> None:
    await rate(store, "first", won_by(0, today), ("one", "two"))
    await rate(store, "second", won_by(0, today), ("two", "one"))
    assert await store.read_pairs("classic", [("two", "one")]) == [PairScore((1, 1), 0, (0, 0), today)]


async def test_everything_about_a_player_expires(store: RatingStore, redis: BatchingRedis, today: int) -> None:
    await rate(store, "first", won_by(0, today))
    for key in (keys.tallies("one"), keys.pair("one", "two"), keys.rated_name("ann")):
        assert 0 < await redis.ttl(key) <= keys.RATED_SECONDS


def test_a_tally_of_unknown_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="JSON"):
        TalliesBefore((b"no tally", b"", b"")).tallies  # noqa: B018


def test_a_tally_with_fields_of_a_later_version_is_read() -> None:
    """Fields are added at the end of the array, so a process of an earlier version passes over them."""
    text = b'[1500000,400000,20000,1,1,0,1,1,0,0,3,null,"new"]'
    assert TalliesBefore((text, b"", b"")).tallies.tallies[0] == Tally(
        deviation=400_000, day=20_000, rounds=1, wins=1, streak=1, best_streak=1, best_direct=3
    )


async def test_the_matches_of_a_bucket_that_wait_longest_are_read_a_hundred_at_once(
    store: RatingStore, redis: BatchingRedis
) -> None:
    await redis.zadd(keys.unrated(3), {f"{number:032x} one two": number for number in range(101)})
    assert [match.finished_at_ms for match in await store.waiting()] == list(range(100))


async def test_a_match_keeps_the_time_at_which_it_first_began_to_wait(store: RatingStore) -> None:
    for finished_at_ms in (1_000, 2_000):
        await store.add_waiting(WaitingMatch(3, "a" * 32, PLAYERS, finished_at_ms))
    assert [match.finished_at_ms for match in await store.waiting()] == [1_000]


async def test_an_outbox_that_cannot_be_read_counts_as_empty(store: RatingStore, redis: BatchingRedis) -> None:
    await redis.set(keys.unrated(2), "not a sorted set")
    match = WaitingMatch(3, "a" * 32, PLAYERS, 1_000)
    await store.add_waiting(match)
    assert await store.waiting() == [match]


async def test_a_thousand_players_leave_a_board_at_once(store: RatingStore, redis: BatchingRedis) -> None:
    faded = {f"player-{number}": 5 for number in range(1_001)}
    await redis.zadd(keys.board("classic"), faded)
    await redis.zadd(keys.board_days("classic"), faded)
    assert [await store.drop_faded(6) for _ in range(3)] == [1_000, 1, 0]


async def test_a_thousand_results_are_read_at_once(store: RatingStore, redis: BatchingRedis, today: int) -> None:
    await rate(store, "first", won_by(0, today))
    found: Any = await redis.xrange(keys.RATED_RESULTS)
    ((_, fields),) = found
    pipeline = redis.pipeline(transaction=False)
    for number in range(2, 1_002):
        pipeline.xadd(keys.RATED_RESULTS, fields, id=f"{number}-0")
    await pipeline.execute()
    assert [rated.number for rated in await store.results_after(0)] == list(range(1, 1_001))
