"""axe finds nothing on any page, light, dark and on a telephone, and no page breaks its own policy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Page
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.tournaments import CreateTournament
from tests.page.conftest import needed_browser
from tests.page.test_identity import file_of, new_player, open_as
from tests.page.test_ratings import rate
from tests.page.test_tournament_player import end_race, open_cup, playing, start
from tests.support.axe import violations
from tests.support.bots import bot, start_match
from tests.support.browser import Browser, get_ready
from tests.support.daily import LONG_AGO, deal_today, long_ago_moves, open_long_ago
from tests.support.processes import Fleet
from tests.support.tournaments import entrant, play_a_cup

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "telephone": {"color_scheme": "dark", "viewport": {"width": 320, "height": 640}, "has_touch": True},
    "projector": {"color_scheme": "light", "viewport": {"width": 1920, "height": 1080}},
}
LISTED = RoomOptions(countdown_seconds=0, listed=True)


@pytest.fixture(params=LOOKS)
async def looking(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """Yield a browser for each way in which a page is looked at."""
    async with needed_browser(**LOOKS[request.param]) as started:
        yield started


async def check(browser: Browser, page: Page) -> None:
    """Raise AssertionError for what axe finds, for faults of scripts, and for a page that is wider than its window."""
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await browser.check(page)


async def test_the_pages_without_a_race_are_for_everybody(looking: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), LISTED, seed=8, spectators=0)
    await match.end()
    record = match.players[0].record
    assert record is not None
    async with asyncio.TaskGroup() as waiting:
        host = bot(url, Create(options=LISTED))
        task = waiting.create_task(host.race())
        room = await host.connection.entered()
        shown = {
            "/": f"a[href='/r/{room}?join']",
            "/m": f"a[href='/m/{record.match_id}']",
            "/practice": ".slot.stock",
            "/tv": "text=Looking for a race",
            "/me": "text=This browser has no player here yet",
            "/ratings": "text=No established rating",
            f"/p/{record.names[0]}": ".more a",
            f"/r/{room}": ".end input",
            f"/m/{record.match_id}": ".verdict.right",
        }
        for path, selector in shown.items():
            page = await looking.open(url, path)
            await page.wait_for_selector(selector)
            await check(looking, page)
            await page.close()
        task.cancel()


async def test_ratings_and_the_queue_are_for_everybody(looking: Browser, fleet: Fleet) -> None:
    await rate(fleet)
    url = await fleet.start()
    for path, selector in {"/ratings": "tbody tr", "/p/ann?against=bob": "table >> nth=1"}.items():
        page = await looking.open(url, path)
        await page.wait_for_selector(selector)
        await check(looking, page)
        await page.close()
    page = await looking.open(url)
    await page.click("form.quick button.main")
    await page.wait_for_selector("text=Nobody else waits yet.")
    await check(looking, page)


async def test_the_daily_deal_is_for_everybody(looking: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(5))
    await deal_today(redis, url)
    page = await looking.open(url, f"/today?day={LONG_AGO.day}")
    await page.wait_for_selector(".proof li")
    await check(looking, page)
    await page.click("tbody >> text=Replay and proof")
    await page.click("text=Analyse the race")
    await page.wait_for_selector("text=The race is analysed.")
    await check(looking, page)
    page = await looking.open(url, "/today")
    await page.click("text=Begin my attempt")
    await page.wait_for_selector("button.slot.stock")
    await check(looking, page)
    for text in ("End my attempt", "Press again"):
        await page.click(f"text={text}")
    await page.wait_for_selector(".daily-result p")
    await check(looking, page)


async def test_tournaments_are_for_everybody(looking: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)
    shown = {"/t": ".rooms li", f"/t/{code}": ".pairs .result", "/t/quiet-amber-otter": "text=There is no tournament"}
    for path, selector in shown.items():
        page = await looking.open(url, path)
        await page.wait_for_selector(selector)
        await check(looking, page)
        await page.close()


async def test_the_page_of_the_player_is_for_everybody(looking: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await open_as(looking, url, await new_player(url, "ann"), "/")
    await page.click("form.create button.main")
    await page.wait_for_selector(".end input")
    for path in ("/", "/me"):
        await page.click(f"nav a[href='{path}']")
        await page.wait_for_selector(".own-seats a")
        await check(looking, page)
    await page.click("text=Show as text")
    await page.fill("form.import textarea", file_of(url, await new_player(url, "bob")))
    await page.click("text=Bring it here")
    await page.wait_for_selector("text=Keep my player")
    await check(looking, page)
    await page.click("text=Renew my token")
    await page.wait_for_selector("text=You have a new token.")
    await check(looking, page)


async def test_a_tournament_is_for_every_player(looking: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await looking.open(url, "/t")
    await check(looking, page)
    async with open_cup(looking, url) as (page, bob, _):
        await check(looking, page)
        await start(page)
        await check(looking, page)
        await page.click("button.main >> text=Ready")
        async with playing(bob):
            await page.wait_for_selector("button.slot.stock")
            await page.click("[data-slot='s']")
            await check(looking, page)
            await end_race(page)
            await page.wait_for_selector("text=Won by ")
        await page.click(".side-of:has-text('ann') >> text=replay")
        await page.wait_for_selector("text=What this browser was shown")
        await check(looking, page)
    async with AsyncExitStack() as stack:
        carol = entrant(url, "carol")
        stack.push_async_callback(carol.close)
        code = (await carol.enter(CreateTournament())).code
        other = await stack.enter_async_context(needed_browser())
        page = await other.open(url, f"/t/{code}")
        await page.wait_for_selector("form.enter input")
        await check(other, page)


async def test_a_race_and_its_result_are_for_everybody(looking: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await looking.open(url)
    await page.click("form.create button.main")
    link = await page.locator(".end input").input_value()
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=link.rpartition("/")[2]), seed=3, pace_seconds=0.05).race())
        await page.wait_for_selector("button.main >> text=Ready")
        await check(looking, page)
        await get_ready(page)
        await page.wait_for_selector("button.slot.stock")
        await page.wait_for_selector("text=Stop my race")
        await page.click("[data-slot='s']")
        await check(looking, page)
        for text in ("Stop my race", "Press again"):
            await page.click(f"text={text}")
        await page.wait_for_selector("p.right >> text=The record was checked")
    await check(looking, page)
