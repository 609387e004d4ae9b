"""The ratings on the full screen: the leaderboard of each variant, the pages of players, and the own new rating."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.tui.launch import AtHome
from fairest_cli.tui.screens.ratings import NO_NAME, RatingsScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.text_page import TextPage
from fairest_protocol.calculation.moves import STOP
from tests.client.tui.test_full_screen import racing
from tests.support.full_screen import terminal
from tests.support.long_tests import parametrize_with_long
from tests.support.ports import free_port
from tests.support.rated_players import add_players, rate_rounds

pytestmark = pytest.mark.usefixtures("home")

ROUNDS = (0, 0, 1) * 9


@parametrize_with_long("size", [(50, 16), (80, 24)], quick=1, ids=str)
async def test_home_leads_to_the_leaderboard(server_url: str, redis: Redis, home: Path, size: tuple[int, int]) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS)
    async with terminal(AtHome(server_url), home, columns=size[0], lines=size[1]) as player:
        await player.press("a")
        await player.sees("1.  bob")
        assert "2.  ann" in player.text and "\u2026" not in player.text


@pytest.mark.long
async def test_left_and_right_choose_the_variant(server_url: str, redis: Redis, home: Path) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS, rules="easy")
    async with terminal(AtHome(server_url), home) as player:
        await player.press("a")
        await player.sees("Nobody has an established rating in classic yet")
        await player.press("right")
        await player.sees("1.  bob")
        await player.press("left")
        await player.sees("Nobody has an established rating in classic yet")


@pytest.mark.long
async def test_a_player_of_the_list_is_compared_with_us(server_url: str, redis: Redis, home: Path) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS)
    (home / "settings.json").write_text('{"name": "ann"}')
    async with terminal(AtHome(server_url), home) as player:
        await player.press("a")
        await player.sees("1.  bob")
        await player.press("enter")
        await player.is_on(TextPage)
        await player.sees("bob against ann:")


@pytest.mark.long
async def test_the_own_page_is_one_key_away(server_url: str, redis: Redis, home: Path) -> None:
    await add_players(redis, "ann", "bob")
    await rate_rounds(redis, ("bob", "ann"), *ROUNDS)
    (home / "settings.json").write_text('{"name": "ann"}')
    async with terminal(AtHome(server_url), home) as player:
        await player.press("a", "y")
        await player.is_on(TextPage)
        await player.sees("ann, classic: ")
        await player.press("escape")
        await player.is_on(RatingsScreen)


async def test_a_player_without_a_name_is_told_where_to_choose_one(server_url: str, home: Path) -> None:
    async with terminal(AtHome(server_url), home) as player:
        await player.press("a")
        await player.sees("Nobody has")
        await player.press("y")
        await player.sees(NO_NAME[:40])


async def test_without_a_server_the_screen_says_so(home: Path) -> None:
    async with terminal(AtHome(f"ws://127.0.0.1:{free_port()}"), home) as player:
        await player.press("a")
        await player.sees("No server answers")


async def test_the_result_shows_the_new_rating(server_url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairest_cli.text.ratings.RATING_WAITS_SECONDS", (0.1,) * 100)
    async with racing(server_url, home, name="ann") as (player, rival):
        await player.session.play(STOP)
        await rival.play("stop")
        await player.is_on(ResultScreen)
        await player.sees("ann, classic: ")
