"""Behind a balancer that looks at paths, a page moves to the process of its room before its player is ready."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_protocol.messages.from_client import Join
from fairest_server.room.events import Attached
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import bot
from tests.support.browser import Browser, get_ready
from tests.support.path_balancer import Fault, PathBalancer, balanced_servers
from tests.support.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


@pytest.fixture
async def balancer(redis_url: str) -> AsyncIterator[PathBalancer]:
    async with balanced_servers(redis_url) as opened:
        yield opened


async def create_room(page: Page) -> str:
    """Create a room with the form of the lobby; return its code."""
    await page.click("form.create button.main")
    link = await page.locator(".end input").input_value()
    return link.rpartition("/")[2]


async def race(page: Page, url: str, room: str) -> None:
    """Let a bot come to this URL, stop the race of the page, and wait for the proof of the record."""
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await get_ready(page)
        for text in ("Stop my race", "Press again"):
            await page.click(f"text={text}")
        await page.wait_for_selector("p.right")


async def connections_given(redis: BatchingRedis, room: str) -> int:
    """Return how many connections were given the first seat."""
    log = await Log(redis).read(room)
    return sum(isinstance(each.event, Attached) and each.event.seat == 0 for each in log)


async def until_moved(redis: BatchingRedis, room: str) -> None:
    async def has_moved() -> bool:
        return await connections_given(redis, room) == 2

    await until(has_moved, "the page has moved")


async def test_a_page_moves_and_races_to_a_proved_result(
    browser: Browser, balancer: PathBalancer, redis: BatchingRedis
) -> None:
    page = await browser.open(balancer.url)
    room = await create_room(page)
    await until_moved(redis, room)
    await race(page, balancer.rooms, room)
    assert await page.locator(".alarm strong").count() == 0
    await browser.check(page)


@pytest.mark.parametrize("fault", [Fault.SILENT, Fault.HELD])
async def test_a_page_that_finds_nobody_at_the_address_stays_and_races(
    browser: Browser, balancer: PathBalancer, fault: Fault
) -> None:
    page = await browser.open(balancer.url)
    balancer.fault = fault
    room = await create_room(page)

    async def has_tried() -> bool:
        return balancer.moves > 0

    await until(has_tried, "the page tries the address of its room")
    await race(page, balancer.rooms, room)
    assert await page.locator(".alarm strong").count() == 0
    await browser.check(page)


def loses_the_request(route: WebSocketRoute) -> None:
    """Let the server at the address of a room hear the greeting, and not the request for the seat."""
    server = route.connect_to_server()
    route.on_message(lambda text: server.send(text) if b"hello" in as_bytes(text) else None)


def loses_the_answer(route: WebSocketRoute) -> None:
    """Let the server give the seat to the new socket, and the page see nothing of it."""
    server = route.connect_to_server()
    server.on_message(lambda text: route.send(text) if b"welcome" in as_bytes(text) else None)


def refuses(route: WebSocketRoute) -> None:
    """Refuse the seat."""
    server = route.connect_to_server()
    answer = '{"type":"refused","to":"resume","code":"try_again","sentence":"Not now.","number":null}'
    route.on_message(lambda text: server.send(text) if b"hello" in as_bytes(text) else route.send(answer))


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


@pytest.mark.parametrize("fault", [loses_the_request, loses_the_answer, refuses])
async def test_a_page_that_is_not_shown_its_seat_races_all_the_same(
    browser: Browser, balancer: PathBalancer, fault: Callable[[WebSocketRoute], None]
) -> None:
    page = await browser.blank()
    tried = asyncio.Event()

    def meet(route: WebSocketRoute) -> None:
        if tried.is_set():
            route.connect_to_server()
        else:
            tried.set()
            fault(route)

    await page.route_web_socket(re.compile("/r/"), meet)
    await page.goto(balancer.url.replace("ws", "http", 1))
    room = await create_room(page)
    await tried.wait()
    await race(page, balancer.rooms, room)
    assert await page.locator(".alarm strong").count() == 0
    await browser.check(page)
