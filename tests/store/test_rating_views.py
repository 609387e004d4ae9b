"""Ratings as people read them: places, names that change or are taken, bans, and scores of two players."""

from datetime import date, timedelta

import pytest

from fairest_protocol.messages.ratings import PAGE_PLAYERS
from fairest_protocol.value import replace
from fairest_server.ratings.tally import Tally
from fairest_server.store import keys
from fairest_server.store.players import Players
from fairest_server.store.rating_views import NamedPlayer, RatingViews
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.rated_players import PLAIN, add_players, rate_rounds, today_in

ROUNDS = (0, 0, 1) * 9
"""Enough for both players to stand on the board, the first one above the second."""


@pytest.fixture
def banned() -> set[str]:
    return set()


@pytest.fixture
def views(redis: BatchingRedis, banned: set[str]) -> RatingViews:
    return RatingViews(redis, banned.__contains__)


@pytest.fixture
async def today(redis: BatchingRedis) -> int:
    return await today_in(redis)


async def find(views: RatingViews, name: str) -> NamedPlayer:
    player = await views.find(name)
    assert player is not None
    return player


async def names_on_board(views: RatingViews, today: int) -> list[str]:
    return [each.name for each in (await views.leaderboard("classic", 0, today)).players]


async def test_an_empty_board_has_one_page(views: RatingViews, today: int) -> None:
    board = await views.leaderboard("classic", 0, today)
    assert (board.total, board.pages, board.players) == (0, 1, ())


async def test_players_stand_on_the_board_by_their_rating(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS)
    board = await views.leaderboard("classic", 0, today)
    assert [(each.place, each.name) for each in board.players] == [(1, "bob"), (2, "ann")]
    assert board.players[0].rating > 1_500 > board.players[1].rating


async def test_a_provisional_player_is_not_on_the_board(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    assert await names_on_board(views, today) == []


async def test_a_player_who_became_provisional_since_is_not_shown(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    assert await names_on_board(views, today + 399) == []


async def test_a_banned_player_is_hidden_and_leaves_its_place_free(
    views: RatingViews, redis: BatchingRedis, today: int, banned: set[str]
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    banned.add("id-ann")
    board = await views.leaderboard("classic", 0, today)
    assert [(each.place, each.name) for each in board.players] == [(2, "bob")]
    assert await views.find("ann") is None


async def test_a_player_whose_ban_is_over_has_its_rating_again(
    views: RatingViews, redis: BatchingRedis, today: int, banned: set[str]
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    before = await views.player_page(await find(views, "ann"), today)
    banned.add("id-ann")
    assert await views.find("ann") is None
    banned.clear()
    assert await views.player_page(await find(views, "ann"), today) == before


async def test_a_renamed_player_keeps_its_rating(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    await Players(redis).rename("ann", "eve")
    assert await names_on_board(views, today) == ["eve", "bob"]
    assert (await views.player_page(await find(views, "eve"), today)).ratings[0].rounds == len(ROUNDS)


async def test_a_name_that_the_operator_has_taken_leads_to_nobody(views: RatingViews, redis: BatchingRedis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    await Players(redis).rename("ann", "eve")
    assert await views.find("ann") is None


async def test_an_absent_player_is_found_by_the_name_under_which_it_was_rated(
    views: RatingViews, redis: BatchingRedis
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    await redis.delete(keys.name("ann"))
    assert await find(views, "ANN") == NamedPlayer("id-ann", "ann")


async def test_a_name_leads_to_the_player_that_uses_it_now(views: RatingViews, redis: BatchingRedis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    await redis.hset(keys.player("other"), mapping={"name": "Ann"})
    await redis.set(keys.name("ann"), "other")
    assert await find(views, "ann") == NamedPlayer("other", "Ann")


async def test_a_player_that_is_not_known_any_more_is_on_no_page(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    await redis.delete(keys.player("id-ann"))
    assert await names_on_board(views, today) == ["bob"]
    assert await views.find("ann") is None


async def test_a_player_without_rated_rounds_has_an_empty_page(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann")
    assert (await views.player_page(await find(views, "ann"), today)).ratings == ()


async def test_a_page_has_all_figures_of_a_player(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    best = replace(PLAIN, won_ms=250_000, direct=31)
    near = replace(PLAIN, is_near_miss=True, has_left=True)
    await rate_rounds(redis, ("ann", "bob"), 0, 0, None, 0, seats=(best, near))
    [ann] = (await views.player_page(await find(views, "ann"), today)).ratings
    [bob] = (await views.player_page(await find(views, "bob"), today)).ratings
    assert (ann.rounds, ann.wins, ann.draws, ann.streak, ann.best_streak) == (4, 3, 1, 1, 2)
    assert (ann.best_ms, ann.best_direct, ann.is_provisional, ann.place) == (250_000, 31, True, None)
    assert (bob.near_misses, bob.left, bob.streak, bob.best_ms) == (4, 4, -1, None)


async def test_a_page_has_the_variants_in_their_order_with_places(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0, rules="senior")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS)
    page = await views.player_page(await find(views, "ann"), today)
    assert [(each.rules, each.place) for each in page.ratings] == [("classic", 2), ("senior", None)]


async def test_the_score_of_two_players_has_the_one_that_was_asked_for_first(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0, 0, 1, None, seats=(replace(PLAIN, direct=5), replace(PLAIN, direct=2)))
    ann, bob = await find(views, "ann"), await find(views, "bob")
    [pair] = (await views.player_page(ann, today, bob)).pairs
    [other] = (await views.player_page(bob, today, ann)).pairs
    assert (pair.wins, pair.draws, pair.direct) == ((2, 1), 1, (20, 8))
    assert (other.wins, other.draws, other.direct) == ((1, 2), 1, (8, 20))


async def test_two_strangers_have_no_score(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    page = await views.player_page(await find(views, "ann"), today, await find(views, "bob"))
    assert (page.against, page.pairs) == ("bob", ())


async def test_a_long_board_has_pages(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    pipeline = redis.pipeline(transaction=False)
    for number in range(PAGE_PLAYERS + 2):
        name = f"player-{number:02}"
        tally = Tally(mean=2_000_000 - number, deviation=100_000, day=today, rounds=30)
        pipeline.hset(keys.player(name), mapping={"name": name})
        pipeline.hset(keys.tallies(name), "classic", f"[{tally.mean},{tally.deviation},{tally.day},{tally.rounds}]")
        pipeline.zadd(keys.board("classic"), {name: tally.mean})
    await pipeline.execute()
    board = await views.leaderboard("classic", 1, today)
    assert (board.total, board.pages) == (PAGE_PLAYERS + 2, 2)
    assert [(each.place, each.name) for each in board.players] == [(51, "player-50"), (52, "player-51")]
    first = await views.leaderboard("classic", 0, today)
    assert [each.place for each in first.players] == list(range(1, PAGE_PLAYERS + 1))


async def test_a_page_behind_the_last_one_is_empty(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    assert (await views.leaderboard("classic", 7, today)).players == ()


async def test_the_day_of_the_last_round_is_a_date(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    page = await views.player_page(await find(views, "ann"), today)
    assert page.ratings[0].last_day == (date(1970, 1, 1) + timedelta(days=today)).isoformat()


async def test_the_points_of_a_player_without_rounds_are_those_of_a_new_one(
    views: RatingViews, redis: BatchingRedis
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    assert await views.points("id-new", "classic") == 1_500
    assert await views.points("id-ann", "classic") > 1_500 > await views.points("id-bob", "classic")


async def test_a_name_that_nobody_ever_used_leads_to_nobody(views: RatingViews) -> None:
    assert await views.find("nobody") is None


async def test_a_player_who_became_provisional_since_has_no_place_on_its_page(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    [later] = (await views.player_page(await find(views, "ann"), today + 399)).ratings
    assert (later.is_provisional, later.place) == (True, None)


async def test_points_are_rounded_half_up(views: RatingViews, redis: BatchingRedis, today: int) -> None:
    for name, mean in (("ann", 1_700_500), ("bob", 1_700_499)):
        await redis.hset(keys.player(name), mapping={"name": name})
        await redis.hset(keys.tallies(name), "classic", f"[{mean},100000,{today},30]")
        await redis.zadd(keys.board("classic"), {name: mean})
    board = await views.leaderboard("classic", 0, today)
    assert [each.rating for each in board.players] == [1_701, 1_700]


async def test_a_player_on_the_board_without_a_tally_is_not_shown(
    views: RatingViews, redis: BatchingRedis, today: int
) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *ROUNDS)
    await redis.delete(keys.tallies("id-ann"))
    assert await names_on_board(views, today) == ["bob"]
