"""The leaderboard and the pages of players in a browser, with what they say where there is nothing to show."""

from contextlib import aclosing

import pytest

from fairest_server.store.redis.clients import make_client
from tests.support.browser import Browser
from tests.support.processes import Fleet
from tests.support.rated_players import add_players, rate_rounds

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def rate(fleet: Fleet) -> None:
    """Let ann be better than bob by many rounds."""
    async with aclosing(make_client(fleet.redis_url)) as redis:
        await add_players(redis, "ann", "bob")
        for _ in range(10):
            await rate_rounds(redis, ("ann", "bob"), 0, 0, 1)


async def test_the_leaderboard_leads_to_a_player_and_to_the_score_against_another(
    browser: Browser, fleet: Fleet
) -> None:
    await rate(fleet)
    page = await browser.open(await fleet.start(), "/ratings")
    rows = page.locator("tbody tr")
    await rows.nth(1).wait_for()
    assert [await rows.nth(place).locator("td").first.inner_text() for place in (0, 1)] == ["ann", "bob"]
    await page.click("tbody a >> text=ann")
    await page.wait_for_selector("caption >> text=Ratings of ann")
    await page.fill("form input", "bob")
    await page.click("form button")
    await page.wait_for_selector("caption >> text=Rounds of ann against bob")
    cells = page.locator("table").nth(1).locator("td")
    assert await cells.first.inner_text() == "20 : 10"
    assert " : " in await cells.nth(2).inner_text()
    await page.wait_for_selector("thead >> text=left early")
    await browser.check(page)


async def test_another_variant_is_chosen_by_the_form(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/ratings")
    await page.select_option("form select", "senior")
    await page.click("form button.main")
    await page.wait_for_selector("text=No established rating in senior yet")
    await browser.check(page)


@pytest.mark.parametrize("name", ["%3Cimg%20src=x%20onerror=alert(1)%3E", "..%2f..%2fkey", "%F0%9F%82%A1"])
async def test_a_name_that_is_none_is_a_text_and_nothing_more(browser: Browser, fleet: Fleet, name: str) -> None:
    page = await browser.open(await fleet.start(), f"/p/{name}")
    await page.wait_for_selector("text=A name has 2 to 20 letters, digits, _ or -")
    assert await page.locator("main img").count() == 0
    assert await page.evaluate("violations") == []


async def test_a_name_that_leads_to_nobody_is_said(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/p/nobody")
    await page.wait_for_selector("text=Nobody is known by the name nobody.")
