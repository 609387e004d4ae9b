"""A request of the page that the server could not take is sent again, without another key press."""

import asyncio
import json
import re
from collections.abc import Callable

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_protocol.messages.from_client import Join
from tests.page.test_browser import create_room
from tests.support.bots import bot
from tests.support.browser import Browser
from tests.support.processes import Fleet

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

Lose = Callable[[WebSocketRoute], None]


class Loss:
    """A line to the server on which the first request of a kind is lost: `how` says in which way."""

    def __init__(self, kind: str, how: Lose) -> None:
        self.kind = kind
        self.sent = 0
        self._how = how

    @property
    def is_sent_again(self) -> bool:
        """Whether the request came again. A server on a busy machine may refuse one more, which is sent again, too."""
        return self.sent > 1

    def meet(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def carry(text: str | bytes) -> None:
            if json.loads(text)["type"] == self.kind:
                self.sent += 1
                if self.sent == 1:
                    self._how(route)
                    return
            server.send(text)

        route.on_message(carry)


def refuse(kind: str, code: str) -> Lose:
    """Answer with a refusal that asks to send the request again."""
    answer = {"type": "refused", "to": kind, "code": code, "sentence": "Not now.", "number": None}
    return lambda route: route.send(json.dumps(answer))


def drop(route: WebSocketRoute) -> None:
    """End the connection."""
    asyncio.ensure_future(route.close(code=1011))  # noqa: RUF006 - it ends with the browser


async def open_behind(browser: Browser, url: str, loss: Loss) -> tuple[Page, str]:
    """Create a room on a page behind this line; return the page and the room's code."""
    page = await browser.blank()
    await page.route_web_socket(re.compile("."), loss.meet)
    await page.goto(url.replace("ws", "http", 1))
    return page, await create_room(page)


async def race_to_the_end(page: Page, url: str, room: str) -> None:
    """Get ready by one key press, race against a bot, stop, and wait for the proof."""
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await page.wait_for_selector("button.main >> text=Ready")
        await page.keyboard.press("Enter")
        for text in ("Stop my race", "Press again"):
            await page.click(f"text={text}")
        await page.wait_for_selector("p.right >> text=The record was checked")


@pytest.mark.parametrize("kind", ["ready", "reveal"])
@pytest.mark.parametrize("code", ["try_again", "in_doubt"])
async def test_a_request_that_is_refused_for_now_is_sent_again(
    browser: Browser, fleet: Fleet, kind: str, code: str
) -> None:
    url, loss = await fleet.start(), Loss(kind, refuse(kind, code))
    page, room = await open_behind(browser, url, loss)
    await race_to_the_end(page, url, room)
    assert loss.is_sent_again
    await browser.check(page)


@pytest.mark.parametrize("kind", ["ready", "reveal"])
async def test_a_request_that_was_lost_with_its_connection_is_sent_again(
    browser: Browser, fleet: Fleet, kind: str
) -> None:
    url, loss = await fleet.start(), Loss(kind, drop)
    page, room = await open_behind(browser, url, loss)
    await race_to_the_end(page, url, room)
    assert loss.is_sent_again
    await browser.check(page)


async def test_a_wish_for_a_rematch_that_is_refused_for_now_is_sent_again(browser: Browser, fleet: Fleet) -> None:
    url, loss = await fleet.start(), Loss("rematch", refuse("rematch", "try_again"))
    page, room = await open_behind(browser, url, loss)
    await race_to_the_end(page, url, room)
    await page.keyboard.press("r")
    await page.wait_for_selector("text=You want a rematch")
    assert loss.is_sent_again
    await browser.check(page)


async def test_leaving_that_is_refused_for_now_is_tried_again(browser: Browser, fleet: Fleet) -> None:
    url, loss = await fleet.start(), Loss("leave", refuse("leave", "try_again"))
    page, _ = await open_behind(browser, url, loss)
    await page.click("text=Leave")
    await page.wait_for_selector("text=You have left the room")
    assert loss.is_sent_again
    await browser.check(page)
