"""The page in a real browser, against a real server: it shows, plays and proves a race, and raises the alarm."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_cli.records.record_check import verify_record
from fairest_protocol.calculation.board import Board
from fairest_protocol.messages.from_client import Create, Join, Leave, Rematch, Watch
from fairest_protocol.messages.options import RoomOptions
from tests.page.conftest import needed_browser
from tests.support.bots import bot, start_match
from tests.support.browser import Browser, get_ready
from tests.support.ports import free_port
from tests.support.processes import Fleet
from tests.support.wire_client import open_client, racing_players

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

Act = Callable[[Page, int], Awaitable[None]]
"""Makes a move of a person; the number counts them, from 0."""
QUICK = RoomOptions(countdown_seconds=0)
WATCH_STOCKS = """
window.stocks = [];
new MutationObserver(() => {
  const labels = [0, 1].map((seat) => document.querySelector(`.seat-${seat} .stock .label`)?.textContent);
  const isRacing = document.querySelector(".clock:not(:empty)");
  if (labels[0] && labels[1] && isRacing) stocks.push(labels.map((label) => Number(/; (\\d+)/.exec(label)[1])));
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
RANKS = ("ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king")
SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


def name_of(card: str) -> str:
    return f"{RANKS['A23456789TJQK'.index(card[0])]} of {SUITS[card[1].upper()]}"


def piles_of(board: Board) -> list[str]:
    """Return the labels of the piles of a board, as a screen reader says them."""
    return [
        f"Pile {letter}, top first: {', '.join(map(name_of, reversed(pile)))}" if pile else f"Pile {letter}, empty"
        for letter, pile in zip("abcdefgh", map(list, board.piles), strict=False)
    ]


async def labels(page: Page, seat: int | str, kind: str) -> list[str]:
    """Return the labels of all slots of a kind, such as `pile`, on the board of a seat, or of `practice`."""
    place = seat if isinstance(seat, str) else f"seat-{seat}"
    found: list[str] = await page.eval_on_selector_all(
        f".seat.{place} .slot.{kind} .label", "(labels) => labels.map((label) => label.textContent)"
    )
    return found


async def create_room(page: Page) -> str:
    """Create a room with the form of the lobby; return its code."""
    await page.click("form.create button.main")
    link = await page.locator(".end input").input_value()
    return link.rpartition("/")[2]


async def test_a_race_of_two_bots_ends_with_the_boards_of_the_record(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK, seed=5, pace_seconds=0.05, spectators=0)
    page = await browser.open(url, f"/r/{match.room}")
    await match.end()
    await page.wait_for_selector("p.right")
    record = match.players[0].record
    assert record is not None
    *_, (_, race) = record.steps(0)
    for seat in (0, 1):
        assert await labels(page, seat, "pile") == piles_of(race.racers[seat].board)
    await browser.check(page)


async def test_a_board_is_never_shown_ahead_of_the_player_behind(browser: Browser, fleet: Fleet) -> None:
    """At each change of the page, the stock that it shows of the fast player is not smaller than the other one's."""
    url = await fleet.start()
    fast = bot(url, Create(options=QUICK), seed=1)
    async with asyncio.TaskGroup() as races:
        races.create_task(fast.race())
        room = await fast.connection.entered()
        page = await browser.blank()
        await page.add_init_script(WATCH_STOCKS)
        await page.goto(f"{url.replace('ws', 'http', 1)}/r/{room}")
        await page.wait_for_selector(".end input")
        races.create_task(bot(url, Join(room=room), seed=2, pace_seconds=0.15).race())
        await page.wait_for_selector("p.right")
    stocks = await page.evaluate("stocks")
    assert len(stocks) > 20
    assert [pair for pair in stocks if pair[0] < pair[1]] == []
    await browser.check(page)


async def test_the_page_comes_back_after_its_server_was_killed(browser: Browser, fleet: Fleet) -> None:
    port = free_port()
    url = await fleet.start(port=port)
    match = await start_match((url,), QUICK, seed=6, pace_seconds=0.1, spectators=0)
    page = await browser.open(url, f"/r/{match.room}")
    await page.wait_for_selector("section.room:not([aria-busy]) .slot.pile")
    await fleet.kill(url)
    await page.wait_for_function("document.querySelector('.status').textContent.includes('connection is lost')")
    await fleet.start(port=port)
    await match.end()
    await page.wait_for_selector("p.right")
    await browser.check(page)


async def race_against_bot(browser: Browser, url: str, act: Act) -> Page:
    """Race as a person does, with `act` for each move, against a bot until the result is proved; return the page."""
    page = await browser.open(url)
    room = await create_room(page)
    # Enter means nothing before an opponent is here.
    await page.keyboard.press("Enter")
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await get_ready(page)
        await page.wait_for_selector(".slot.stock")
        turn = 0
        while not await page.query_selector("h2.outcome"):
            await act(page, turn)
            turn += 1
        await page.wait_for_selector("p.right")
    await browser.check(page)
    return page


async def press_keys(page: Page, turn: int) -> None:
    for key in ("1", "2", "3", "4", "abcd"[turn % 4]):
        await page.keyboard.press(key)
    for pile in "ABCD":
        # The card of a pile that fits two foundations is only picked up: the next key says where it goes.
        for key in (f"Shift+{pile}", "1234"[turn % 4]):
            await page.keyboard.press(key)


async def test_a_person_races_by_keys_to_a_proved_result(browser: Browser, fleet: Fleet) -> None:
    await race_against_bot(browser, await fleet.start(), press_keys)


async def click_slots(page: Page, turn: int) -> None:
    """Pick the turned card up and put it where it fits, or onto a pile; then stop, once the stock is nearly over."""
    for slot in ("s", "abcd"[turn % 4]):
        await page.click(f".seat-0 [data-slot='{slot}']", timeout=5000)
    if turn == 12:
        for text in ("Stop my race", "Press again"):
            await page.click(f"text={text}")
        await page.wait_for_selector("h2.outcome")


async def test_a_person_races_by_mouse_to_a_proved_result(browser: Browser, fleet: Fleet) -> None:
    await race_against_bot(browser, await fleet.start(), click_slots)


async def test_two_pages_race_each_other_to_a_proved_result(fleet: Fleet) -> None:
    url = await fleet.start()
    async with needed_browser() as one, needed_browser(has_touch=True) as other:
        first = await one.open(url)
        room = await create_room(first)
        second = await other.open(url, f"/r/{room}?join")
        for page in (first, second):
            await get_ready(page)
        await second.wait_for_selector(".slot.stock")
        await first.wait_for_selector(".clock:not(:empty)")
        await second.wait_for_function("!document.querySelector('.status .big').textContent")
        await second.tap(".seat-1 [data-slot='s']")
        await second.tap(".seat-1 [data-slot='b']")
        await second.wait_for_function("document.querySelector(\".seat-1 [data-slot='b'] small\").textContent === ' 1'")
        for page in (first, second):
            await page.click("text=Stop my race")
            await page.click("text=Press again")
        for browser, page in ((one, first), (other, second)):
            await page.wait_for_selector("p.right >> text=The record was checked")
            await browser.check(page)


async def test_a_page_that_is_loaded_again_is_back_in_its_seat(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        racing = races.create_task(bot(url, Join(room=room), seed=4, pace_seconds=0.2).race())
        await get_ready(page)
        await page.wait_for_selector(".slot.stock")
        await page.reload()
        await page.wait_for_selector("button.slot.stock")
        racing.cancel()
    await browser.check(page)


async def test_a_stop_without_a_connection_keeps_its_question(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        racing = races.create_task(bot(url, Join(room=room), seed=5, pace_seconds=0.2).race())
        await get_ready(page)
        await page.click("text=Stop my race")
        await page.wait_for_selector("text=Press again")
        racing.cancel()
    await fleet.kill(url)
    await page.wait_for_selector("text=The connection is lost.")
    await page.click("text=Press again")
    assert await page.is_visible("text=Press again")


async def test_a_seat_that_another_tab_took_is_no_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        racing = races.create_task(bot(url, Join(room=room), seed=5, pace_seconds=0.2).race())
        await get_ready(page)
        await page.wait_for_selector("button.slot.stock")
        other = await browser.open(url, f"/r/{room}")
        await page.wait_for_selector("text=You play this seat from another tab now.")
        assert await page.inner_text(".alarm") == ""
        await other.wait_for_selector("button.slot.stock")
        racing.cancel()
    await browser.check(other)


async def test_a_seat_that_no_other_tab_took_is_an_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.blank()
    sockets = list[WebSocketRoute]()

    def listen(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    await page.route_web_socket(re.compile("."), listen)
    await page.goto(url.replace("ws", "http", 1))
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        racing = races.create_task(bot(url, Join(room=room), seed=5, pace_seconds=0.2).race())
        await get_ready(page)
        await page.wait_for_selector("button.slot.stock")
        await sockets[-1].close(code=4409, reason="replaced")
        await page.wait_for_selector(".alarm strong")
        assert "another connection of yours took the seat" in await page.inner_text(".alarm")
        racing.cancel()


async def test_a_finished_match_is_replayed_and_proved_by_its_link(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK, seed=8, spectators=0)
    await match.end()
    record = match.players[0].record
    assert record is not None
    page = await browser.open(url, f"/m/{record.match_id}")
    await page.wait_for_selector(".verdict.right")
    sentences = await page.eval_on_selector_all(".proof li", "(items) => items.map((item) => item.textContent)")
    _, checks = verify_record(match.players[0].record_text)
    assert sentences[: len(list(checks))] == list(verify_record(match.players[0].record_text)[1])
    await page.focus(".replay")
    await page.keyboard.press("Home")
    assert await page.inner_text(".sentence") == "The race has started."
    await browser.check(page)


async def test_finished_matches_are_listed_by_player_and_lead_to_their_replay(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK.model_copy(update={"listed": True}), seed=11, spectators=0)
    await match.end()
    record = match.players[0].record
    assert record is not None
    page = await browser.open(url, "/m")
    await page.wait_for_selector(f"a[href='/m/{record.match_id}']")
    await page.fill("form input", record.names[1])
    await page.click("form button.main")
    await page.wait_for_url("**/m?player=*")
    await page.click(f"a[href='/m/{record.match_id}']")
    await page.wait_for_selector(".verdict.right")
    await browser.check(page)


async def test_a_practice_game_takes_a_move_back(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/practice?rules=classic&seed=spring")
    before = await labels(page, "practice", "pile")
    await page.keyboard.press("b")
    await page.wait_for_selector("button:not(:disabled) >> text=Undo")
    assert await labels(page, "practice", "pile") != before
    await page.keyboard.press("u")
    assert await labels(page, "practice", "pile") == before
    await page.click("[data-slot='s']")
    await page.click("[data-slot='c']")
    await page.wait_for_selector("text=moves taken back: 1")
    await browser.check(page)


async def test_a_list_without_a_match_says_so(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/m?player=nobody")
    await page.wait_for_selector("text=No such match is listed.")
    await browser.check(page)


async def test_a_card_that_is_not_the_one_of_its_envelope_stops_everything(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK, seed=9, pace_seconds=0.1, spectators=0)
    page = await browser.blank()

    def tamper(text: str) -> str:
        message: dict[str, Any] = json.loads(text)
        for entry in message.get("entries", ()):
            if entry["type"] == "turned":
                entry["card"] = "KS" if entry["card"] != "KS" else "KH"
        return json.dumps(message)

    def lie(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda text: route.send(tamper(str(text))))

    await page.route_web_socket(re.compile("."), lie)
    await page.goto(f"{url.replace('ws', 'http', 1)}/r/{match.room}")
    await page.wait_for_selector(".alarm strong")
    assert "does not come from its envelope" in await page.inner_text(".alarm")
    match.playing.cancel()


async def test_a_room_that_does_not_exist_is_said_in_a_sentence(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/r/no-such-room")
    await page.wait_for_selector("text=There is no room with this code")
    await browser.check(page)


async def test_the_lobby_lists_a_room_and_its_links(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with asyncio.TaskGroup() as waiting:
        host = bot(url, Create(options=RoomOptions(listed=True)))
        task = waiting.create_task(host.race())
        room = await host.connection.entered()
        page = await browser.open(url)
        await page.wait_for_selector(f"a[href='/r/{room}?join']")
        task.cancel()
    await browser.check(page)


LISTED = RoomOptions(listed=True, countdown_seconds=0)


async def test_a_room_and_its_line_in_the_lobby_count_the_spectators(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with racing_players(url, options=LISTED) as (first, _), open_client(url) as spectator:
        await spectator.enter(Watch(room=first.room))
        page = await browser.open(url)
        await page.wait_for_selector(".rooms >> text=4 : 4 cards · 1 watching")
        await page.click(f"a[href='/r/{first.room}']")
        await page.wait_for_selector("p.watching >> text=2 watching")
        await spectator.send(Leave())
        await page.wait_for_selector("p.watching >> text=1 watching")
    await browser.check(page)


async def test_the_end_of_a_rematch_has_the_matches_won_in_the_room(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, second):
        assert first.room is not None
        page = await browser.open(url, f"/r/{first.room}")
        await second.play("resign")
        await page.wait_for_selector("h2.outcome")
        assert await page.query_selector("p.series") is None
        for player in (first, second):
            await player.send(Rematch())
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        await second.play("resign")
        series = await page.wait_for_selector("p.series")
        assert series is not None
        assert re.fullmatch(r"Matches in this room: .+ 2, .+ 0\.", await series.inner_text())
        await browser.check(page)


async def test_a_player_who_waits_can_leave(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start())
    await create_room(page)
    await page.click("text=Leave")
    await page.wait_for_selector("text=You have left the room.")
    await browser.check(page)


async def test_a_match_without_a_record_is_said_in_a_sentence(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/m/" + "0" * 32)
    await page.wait_for_selector("text=No record of this match is kept here.")
