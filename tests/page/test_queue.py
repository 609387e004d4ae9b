"""A quick race on the page: waiting, cancelling, being paired, and what the race changes in the ratings."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_cli.bots.levels import Level
from fairest_protocol.messages.from_client import Leave, Queue
from fairest_protocol.messages.from_server import Snapshot
from tests.page.conftest import needed_browser
from tests.support.browser import Browser, get_ready
from tests.support.house import house_process
from tests.support.processes import Fleet
from tests.support.wire_client import WireClient, open_client

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def wait_in_queue(browser: Browser, url: str, name: str, rival: str = "", level: str = "") -> Page:
    """Ask for an opponent, and for a rival after `rival` seconds, with the form of the lobby; return the page."""
    page = await browser.open(url)
    await ask_for_opponent(page, name, rival, level)
    return page


async def ask_for_opponent(page: Page, name: str, rival: str = "", level: str = "") -> None:
    await page.fill("form.quick input", name)
    await page.select_option("form.quick select.rival", rival)
    if rival:
        await page.select_option("form.quick select.level", level)
    await page.click("form.quick button.main")


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


async def race_from_queue(page: Page, rival: WireClient) -> None:
    """Bring a page that waits in the queue to the end of a race against a rival on the wire, who resigns."""
    await rival.send(Queue())
    await rival.receive_a(Snapshot)
    await get_ready(page)
    await rival.take_part_in_deal()
    await page.wait_for_selector("text=Stop my race")
    await rival.play("resign")
    await page.wait_for_selector("text=Next opponent")


async def test_one_button_leads_from_a_quick_race_to_the_next(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_client(url) as first, open_client(url) as second:
        page = await wait_in_queue(browser, url, "ann", rival="300", level="club")
        await race_from_queue(page, first)
        room = page.url
        await page.click("text=Next opponent")
        await page.wait_for_selector("text=Nobody else waits yet.")
        await page.wait_for_selector(".rival-due >> text=A program may take the other seat in")
        assert page.url != room
        await race_from_queue(page, second)
        await first.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
        await browser.check(page)


async def test_the_next_opponent_is_one_key_away_after_the_first_has_left(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_client(url) as rival:
        page = await wait_in_queue(browser, url, "ann")
        await race_from_queue(page, rival)
        await rival.send(Leave())
        await page.wait_for_selector("text=Waiting for another player")
        await page.keyboard.press("f")
        await page.wait_for_selector("text=Nobody else waits yet.")
        await browser.check(page)


@pytest.mark.parametrize("is_heard", [False, True])
async def test_a_page_that_is_cut_off_while_leaving_finds_the_next_opponent(
    browser: Browser, fleet: Fleet, is_heard: bool
) -> None:
    url = await fleet.start()
    async with open_client(url) as rival:
        page = await browser.blank()
        cuts = 0

        def meet(route: WebSocketRoute) -> None:
            server = route.connect_to_server()

            def pass_on(text: str | bytes, send: Callable[[str | bytes], None], last: str) -> None:
                """Pass a message on; instead of the first one of the type `last`, end the connection."""
                nonlocal cuts
                if cuts or json.loads(text)["type"] != last:
                    send(text)
                    return
                cuts += 1
                asyncio.ensure_future(route.close(code=1011))  # noqa: RUF006 - it ends with the browser

            def carry(text: str | bytes) -> None:
                pass_on(text, server.send, "" if is_heard else "leave")

            def answer(text: str | bytes) -> None:
                pass_on(text, route.send, "left" if is_heard else "")

            route.on_message(carry)
            server.on_message(answer)

        await page.route_web_socket("**", meet)
        await page.goto(url.replace("ws", "http", 1))
        await ask_for_opponent(page, "ann")
        await race_from_queue(page, rival)
        await page.click("text=Next opponent")
        await page.wait_for_selector("text=Nobody else waits yet.")
        await rival.receive_until(lambda seen: None in [seat.name for seat in seen.seats])
        assert cuts == 1


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
