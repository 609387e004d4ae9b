"""Tournaments on the page as a player has them: created, entered, started, raced and left, over reloads and crashes."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.messages.tournaments import CreateTournament, TournamentPhase
from tests.page.conftest import needed_browser
from tests.support.browser import Browser
from tests.support.processes import Fleet
from tests.support.tournaments import entrant, play_careless
from tests.support.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]

Message = dict[str, Any]


def http(url: str) -> str:
    return url.replace("ws", "http", 1).rstrip("/")


async def create(page: Page, name: str, **fields: str) -> str:
    """Create a tournament with the form of the page, and return its code."""
    for label, value in fields.items():
        await page.fill(f"form.create label:has-text('{label}') input", value)
    await page.fill("form.create label:has-text('Your name') input", name)
    await page.click("text=Create the tournament")
    await page.wait_for_selector("text=You start it when all are here.")
    return page.url.rpartition("/")[2]


async def enter(page: Page, name: str) -> None:
    await page.fill("form.enter input", name)
    await page.click("text=Enter the tournament")
    await page.wait_for_selector(f"tbody a >> text={name}")


async def end_race(page: Page) -> None:
    """End the race under way, and wait until its board is gone: its result is shown only until the round is over."""
    await page.click("text=Stop my race")
    await page.click("text=Press again to do it")
    await page.wait_for_selector("button.slot.stock", state="detached")


async def pile_count(page: Page, pile: str, count: int) -> None:
    """Wait until a pile shows so many cards: they stay there."""
    await page.wait_for_selector(f"[data-slot='{pile}'] small >> text={count}")


def heard(page: Page) -> Any:
    """Return what was said to screen readers last."""
    return page.text_content("#announcer")


def wires(change: Callable[[Message], None]) -> Callable[[WebSocketRoute], None]:
    """Return a proxy that changes each message of the server."""

    def tamper(text: str) -> str:
        message: Message = json.loads(text)
        change(message)
        return json.dumps(message)

    def lie(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda text: route.send(tamper(str(text))))

    return lie


@asynccontextmanager
async def player_bob(url: str) -> AsyncIterator[TournamentConnection]:
    """Yield bob, a player with a terminal."""
    bob = entrant(url, "bob")
    try:
        yield bob
    finally:
        await bob.close()


@asynccontextmanager
async def open_cup(browser: Browser, url: str) -> AsyncIterator[tuple[Page, TournamentConnection, str]]:
    """Yield a page of ann, who has created a tournament by its form, bob, who has entered it, and its code."""
    page = await browser.open(url, "/t")
    code = await create(page, "ann")
    async with player_bob(url) as bob:
        await bob.join(code)
        yield page, bob, code


async def start(page: Page) -> None:
    """Start the tournament, once bob has entered."""
    await page.wait_for_selector("tbody tr >> nth=1")
    await page.click("text=Start the tournament")
    await page.wait_for_selector(".call >> text=Round 1: you race bob. Get ready.")


async def is_racing(bob: TournamentConnection) -> bool:
    """Let bob get ready and show his bytes; return whether the round is raced."""
    shown = await bob.watch()
    if bob.known is not None and bob.known.is_ready_wanted:
        await bob.get_ready()
    return shown.phase is TournamentPhase.RACING


async def start_race(page: Page, bob: TournamentConnection) -> None:
    """Start the tournament, and get ready for its first round with both players."""
    await start(page)
    await page.click("button.main >> text=Ready")
    await until(lambda: is_racing(bob), "the round is raced", 30)
    await page.wait_for_selector("button.slot.stock")


@asynccontextmanager
async def playing(*others: TournamentConnection) -> AsyncIterator[None]:
    """Let these players play on, four moves in each round."""
    tasks = [asyncio.ensure_future(play_careless(each, 4, 1)) for each in others]
    try:
        yield
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_two_browsers_play_a_whole_tournament(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with needed_browser() as other:
        ann = await browser.open(url, "/t")
        code = await create(ann, "ann")
        bob = await other.open(url, f"/t/{code}")
        await enter(bob, "bob")
        await ann.wait_for_selector("tbody tr >> nth=1")
        await ann.click("text=Start the tournament")
        for page in (ann, bob):
            await page.click("button.main >> text=Ready")
        for page in (ann, bob):
            await page.wait_for_selector("button.slot.stock")
            await page.keyboard.press("b")
            await pile_count(page, "b", 1)
        await bob.click("[data-slot='s']")
        await bob.click("[data-slot='c']")
        await pile_count(bob, "c", 1)
        for page in (ann, bob):
            await end_race(page)
        for page in (ann, bob):
            await page.wait_for_selector("text=Won by ")
            await page.wait_for_selector("text=The secret of this round belongs to its commitment.")
        await browser.check(ann)
        await other.check(bob)


async def test_a_page_that_is_loaded_again_between_ready_and_reveal_shows_its_bytes(
    browser: Browser, fleet: Fleet
) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start(page)
        await page.click("button.main >> text=Ready")
        await page.wait_for_selector("text=You are ready for round 1: you race bob.")
        await page.reload()
        await until(lambda: is_racing(bob), "the round is raced", 30)
        shown = await bob.watch()
        assert sorted(each.name for each in shown.played[-1].ready if each.entropy) == ["ann", "bob"]
        await page.wait_for_selector("button.slot.stock")
        await browser.check(page)


async def test_a_race_goes_on_after_the_page_is_loaded_again(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start_race(page, bob)
        await page.keyboard.press("b")
        await pile_count(page, "b", 1)
        await page.reload()
        await pile_count(page, "b", 1)
        await end_race(page)
        await page.reload()
        await page.wait_for_selector("text=Your race is over: ")
        await browser.check(page)


async def test_a_race_goes_on_after_the_server_was_killed(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start_race(page, bob)
        await fleet.kill(url)
        await page.keyboard.press("b")
        await page.wait_for_selector("text=The connection is lost")
        await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
        await pile_count(page, "b", 1)
        await end_race(page)
        await browser.check(page)


async def test_a_player_whose_race_is_over_sees_the_standings_and_the_race_of_the_opponent(
    browser: Browser, fleet: Fleet
) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start_race(page, bob)
        await page.wait_for_selector(".seat-head .state >> text=bob: 0 cards")
        await end_race(page)
        await page.wait_for_selector(".side-of:has-text('bob') >> text=0 cards")
        await page.wait_for_selector(".player .board", state="detached")
        await play_careless(bob, 4, 1)
        await page.wait_for_selector("text=Won by ")
        await browser.check(page)


async def test_the_next_round_asks_for_ready_in_sight_in_the_title_and_in_the_voice(
    browser: Browser, fleet: Fleet
) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, code), AsyncExitStack() as stack:
        carol = entrant(url, "carol")
        stack.push_async_callback(carol.close)
        await carol.join(code)
        await page.wait_for_selector("tbody tr >> nth=2")
        await page.click("text=Start the tournament")
        await page.click("button.main >> text=Ready")
        async with playing(bob, carol):
            await page.wait_for_selector("button.slot.stock")
            await end_race(page)
            await page.wait_for_selector(".call >> text=Round 2: ")
            await page.wait_for_function("document.title.includes('Get ready for round 2')")
            assert "Round 2: " in await heard(page)
            await page.keyboard.press("Enter")
            await page.wait_for_selector("text=You are ready for round 2: ")
        await browser.check(page)


async def test_only_the_creator_is_offered_the_start(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with player_bob(url) as bob:
        code = (await bob.enter(CreateTournament())).code
        page = await browser.open(url, f"/t/{code}")
        await enter(page, "ann")
        await page.wait_for_selector("text=Leave the tournament")
        assert await page.query_selector("text=Start the tournament") is None


async def test_a_start_without_a_second_player_is_refused_in_the_server_s_sentence(
    browser: Browser, fleet: Fleet
) -> None:
    page = await browser.open(await fleet.start(), "/t")
    await create(page, "ann")
    await page.click("text=Start the tournament")
    await page.wait_for_selector("[role=alert] >> text=A tournament without rivals needs two players.")


async def test_a_player_for_whom_there_is_no_place_reads_the_server_s_sentence(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        ann, bob = entrant(url, "ann"), entrant(url, "bob")
        for each in (ann, bob):
            stack.push_async_callback(each.close)
        code = (await ann.enter(CreateTournament(most_players=2))).code
        await bob.join(code)
        page = await browser.open(url, f"/t/{code}")
        await page.click("text=Enter the tournament")
        await page.wait_for_selector("[role=alert] >> text=No more players may enter this tournament")


async def test_a_name_that_is_taken_is_said_and_another_one_enters(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with player_bob(url) as bob:
        code = (await bob.enter(CreateTournament())).code
        page = await browser.open(url, f"/t/{code}")
        await page.fill("form.enter input", "bob")
        await page.click("text=Enter the tournament")
        await page.wait_for_selector("[role=alert] >> text=Somebody else uses this name now")
        await enter(page, "ann")
        await browser.check(page)


async def test_a_tournament_is_left_by_two_presses_of_a_button(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start(page)
        await page.click("text=Leave the tournament")
        await page.click("text=Press again to do it")
        await page.wait_for_selector("tbody tr:has-text('ann') >> text=has left")
        assert any(row.name == "ann" and row.has_left for row in (await bob.watch()).standings)


async def test_a_player_that_has_taken_another_name_meanwhile_is_still_in_the_tournament(
    browser: Browser, fleet: Fleet
) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, code):
        await start(page)
        lobby = await browser.open(url)
        await lobby.fill("form.create input[autocomplete]", "annabel")
        await lobby.click("form.create button.main")
        await lobby.wait_for_selector(".end input")
        await lobby.close()
        await page.goto(f"{http(url)}/t/{code}")
        await page.click("button.main >> text=Ready")
        await until(lambda: is_racing(bob), "the round is raced", 30)
        await page.wait_for_selector("button.slot.stock")


async def test_a_creation_whose_answer_is_lost_creates_one_tournament(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.blank()
    asked = 0

    def lose_first_answer(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            nonlocal asked
            asked += "create_tournament" in str(text)
            server.send(text)

        async def to_page(text: str | bytes) -> None:
            if asked == 1 and '"tournament"' in str(text):
                await route.close(code=1011, reason="lost")
            else:
                route.send(text)

        route.on_message(to_server)
        server.on_message(to_page)

    await page.route_web_socket(re.compile("."), lose_first_answer)
    await page.goto(f"{http(url)}/t")
    await create(page, "ann")
    listed = await (await page.request.get(f"{http(url)}/tournaments")).json()
    assert (asked, len(listed["tournaments"])) == (2, 1)


async def test_what_the_server_could_not_store_is_sent_again(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.blank()
    refused = dict[str, str]()

    def refuse_once(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def to_server(text: str | bytes) -> None:
            message: Message = json.loads(text)
            kind = message["type"]
            if kind in refused or kind in ("hello", "ping", "watch_tournament"):
                server.send(text)
                return
            refused[kind] = code = ("try_again", "in_doubt")[len(refused) % 2]
            answer = {"type": "refused", "to": kind, "code": code, "sentence": "Not now.", "number": None}
            route.send(json.dumps(answer | {"id": message["id"]}))

        route.on_message(to_server)

    await page.route_web_socket(re.compile("."), refuse_once)
    await page.goto(f"{http(url)}/t")
    code = await create(page, "ann")
    async with player_bob(url) as bob:
        await bob.join(code)
        await start_race(page, bob)
        await page.keyboard.press("b")
        await pile_count(page, "b", 1)
    requests = ["create", "start", "ready", "reveal", "race", "play"]
    assert list(refused) == [f"{each}_tournament" for each in requests]
    await browser.check(page)


async def test_a_tournament_that_the_server_does_not_create_is_refused_in_its_sentence(
    browser: Browser, fleet: Fleet
) -> None:
    page = await browser.open(await fleet.start(), "/t")
    await page.select_option("form.create select >> nth=1", "round_robin")
    await page.fill("form.create label:has-text('Most players') input", "20")
    await page.click("text=Create the tournament")
    await page.wait_for_selector("[role=alert] >> text=A round robin has 16 players at most, not 20.")
    await page.fill("form.create label:has-text('Most players') input", "4")
    await create(page, "ann")


async def test_the_options_of_the_form_are_those_of_the_tournament(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url, "/t")
    for number, value in enumerate(["easy", "swiss", "club"]):
        await page.select_option(f"form.create select >> nth={number}", value)
    code = await create(page, "ann", Rounds="2", **{"Most players": "6", "get ready": "60", "for a race": "300"})
    shown = await (await page.request.get(f"{http(url)}/tournaments/{code}")).json()
    found = [
        shown[name] for name in ("rules", "format", "most_players", "rival_level", "ready_seconds", "limit_seconds")
    ]
    assert found == ["easy", "swiss", 6, "club", 60, 300]


def other_card(message: Message) -> None:
    for entry in message.get("entries", ()):
        if entry["type"] == "turned":
            entry["card"] = "KS" if entry["card"] != "KS" else "KH"


def other_score(message: Message) -> None:
    if message.get("result"):
        message["result"]["placed"] += 1


def newest_when(phase: str, message: Message) -> Message | None:
    found = message["type"] == "tournament" and message["phase"] == phase
    return message["played"][-1] if found else None


def without_our_bytes(message: Message) -> None:
    newest = newest_when("racing", message)
    if newest:
        newest["ready"] = [each | {"entropy": None} if each["name"] == "ann" else each for each in newest["ready"]]


def without_our_hash(message: Message) -> None:
    newest = newest_when("revealing", message)
    if newest:
        newest["ready"] = [each for each in newest["ready"] if each["name"] != "ann"]


def other_bytes(message: Message) -> None:
    newest = newest_when("racing", message)
    if newest:
        newest["ready"] = [each | {"entropy": "ab" * 32} if each["name"] == "bob" else each for each in newest["ready"]]


def other_commitment(message: Message) -> None:
    newest = newest_when("racing", message)
    if newest:
        newest["commitment"] = "ab" * 32


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (other_card, "does not belong to its envelope"),
        (without_our_bytes, "The server left our bytes out of the deal of round 1."),
        (without_our_hash, "The server does not show the hash that we sent for round 1."),
        (other_bytes, "The bytes of bob for round 1 do not belong to their hash."),
        (other_commitment, "The server shows another commitment for round 1 than before."),
    ],
)
async def test_a_lie_before_the_race_is_an_alarm(
    browser: Browser, fleet: Fleet, change: Callable[[Message], None], sentence: str
) -> None:
    url = await fleet.start()
    page = await browser.blank()
    await page.route_web_socket(re.compile("."), wires(change))
    await page.goto(f"{http(url)}/t")
    code = await create(page, "ann")
    async with player_bob(url) as bob:
        await bob.join(code)
        await start(page)
        await page.click("button.main >> text=Ready")
        async with playing(bob):
            await page.wait_for_selector(f".alarm >> text={sentence}")


async def test_a_result_that_is_not_that_of_the_board_is_an_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.blank()
    await page.route_web_socket(re.compile("."), wires(other_score))
    await page.goto(f"{http(url)}/t")
    code = await create(page, "ann")
    async with player_bob(url) as bob:
        await bob.join(code)
        await start_race(page, bob)
        await page.click("text=Stop my race")
        await page.click("text=Press again to do it")
        await page.wait_for_selector(".alarm >> text=The result of our race is not that of our board.")


async def change_note(page: Page, **changes: Any) -> None:
    """Let the browser remember that it was shown something else of the first round."""
    notes = json.loads(await page.evaluate("localStorage.getItem('fairest.tournaments')"))
    notes[0]["rounds"]["1"] |= changes
    await page.evaluate("(notes) => localStorage.setItem('fairest.tournaments', notes)", json.dumps(notes))


async def test_another_race_than_the_one_before_the_reload_is_an_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_cup(browser, url) as (page, bob, _):
        await start_race(page, bob)
        await page.keyboard.press("b")
        await pile_count(page, "b", 1)
        await change_note(page, moves=["sc"])
        await page.reload()
        await page.wait_for_selector(".alarm >> text=The server shows another race of ours in round 1 than before.")


@asynccontextmanager
async def played_cup(browser: Browser, url: str) -> AsyncIterator[Page]:
    """Yield the page of ann, who has played a tournament of one round against bob."""
    async with open_cup(browser, url) as (page, bob, _):
        await start_race(page, bob)
        await page.keyboard.press("b")
        await pile_count(page, "b", 1)
        await end_race(page)
        await play_careless(bob, 2, 1)
        await page.wait_for_selector("text=Won by ")
        yield page


async def test_the_replay_of_a_race_compares_its_record_with_what_was_shown(browser: Browser, fleet: Fleet) -> None:
    async with played_cup(browser, await fleet.start()) as page:
        await page.click(".side-of:has-text('ann') >> text=replay")
        await page.wait_for_selector("text=Receipt: its 2 moves and its score are those that your client was shown.")
        await page.wait_for_selector(".verdict.right")
        await page.go_back()
        await page.click(".side-of:has-text('bob') >> text=replay")
        await page.wait_for_selector("text=Receipt: the deck is the one in the envelopes that you were shown.")
        await browser.check(page)


async def test_a_record_that_contradicts_what_was_shown_is_wrong(browser: Browser, fleet: Fleet) -> None:
    async with played_cup(browser, await fleet.start()) as page:
        await change_note(page, moves=["sc", "stop"])
        await page.click(".side-of:has-text('ann') >> text=replay")
        await page.wait_for_selector("[role=alert] >> text=WRONG: The moves are not those that your client made.")
