"""The list of finished matches on a real Redis: its order, its pages, its bounds, and that a row is there once."""

from typing import Any

import pytest

from fairest_server.store import keys
from fairest_server.store.matches import MatchList
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.listed_matches import FINISHED_MS, make_row

ROOMS = ("quiet-amber-otter", "loud-amber-otter", "calm-green-fox")
DAY_MS = 86_400_000


@pytest.fixture
def listed(redis: BatchingRedis) -> MatchList:
    return MatchList(redis)


async def fill(listed: MatchList, count: int) -> list[str]:
    """Add matches from rooms of several buckets; return their ids, the newest first."""
    for number in range(count):
        await listed.add(ROOMS[number % len(ROOMS)], make_row(number))
    return [make_row(number).match for number in reversed(range(count))]


async def all_pages(listed: MatchList, **filters: str) -> list[list[str]]:
    """Return the ids of the matches on each page, from the first to the last."""
    pages, before = list[list[str]](), None
    while True:
        page = await listed.page(FINISHED_MS, before=before, **filters)
        pages.append([row.match for row in page.matches])
        before = page.next
        if before is None:
            return pages


async def test_a_match_is_listed_as_its_row(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(3))
    assert (await listed.page(FINISHED_MS)).matches == (make_row(3),)


async def test_matches_of_all_buckets_are_listed_newest_first(listed: MatchList) -> None:
    matches = await fill(listed, 9)
    assert await all_pages(listed) == [matches]


async def test_pages_follow_each_other_without_gap_or_repetition(listed: MatchList) -> None:
    matches = await fill(listed, 45)
    assert await all_pages(listed) == [matches[:20], matches[20:40], matches[40:]]


async def test_a_last_page_that_is_full_names_no_next_one(listed: MatchList) -> None:
    matches = await fill(listed, 20)
    assert await all_pages(listed) == [matches]


async def test_matches_that_finished_at_the_same_moment_are_all_on_some_page(listed: MatchList) -> None:
    for number in range(50):
        await listed.add(ROOMS[0], make_row(number, finished_at_ms=FINISHED_MS))
    pages = await all_pages(listed)
    assert sorted(match for page in pages for match in page) == [make_row(number).match for number in range(50)]


async def test_a_match_that_finishes_meanwhile_moves_no_row_of_the_next_page(listed: MatchList) -> None:
    matches = await fill(listed, 30)
    first = await listed.page(FINISHED_MS)
    await listed.add(ROOMS[1], make_row(99))
    second = await listed.page(FINISHED_MS, before=first.next)
    assert [row.match for row in (*first.matches, *second.matches)] == matches


async def test_a_match_that_is_added_twice_is_listed_once(listed: MatchList) -> None:
    for _ in range(2):
        await listed.add(ROOMS[0], make_row(1))
    assert await all_pages(listed) == [[make_row(1).match]]


async def test_the_matches_of_a_player_are_found_whatever_the_case_of_the_name(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(1, names=("Ann", "bob")))
    await listed.add(ROOMS[1], make_row(2, names=("bob", "aNN")))
    await listed.add(ROOMS[2], make_row(3, names=("bob", "eve")))
    assert await all_pages(listed, name="ANN") == [[make_row(2).match, make_row(1).match]]


async def test_the_matches_of_a_variant_are_found(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(1))
    await listed.add(ROOMS[0], make_row(2, rules="senior"))
    assert await all_pages(listed, rules="senior") == [[make_row(2).match]]


async def test_a_name_and_a_variant_are_both_asked_for(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(1, rules="senior", names=("eve", "bob")))
    await listed.add(ROOMS[0], make_row(2, rules="senior"))
    await listed.add(ROOMS[0], make_row(3))
    assert await all_pages(listed, rules="senior", name="ann") == [[make_row(2).match]]


async def test_pages_without_a_match_lead_to_those_behind_them(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(0, rules="senior"))
    for number in range(1, 26):
        await listed.add(ROOMS[0], make_row(number))
    assert await all_pages(listed, rules="senior", name="ann") == [[], [make_row(0).match]]


async def test_a_match_whose_record_has_expired_is_not_listed(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(1))
    assert (await listed.page(FINISHED_MS + 401 * DAY_MS)).matches == ()


async def test_a_row_whose_record_has_expired_is_removed_with_the_next_match(
    listed: MatchList, redis: BatchingRedis
) -> None:
    await listed.add(ROOMS[0], make_row(1))
    await listed.add(ROOMS[0], make_row(401 * DAY_MS))
    assert await redis.zcard(keys.matches(keys.bucket(ROOMS[0]))) == 1


async def test_a_row_stays_until_its_record_expires(listed: MatchList, redis: BatchingRedis) -> None:
    await listed.add(ROOMS[0], make_row(0))
    await listed.add(ROOMS[0], make_row(400 * DAY_MS))
    assert await redis.zcard(keys.matches(keys.bucket(ROOMS[0]))) == 2


async def test_a_list_expires_with_its_newest_record(listed: MatchList, redis: BatchingRedis) -> None:
    await listed.add(ROOMS[0], make_row(1))
    number = keys.bucket(ROOMS[0])
    lists = keys.matches(number), keys.matches_by_rules(number, "classic"), keys.matches_by_name(number, "bob")
    assert all([0 <= keys.RECORD_SECONDS - await redis.ttl(key) < 60 for key in lists])


async def test_a_list_keeps_the_newest_rows_only(listed: MatchList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "MATCHES_KEPT", 3)
    for number in (5, 1, 4, 2, 3):
        await listed.add(ROOMS[0], make_row(number))
    assert await all_pages(listed) == [[make_row(number).match for number in (5, 4, 3)]]


async def test_a_row_of_another_version_is_passed_over(listed: MatchList, redis: BatchingRedis) -> None:
    await listed.add(ROOMS[0], make_row(1))
    await redis.zadd(keys.matches(keys.bucket(ROOMS[0])), {f"{FINISHED_MS:016x}{'f' * 32}" + '{"of":"tomorrow"}': 0})
    assert await all_pages(listed) == [[make_row(1).match]]


async def test_the_rows_of_all_versions_have_the_same_place_but_for_their_text(
    listed: MatchList, redis: BatchingRedis
) -> None:
    await listed.add(ROOMS[0], make_row(1))
    found: Any = await redis.zrange(keys.matches(keys.bucket(ROOMS[0])), 0, -1, withscores=True)
    assert [score for _, score in found] == [0]


async def test_a_match_of_the_first_millisecond_is_listed(listed: MatchList) -> None:
    await listed.add(ROOMS[0], make_row(1, finished_at_ms=0))
    assert len((await listed.page(0)).matches) == 1
