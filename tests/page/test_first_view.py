"""The room that the markup brings is drawn before the connection is there, and the connection takes over from it."""

import asyncio

import pytest
from playwright.async_api import Page

from fairest_protocol.messages.from_client import Join, Watch
from fairest_protocol.messages.options import Spectators
from tests.page.test_browser import QUICK, create_room, labels, piles_of
from tests.support.bots import bot
from tests.support.browser import Browser, get_ready
from tests.support.processes import Fleet
from tests.support.wire_client import open_client, racing_players

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def hold_sockets(page: Page) -> None:
    """Let the page open its WebSocket and hear nothing from it."""
    await page.route_web_socket("**/*", lambda _: None)


async def test_the_boards_of_a_spectator_are_drawn_without_a_connection(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, second), open_client(url) as spectator:
        for move in ("sa", "sb", "sc"):
            await first.play(move)
        await second.play("sa")
        await spectator.enter(Watch(room=first.room))
        page = await browser.blank()
        await hold_sockets(page)
        await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/r/{first.room}")
        await page.wait_for_selector("section[aria-busy] >> text=Connecting")
        assert spectator.scene is not None
        for seat, each in enumerate(spectator.scene.seats):
            assert each.board is not None
            assert await labels(page, seat, "pile") == piles_of(each.board)
        await browser.check(page)


async def test_the_connection_goes_on_with_the_boards_that_are_drawn(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, second):
        await first.play("sa")
        await second.play("sa")
        page = await browser.blank()
        await page.add_init_script(
            "new MutationObserver((_, self) => { window.firstSlot ??= document.querySelector('.slot.pile'); })"
            ".observe(document, { subtree: true, childList: true });"
        )
        await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/r/{first.room}")
        await page.wait_for_selector("section.room:not([aria-busy]) .clock >> text=left")
        for move in ("sb", "sc"):
            await first.play(move)
            await second.play(move)
        await page.wait_for_selector(".seat-1 [data-slot='c'] small >> text=1")
        assert await page.evaluate("firstSlot.isConnected")
        await browser.check(page)


async def test_a_player_who_loads_the_page_again_sees_no_board_but_the_own_one(browser: Browser, fleet: Fleet) -> None:
    """Spectators see less of it than the player has placed."""
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        racing = races.create_task(bot(url, Join(room=room), seed=3, pace_seconds=60).race())
        await get_ready(page)
        await page.wait_for_selector("text=Stop my race")
        await page.keyboard.press("b")
        await page.wait_for_selector(".seat-0 [data-slot='b'] small >> text=1")
        again = await browser.blank()
        await hold_sockets(again)
        answer = await again.goto(page.url)
        assert answer is not None
        assert '"snapshot"' in await answer.text()
        await again.wait_for_selector("section[aria-busy] >> text=Connecting")
        assert await again.locator(".slot").count() == 0
        racing.cancel()
    await browser.check(again)


async def test_a_room_that_is_closed_to_spectators_is_not_drawn(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    options = QUICK.model_copy(update={"spectators": Spectators.CLOSED})
    async with racing_players(url, options=options) as (first, _):
        page = await browser.open(url, f"/r/{first.room}")
        await page.wait_for_selector("text=do not want to be watched")
        assert await page.locator(".slot").count() == 0
