"""The leaderboard and the page of a player in lines, and what is said when there is none."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.text.ratings import (
    describe_leaderboard,
    describe_player,
    describe_ranks,
    describe_standing,
    fetch_leaderboard,
    fetch_player,
    standings_after_match,
)
from fairest_protocol.messages.ratings import Leaderboard, PairVariant, PlayerPage, RankedPlayer, RatedVariant
from tests.support import staged
from tests.support.rated_players import add_players, rate_rounds

ANN = RankedPlayer(place=1, name="ann", rating=1712, deviation=180, rounds=31, wins=20, draws=1, streak=4)
BOB = RankedPlayer(place=12, name="bob_the_builder", rating=998, deviation=201, rounds=140, wins=7, draws=0, streak=-3)


def board(**changes: Any) -> Leaderboard:
    values: dict[str, Any] = {"rules": "classic", "page": 0, "pages": 1, "total": 2, "players": (ANN, BOB)}
    return Leaderboard(**(values | changes))


def rated(**changes: Any) -> RatedVariant:
    values: dict[str, Any] = {
        "rules": "classic",
        "rating": 1712,
        "deviation": 180,
        "is_provisional": False,
        "place": 1,
        "rounds": 31,
        "wins": 20,
        "draws": 1,
        "streak": 4,
        "best_streak": 6,
        "near_misses": 3,
        "left": 1,
        "best_direct": 33,
        "best_ms": 245_600,
        "last_day": "2026-11-24",
    }
    return RatedVariant(**(values | changes))


def test_a_leaderboard_is_a_table() -> None:
    assert list(describe_leaderboard(board())) == [
        "classic: 2 players",
        "     player           rating   +-  rounds   won  streak",
        " 1.  ann                1712  180      31  65 %   4 won",
        "12.  bob_the_builder     998  201     140   5 %  3 lost",
    ]


@pytest.mark.parametrize(("columns", "heads"), [(50, 5), (45, 4), (38, 3)])
def test_a_narrow_leaderboard_leaves_out_what_matters_least(columns: int, heads: int) -> None:
    lines = list(describe_ranks(board(), columns))
    assert len(lines[0].split()) == heads
    assert max(map(len, lines)) <= columns


def test_a_standing_names_the_rating_and_the_score_against_the_other_player() -> None:
    pair = PairVariant(rules="classic", wins=(3, 2), draws=1, direct=(40, 38), last_day="2026-11-24")
    page = PlayerPage(name="ann", ratings=(rated(),), against="bob", pairs=(pair,))
    assert describe_standing(page, "classic") == "ann, classic: 1712 +- 180, place 1; against bob: 3 : 2, 1 drawn."


def test_a_standing_without_a_rated_round_in_the_variant_is_not_there() -> None:
    assert describe_standing(PlayerPage(name="ann", ratings=(rated(),)), "senior") == ""


async def test_a_server_is_not_asked_for_the_rating_of_a_race_against_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_cli.text.ratings.RATING_WAITS_SECONDS", (0.0,))
    scene = staged.finished().model().scene
    assert scene is not None
    against_bot = scene.model_copy(
        update={"seats": (scene.seats[0], scene.seats[1].model_copy(update={"name": "bot-club"}))}
    )
    assert [each async for each in standings_after_match("no address", against_bot, 0)] == []


def test_a_leaderboard_of_longest_names_fits_80_columns() -> None:
    longest = RankedPlayer(
        place=999_999, name="x" * 20, rating=2400, deviation=250, rounds=10**6, wins=10**6, draws=0, streak=10**6
    )
    assert max(map(len, describe_leaderboard(board(players=(longest,))))) <= 80


def test_a_leaderboard_with_further_pages_says_how_to_see_them() -> None:
    assert list(describe_leaderboard(board(pages=3)))[-1] == "More with --page 1"


def test_an_empty_leaderboard_says_what_it_takes_to_stand_there() -> None:
    [line] = describe_leaderboard(board(total=0, players=()))
    assert line == "No established rating in classic yet: it takes some 17 rounds against people."


def test_a_page_behind_the_last_one_is_named_as_such() -> None:
    assert list(describe_leaderboard(board(page=4, players=()))) == ["There is no such page; the last one is --page 0."]


def test_a_player_is_described_by_variant() -> None:
    assert list(describe_player(PlayerPage(name="ann", ratings=(rated(),)))) == [
        "ann, classic: 1712 +- 180, place 1",
        "    31 rounds: 20 won (65 %), 10 lost, 1 drawn; last on 2026-11-24",
        "    streak: 4 won; best: 6 won; near misses: 3",
        "    best time for all cards: 4:06; best direct score: 33; left early: 1",
    ]


def test_a_single_round_is_a_round() -> None:
    page = PlayerPage(name="ann", ratings=(rated(rounds=1, wins=1, draws=0),))
    assert list(describe_player(page))[1] == "    1 round: 1 won (100 %), 0 lost, 0 drawn; last on 2026-11-24"


def test_a_provisional_rating_has_a_mark() -> None:
    page = PlayerPage(name="ann", ratings=(rated(is_provisional=True, place=None, best_ms=None),))
    lines = list(describe_player(page))
    assert lines[0] == "ann, classic: 1712? +- 180, provisional"
    assert lines[3].startswith("    best time for all cards: -;")


def test_a_player_without_rated_rounds_is_told_why() -> None:
    assert list(describe_player(PlayerPage(name="ann", ratings=()))) == [
        "ann has no rated round here. Rounds against bots are not rated."
    ]


def test_the_score_of_two_players_follows() -> None:
    pair = PairVariant(rules="classic", wins=(3, 1), draws=1, direct=(100, 80), last_day="2026-11-24")
    page = PlayerPage(name="ann", ratings=(), against="bob", pairs=(pair,))
    assert list(describe_player(page))[-2:] == [
        "ann against bob:",
        "    classic: 3 : 1, 1 drawn; direct score 100 : 80; last on 2026-11-24",
    ]


def test_two_players_who_never_met_are_told_so() -> None:
    page = PlayerPage(name="ann", ratings=(), against="bob")
    assert list(describe_player(page))[-1] == "ann and bob have no rated round against each other."


async def test_the_leaderboard_of_a_server_is_fetched(server_url: str, redis: Redis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), *((0, 0, 1) * 9))
    found = await asyncio.to_thread(fetch_leaderboard, server_url, "classic", 0)
    assert [each.name for each in found.players] == ["ann", "bob"]


async def test_the_page_of_a_player_is_fetched(server_url: str, redis: Redis) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("ann", "bob"), 0)
    found = await asyncio.to_thread(fetch_player, server_url, "ann", "bob")
    assert (found.name, found.against, len(found.pairs)) == ("ann", "bob", 1)


async def test_the_sentence_of_the_server_is_the_reason(server_url: str) -> None:
    with pytest.raises(PageUnreadable, match=r"Nobody is known by the name nobody\."):
        await asyncio.to_thread(fetch_player, server_url, "nobody", None)


def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(PageUnreadable, match="No server answers at ws:"):
        fetch_leaderboard("ws://127.0.0.1:1", "classic", 0)
