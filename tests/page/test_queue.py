"""A quick race on the page: waiting, cancelling, being paired, and what the race changes in the ratings."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from fairest_cli.bots.levels import Level
from tests.page.conftest import needed_browser
from tests.support.browser import Browser, get_ready
from tests.support.house import house_process
from tests.support.processes import Fleet

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def wait_in_queue(browser: Browser, url: str, name: str, rival: str = "", level: str = "") -> Page:
    """Ask for an opponent, and for a rival after `rival` seconds, with the form of the lobby; return the page."""
    page = await browser.open(url)
    await page.fill("form.quick input", name)
    await page.select_option("form.quick select.rival", rival)
    if rival:
        await page.select_option("form.quick select.level", level)
    await page.click("form.quick button.main")
    return page


async def stop_race(page: Page) -> None:
    for text in ("Stop my race", "Press again"):
        await page.click(f"text={text}")


async def test_two_who_want_a_quick_race_meet_and_see_their_ratings(fleet: Fleet) -> None:
    url = await fleet.start()
    async with needed_browser() as one, needed_browser() as other:
        ann = await wait_in_queue(one, url, "ann")
        await ann.wait_for_selector("text=Nobody else waits yet.")
        await ann.wait_for_selector(".waiting .clock >> text=waited")
        bob = await wait_in_queue(other, url, "bob")
        for page in (ann, bob):
            await get_ready(page)
        assert ann.url == bob.url
        for page in (ann, bob):
            await page.wait_for_selector("text=Stop my race")
        await ann.click("[data-slot='s']")
        await ann.click("[data-slot='a']")
        await stop_race(ann)
        await stop_race(bob)
        for browser, page, opponent in ((one, ann, "bob"), (other, bob, "ann")):
            await page.wait_for_selector("p.rating >> text=Your rating: ")
            await page.wait_for_selector(f"p.rating >> text=/Rounds against {opponent}: [01] : [01]/")
            await browser.check(page)
        player = await one.open(url, "/p/ann?against=bob")
        await player.wait_for_selector("table >> text=classic")
        assert await player.locator("table").count() == 2
        await one.check(player)


async def test_a_player_who_waits_can_stop_waiting(browser: Browser, fleet: Fleet) -> None:
    page = await wait_in_queue(browser, await fleet.start(), "ann")
    await page.click("text=Stop waiting")
    await page.wait_for_selector("text=You wait no longer.")
    assert await page.locator("text=Stop waiting").count() == 0
    await browser.check(page)


async def test_a_second_tab_takes_the_place_in_the_queue(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    first = await wait_in_queue(browser, url, "ann")
    await first.wait_for_selector("text=Nobody else waits yet.")
    second = await wait_in_queue(browser, url, "")
    await first.wait_for_selector("text=Another page or client of yours waits")
    await second.wait_for_selector("text=Nobody else waits yet.")
    await browser.check(first)


async def test_a_player_whose_server_is_killed_waits_again(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await wait_in_queue(browser, url, "ann")
    await page.wait_for_selector("text=Nobody else waits yet.")
    await fleet.kill(url)
    await page.wait_for_selector(".waiting .clock >> text=The connection is lost")
    await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
    await page.wait_for_selector(".waiting .clock >> text=waited")
    await browser.check(page)


async def test_the_page_offers_the_levels_of_the_house(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start())
    offered = "(options) => options.map(({ value }) => value)"
    levels = await page.eval_on_selector_all("form.quick select.level option", offered)
    assert levels == ["", *Level]
    assert await page.input_value("form.quick select.rival") == "60"


async def test_a_player_who_waits_is_told_when_a_program_may_come(browser: Browser, fleet: Fleet) -> None:
    page = await wait_in_queue(browser, await fleet.start(), "ann", rival="300")
    await page.wait_for_selector(".rival-due >> text=A program may take the other seat in")


async def test_a_player_whom_nobody_joins_races_a_rival_of_the_house(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    async with house_process(url, tmp_path / "house"):
        page = await wait_in_queue(browser, url, "ann", rival="20", level="careless")
        await page.wait_for_selector(".seat-list >> text=bot-careless", timeout=120_000)
        await page.click("button.main >> text=Ready")
        await page.wait_for_selector("text=Stop my race")
        await stop_race(page)
        await page.wait_for_selector("text=The record was checked", timeout=120_000)
        await browser.check(page)


async def test_two_meet_of_whom_one_is_alone_in_a_room_without_a_house(fleet: Fleet) -> None:
    url = await fleet.start()
    async with needed_browser() as one, needed_browser() as other:
        ann = await wait_in_queue(one, url, "ann", rival="20")
        await ann.wait_for_selector(".seat-list >> text=ann", timeout=60_000)
        bob = await wait_in_queue(other, url, "bob")
        for page in (ann, bob):
            await get_ready(page)
        assert ann.url == bob.url


async def test_a_player_whose_server_is_killed_behind_an_open_room_waits_again(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await wait_in_queue(browser, url, "ann", rival="20")
    await page.wait_for_selector(".seat-list >> text=ann", timeout=60_000)
    await fleet.kill(url)
    await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
    await page.wait_for_selector("text=Nobody came into the room. You wait in the queue again.")
    await page.wait_for_selector(".waiting .clock >> text=waited")
    await browser.check(page)
