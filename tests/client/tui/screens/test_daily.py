"""The daily deal on the full screen: raced by keys on a real server, left, and come back to."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from fairest_cli.model import drand_beacon
from fairest_cli.tui.launch import AtHome, InDaily
from fairest_cli.tui.screens.daily import DailyScreen
from fairest_cli.tui.screens.daily_form import DailyForm, describe_terms
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.practice_menu import DailyMenu
from fairest_cli.tui.screens.text_page import TextPage
from fairest_cli.tui.widgets.choice_list import ChoiceList
from fairest_protocol.calculation.daily import DAY_MS, day_start_ms
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.rules import VARIANTS, choose_rules
from tests.client.tui.test_forms import in_one_line
from tests.support.daily import announce_by_drand, deal_today
from tests.support.drand import NETWORK
from tests.support.full_screen import Terminal, terminal
from tests.support.long_tests import parametrize_with_long

pytestmark = pytest.mark.usefixtures("home")
CLASSIC = choose_rules("classic")
NOWHERE = "ws://127.0.0.1:9"
"""An address without a server."""


def moves_of(player: Terminal) -> int:
    screen = player.app.screen
    assert isinstance(screen, DailyScreen)
    return 0 if screen.game is None else screen.game.own.moves


async def has_made(player: Terminal, count: int) -> None:
    await player.until(lambda: moves_of(player) == count)


async def begun(player: Terminal) -> DailyScreen:
    screen = await player.is_on(DailyScreen)
    await player.until(lambda: screen.game is not None)
    return screen


@parametrize_with_long(("columns", "lines"), [(80, 24), (120, 40), (50, 16)], quick=1)
async def test_an_attempt_is_raced_by_keys_and_stopped(
    server_url: str, redis: Redis, tmp_path: Path, columns: int, lines: int
) -> None:
    await deal_today(redis, server_url)
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path, columns=columns, lines=lines) as player:
        screen = await begun(player)
        for number, pile in enumerate("abc", 1):
            await player.make(MOVES[f"s{pile}"])
            await has_made(player, number)
        await player.press("escape")
        await player.is_on(DailyMenu)
        await player.press("down", "enter")
        await player.until(lambda: screen.game is not None and screen.game.result is not None)
        await player.sees("Rank 1 of 1 so far.")


@pytest.mark.long
async def test_keys_that_come_ahead_of_the_answer_are_played_in_their_order(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        screen = await begun(player)
        await player.press("a", "b", "c", "d")
        await player.until(lambda: moves_of(player) == 4)
        assert screen.game is not None
        assert [len(pile) for pile in screen.game.board.piles] == [1, 1, 1, 1]


@pytest.mark.long
async def test_a_program_that_is_started_again_comes_back_to_the_attempt(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    for expected in (0, 1):
        async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
            await begun(player)
            assert moves_of(player) == expected
            await player.make(MOVES["sa"])
            await has_made(player, expected + 1)


@pytest.mark.long
async def test_a_deal_that_the_chain_of_rounds_contradicts_is_an_alarm(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    for key in [key async for key in redis.scan_iter("fairest:{0}:daily:deal:*")]:
        await redis.hset(key, "beacon", f"1 {'00' * 32}")
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        await player.is_on(TextPage)
        await player.sees("THE SEAL IS BROKEN")


async def test_a_server_without_daily_deals_says_so(server_url: str, tmp_path: Path) -> None:
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        await player.sees("There is no daily deal")
        await player.press("escape")
        await player.is_on(HomeScreen)


async def begun_attempts(redis: Redis) -> int:
    """Count the attempts at today's and tomorrow's deals of all variants that the server knows of."""
    counts = [int(await redis.hlen(key)) async for key in redis.scan_iter("fairest:{0}:daily:attempts:*")]
    return sum(counts)


@pytest.mark.long
async def test_home_begins_no_attempt_before_enter(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.is_on(DailyForm)
        await player.press("escape")
        await player.is_on(HomeScreen)
        assert await begun_attempts(redis) == 0


@pytest.mark.long
async def test_enter_in_the_form_begins_the_attempt(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.is_on(DailyForm)
        await player.press("enter")
        await begun(player)
        assert await begun_attempts(redis) == 1


@pytest.mark.long
async def test_the_form_begins_the_chosen_variant(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url, "easy")
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        form = await player.is_on(DailyForm)
        choices = form.query_one(ChoiceList)
        await player.press("down", *["right"] * list(VARIANTS).index("easy"), "up")
        assert choices.value("rules") == "easy"
        await player.press("enter")
        assert (await begun(player)).game.rules.name == "easy"  # type: ignore[union-attr]


@parametrize_with_long(("columns", "lines"), [(50, 16), (80, 24), (120, 40)], quick=1)
async def test_the_form_says_which_deal_it_is_and_that_there_is_one_attempt(
    tmp_path: Path, columns: int, lines: int
) -> None:
    at_ms = day_start_ms("2026-11-24") + 1
    async with terminal(AtHome(NOWHERE), tmp_path, columns=columns, lines=lines, clock=lambda: at_ms) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.is_on(DailyForm)
        await player.until(lambda: describe_terms("2026-11-24", CLASSIC) in in_one_line(player))
        assert "20 minutes" in describe_terms("2026-11-24", CLASSIC)
        assert f"{CLASSIC.goal} cards to place" in player.text


@pytest.mark.long
async def test_a_form_that_is_open_at_midnight_names_the_new_day(tmp_path: Path) -> None:
    at_ms = day_start_ms("2026-11-24")
    async with terminal(AtHome(NOWHERE), tmp_path, clock=lambda: at_ms) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.sees("Daily deal of 2026-11-24")
        at_ms += DAY_MS
        await player.sees("Daily deal of 2026-11-25")


@pytest.mark.long
async def test_the_form_shows_yesterdays_table_without_an_attempt(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.is_on(DailyForm)
        await player.press("down", "down", "enter")
        await player.is_on(TextPage)
        await player.sees("There is no daily deal of classic")
        await player.press("escape")
        await player.is_on(DailyForm)
        assert await begun_attempts(redis) == 0


@pytest.mark.long
async def test_home_goes_on_with_an_attempt_under_way_without_a_question(
    server_url: str, redis: Redis, tmp_path: Path
) -> None:
    await deal_today(redis, server_url, "easy")
    async with terminal(InDaily(choose_rules("easy"), server_url, "ann"), tmp_path) as player:
        await begun(player)
        await player.make(MOVES["sa"])
        await has_made(player, 1)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await begun(player)
        assert moves_of(player) == 1


@pytest.mark.long
async def test_the_form_leads_back_to_an_attempt_that_is_over(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        screen = await begun(player)
        await player.press("escape", "down", "enter")
        await player.until(lambda: screen.game is not None and screen.game.result is not None)
    async with terminal(AtHome(server_url, "ann"), tmp_path) as player:
        await player.is_on(HomeScreen)
        await player.press("y")
        await player.sees("Back to your attempt")
        await player.press("enter")
        await player.sees("Rank 1 of 1")


@pytest.mark.long
async def test_the_menu_of_an_attempt_shows_yesterdays_table(server_url: str, redis: Redis, tmp_path: Path) -> None:
    await deal_today(redis, server_url)
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        await begun(player)
        await player.press("escape")
        await player.is_on(DailyMenu)
        await player.press("down", "down", "enter")
        await player.is_on(TextPage)
        await player.sees("There is no daily deal of classic")


async def test_without_an_attempt_escape_leaves_at_once(server_url: str, tmp_path: Path) -> None:
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        await player.is_on(DailyScreen)
        await player.sees("Esc back")
        await player.press("escape")
        await player.is_on(HomeScreen)


@pytest.mark.long
async def test_the_notice_of_a_deal_by_drand_begins_with_its_beacon(
    server_url: str, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drand_beacon, "NETWORK", NETWORK)
    await deal_today(redis, server_url, announce=announce_by_drand, by_drand=True)
    async with terminal(InDaily(CLASSIC, server_url, "ann"), tmp_path) as player:
        await begun(player)
        await player.sees("Beacon: drand round ")
        await player.sees("The commitment is entry 1 of")
