"""The player of a browser: its seats, its way to an installed client and back, and another token."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity, open_identity
from fairest_cli.session.identity_transfer import export_player
from fairest_cli.session.renewal import renew_token
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Hello, Join
from fairest_protocol.messages.from_server import Error
from fairest_protocol.messages.tournaments import CreateTournament, Tournament
from tests.page.conftest import needed_browser
from tests.page.test_browser import create_room
from tests.support.browser import Browser
from tests.support.moving import import_unasked
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, open_raw_client

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

HOSTILE = "<img src=x onerror=alert(1)>"
FULL = "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; }"
"""Lets the browser keep nothing more."""


async def token_in(page: Page) -> str | None:
    token: str | None = await page.evaluate("localStorage.getItem('fairest.token')")
    return token


async def new_player(url: str, name: str) -> str:
    """Return the token of a new player."""
    async with open_client(url, name=name) as client:
        return client.token


async def open_as(browser: Browser, url: str, token: str, path: str = "/me") -> Page:
    """Open a path in a browser whose player has this token; a page that asks the server nothing stores it."""
    page = await browser.open(url, "/practice")
    await page.evaluate("(token) => localStorage.setItem('fairest.token', token)", token)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}{path}")
    return page


async def save_player(page: Page, path: Path) -> Path:
    """Save the player of a page to a file."""
    async with page.expect_download() as started:
        await page.click("text=Save as a file")
    await (await started.value).save_as(path)
    return path


async def bring(page: Page, file: Path) -> None:
    await page.set_input_files("form.import input[type='file']", file)


@asynccontextmanager
async def connected(url: str, identity: Identity, request: Create | Join) -> AsyncIterator[Connection]:
    """An installed client in a room."""
    connection = Connection(url, identity, request)

    async def follow() -> None:
        async with aclosing(connection.updates()) as updates:
            async for _ in updates:
                pass

    following = asyncio.create_task(follow())
    try:
        await connection.entered()
        yield connection
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def is_known(url: str, token: str) -> bool:
    """Return whether the server knows a token."""
    async with open_raw_client(url) as client:
        await client.send(Hello(token=token))
        return not isinstance(await client.receive(), Error)


async def test_the_lobby_leads_back_to_a_seat(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start())
    room = await create_room(page)
    await page.click("text=Lobby")
    await page.wait_for_selector(f".own-seats >> text=You have a seat in {room}.")
    await page.click(f".own-seats a[href='/r/{room}?join']")
    assert (await page.locator(".end input").input_value()).endswith(room)
    await page.click("text=Leave")
    await page.wait_for_selector("text=You have left the room.")
    await browser.check(page)


async def test_the_page_of_the_player_names_it_and_its_seats(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_client(url, name="ann") as ann:
        rooms = [(await ann.enter(Create(options=QUICK))).room]
        async with open_client(url, token=ann.token) as again:
            rooms.append((await again.enter(Create(options=QUICK))).room)
            page = await open_as(browser, url, ann.token)
            await page.wait_for_selector("text=On this server you are ann.")
            links = await page.eval_on_selector_all(".own-seats a", "(all) => all.map((link) => link.pathname)")
    assert links == [f"/r/{room}" for room in reversed(rooms)]
    await browser.check(page)


@pytest.mark.parametrize("path", ["/", "/me"])
async def test_a_tournament_that_the_player_has_entered_is_one_click_away(
    browser: Browser, fleet: Fleet, path: str
) -> None:
    url = await fleet.start()
    async with open_client(url, name="ann") as ann:
        await ann.send(CreateTournament())
        code = (await ann.receive_a(Tournament)).code
    page = await open_as(browser, url, ann.token, path)
    await page.click(f".own-seats >> text=Your tournament {code} goes on. >> xpath=.. >> a")
    await page.wait_for_selector("text=Start the tournament")
    await browser.check(page)


@pytest.mark.parametrize("path", ["/", "/me"])
async def test_a_browser_without_a_player_gets_none_by_looking(browser: Browser, fleet: Fleet, path: str) -> None:
    page = await browser.open(await fleet.start(), path)
    await page.wait_for_selector(
        {"/": "text=No room is listed", "/me": "text=This browser has no player here yet"}[path]
    )
    assert await token_in(page) is None
    await browser.check(page)


async def test_a_player_is_taken_from_the_page_to_an_installed_client_in_the_middle_of_a_deal(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    """The deal goes on only if the client reveals the bytes to which the page has committed the player."""
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    async with open_client(url) as other:
        await other.enter(Join(room=room))
        await page.click("button.main >> text=Ready")
        await page.wait_for_selector("text=You are ready.")
        await page.click("text=Your player")
        await page.wait_for_selector("text=On this server you are guest-")
        moved = import_unasked(await save_player(page, tmp_path / "player.json"), tmp_path)
        await page.close()
        with open_identity(moved.server, moved.name, tmp_path) as identity:
            async with connected(url, identity, Join(room=room)):
                await other.take_part_in_deal()
    assert other.scene is not None and other.scene.phase is Phase.RACING


async def test_a_player_is_taken_from_an_installed_client_to_the_page_in_the_middle_of_a_deal(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    server = url.rstrip("/")
    async with open_client(url) as other:
        with open_identity(server, "ann", tmp_path) as identity:
            async with connected(url, identity, Create(options=QUICK)) as connection:
                room = await connection.entered()
                await other.enter(Join(room=room))
                await other.receive_until(lambda scene: scene.phase is Phase.READY)

                async def is_open() -> None:
                    assert connection.model.phase is Phase.READY

                await until(is_open, "the round is open", 20)
                await connection.get_ready()
                await other.receive_until(lambda scene: scene.seats[0].entropy_hash is not None)
        export_player(server, "ann", tmp_path / "ann.json", tmp_path)
        page = await browser.open(url, "/me")
        await bring(page, tmp_path / "ann.json")
        await page.wait_for_selector("text=/You are guest-.* in this browser now/")
        await page.click(f".own-seats a[href='/r/{room}?join']")
        await page.wait_for_selector("text=You are ready.")
        await other.take_part_in_deal()
        await page.wait_for_selector("button.slot.stock")
    await browser.check(page)


async def test_a_player_goes_from_browser_to_browser_as_text(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await open_as(browser, url, await new_player(url, "ann"))
    await page.wait_for_selector("text=On this server you are ann.")
    await page.click("text=Show as text")
    text = await page.input_value("textarea[readonly]")
    async with needed_browser() as elsewhere:
        other = await elsewhere.open(url, "/me")
        await other.fill("form.import textarea", text)
        await other.click("text=Bring it here")
        await other.wait_for_selector("text=On this server you are ann.")
        assert await token_in(other) == await token_in(page)
        await elsewhere.check(other)


async def test_another_player_is_replaced_only_when_the_page_was_told_to(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    own, others = [await new_player(url, name) for name in ("ann", "bob")]
    (tmp_path / "bob.json").write_text(file_of(url, others))
    page = await open_as(browser, url, own)
    await page.wait_for_selector("text=On this server you are ann.")
    await bring(page, tmp_path / "bob.json")
    await page.wait_for_selector("text=If bob takes its place, it is lost")
    assert await token_in(page) == own
    await page.click("text=Keep my player")
    await page.wait_for_selector("text=Nothing was changed.")
    assert await token_in(page) == own
    await bring(page, tmp_path / "bob.json")
    await page.click("text=Replace it")
    await page.wait_for_selector("text=On this server you are bob.")
    assert await token_in(page) == others
    await browser.check(page)


def file_of(url: str, token: str, **player: Any) -> str:
    stored = {"token": token, "next_token": None, "server_key": None, "bond": None} | player
    return json.dumps({"fairest_player": 1, "server": url.rstrip("/"), "name": None, "player": stored})


async def test_a_server_with_another_key_than_in_the_file_is_asked_about(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    (tmp_path / "ann.json").write_text(file_of(url, await new_player(url, "ann"), server_key="ab" * 32))
    page = await browser.open(url, "/me")
    await bring(page, tmp_path / "ann.json")
    await page.wait_for_selector("text=Beware: this server signs with another key than the one in the file")
    assert await token_in(page) is None
    await page.click("text=Replace it")
    await page.wait_for_selector(".warning >> text=signs with another key than when you were here last")


async def test_what_is_not_the_file_of_a_player_changes_nothing(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    own = await new_player(url, "ann")
    page = await open_as(browser, url, own)
    await page.fill("form.import textarea", "dear diary")
    await page.click("text=Bring it here")
    await page.wait_for_selector("text=cannot be brought here: it is not JSON")
    assert await token_in(page) == own


async def test_a_token_that_the_server_does_not_know_changes_nothing(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    own = await new_player(url, "ann")
    page = await open_as(browser, url, own)
    await page.fill("form.import textarea", file_of(url, "x" * 43))
    await page.click("text=Bring it here")
    await page.wait_for_selector("text=The server does not know this token")
    assert await token_in(page) == own


async def test_the_token_of_another_server_is_sent_nowhere(browser: Browser, fleet: Fleet) -> None:
    page = await browser.blank()
    sent = list[str]()
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    url = await fleet.start()
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/me")
    await page.fill("form.import textarea", file_of("wss://play.example", "x" * 43))
    await page.click("text=Bring it here")
    await page.wait_for_selector("text=it is of a player at wss://play.example")
    assert sent == []


async def test_a_stolen_token_is_refused_once_it_is_renewed(browser: Browser, fleet: Fleet, tmp_path: Path) -> None:
    url = await fleet.start()
    stolen = await new_player(url, "ann")
    page = await open_as(browser, url, stolen)
    await page.wait_for_selector("text=On this server you are ann.")
    file = await save_player(page, tmp_path / "ann.json")
    await page.click("text=Renew my token")
    await page.wait_for_selector("text=You have a new token.")
    await page.wait_for_selector("text=On this server you are ann.")
    assert not await is_known(url, stolen)
    assert await is_known(url, await token_in(page) or "")
    async with needed_browser() as elsewhere:
        thief = await elsewhere.open(url, "/me")
        await bring(thief, file)
        await thief.wait_for_selector("text=The server does not know this token: it was renewed")
        assert await token_in(thief) is None
    await browser.check(page)


async def test_an_installed_client_that_got_the_player_from_the_page_takes_it_from_the_page(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    await create_room(page)
    await page.click("text=Your player")
    await page.wait_for_selector("text=On this server you are guest-")
    file = await save_player(page, tmp_path / "player.json")
    moved = import_unasked(file, tmp_path)
    with open_identity(moved.server, moved.name, tmp_path) as identity:
        assert await renew_token(moved.server, identity) == moved.name
        assert identity.token is not None
        # As `fairest --name` says hello.
        async with open_client(url, token=identity.token, name=moved.name):
            pass
    await page.reload()
    await page.wait_for_selector("text=The server does not know the player of this browser any more")
    assert await token_in(page) is None
    await browser.check(page)


async def test_a_race_goes_on_in_another_tab_when_the_token_is_renewed(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    race = await browser.open(url)
    room = await create_room(race)
    async with open_client(url) as other:
        await other.enter(Join(room=room))
        await race.click("button.main >> text=Ready")
        await other.take_part_in_deal()
        await race.wait_for_selector("button.slot.stock")
        page = await browser.open(url, "/me")
        await page.click("text=Renew my token")
        await page.wait_for_selector("text=You have a new token.")
        # The server cuts the race off at its next heartbeat.
        await other.receive_until(lambda scene: not scene.seats[0].is_connected)
        await other.receive_until(lambda scene: scene.seats[0].is_connected)
        await race.wait_for_selector("text=Stop my race")
        assert await race.locator(".alarm strong").count() == 0
        assert await is_known(url, await token_in(page) or "")
    await browser.check(race)


async def open_tampered(browser: Browser, url: str, path: str, token: str, tamper: Callable[[str], str | None]) -> Page:
    """Open a path as a player whose connection changes each message of the server; with None, it drops there."""
    page = await open_as(browser, url, token, "/practice")

    def lie(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        async def pass_on(text: str | bytes) -> None:
            changed = tamper(str(text))
            await (route.close() if changed is None else send(changed))

        async def send(text: str) -> None:
            route.send(text)

        server.on_message(pass_on)

    await page.route_web_socket(re.compile("."), lie)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}{path}")
    return page


async def test_a_renewal_whose_answer_is_lost_loses_no_player(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    old = await new_player(url, "ann")
    page = await open_tampered(
        browser, url, "/me", old, lambda text: None if json.loads(text)["type"] == "renewed" else text
    )
    await page.wait_for_selector("text=On this server you are ann.")
    await page.click("text=Renew my token")
    await page.wait_for_selector("text=Your token was not renewed, as far as this page knows")
    # The page has asked again by now, with the old token and then with the new one.
    await page.wait_for_function("(old) => localStorage.getItem('fairest.token') !== old", arg=old)
    await page.wait_for_selector("text=On this server you are ann.")
    assert await is_known(url, await token_in(page) or "")


async def lie_about_rooms(browser: Browser, url: str, path: str, rooms: Any, field: str = "rooms") -> Page:
    def tamper(text: str) -> str:
        message = json.loads(text)
        return json.dumps(message | {field: rooms}) if message["type"] == "welcome" else text

    return await open_tampered(browser, url, path, await new_player(url, "ann"), tamper)


async def test_a_seat_in_a_room_that_does_not_exist_leads_to_a_sentence(browser: Browser, fleet: Fleet) -> None:
    page = await lie_about_rooms(browser, await fleet.start(), "/", ["no-such-room"])
    await page.click(".own-seats >> text=Take it")
    await page.wait_for_selector("text=There is no room with this code")
    await browser.check(page)


@pytest.mark.parametrize(
    ("field", "link"), [("rooms", "/r/quiet-amber-otter?join"), ("tournaments", "/t/quiet-amber-otter")]
)
@pytest.mark.parametrize("path", ["/", "/me"])
async def test_the_name_of_a_room_or_tournament_that_is_no_code_is_not_shown(
    browser: Browser, fleet: Fleet, path: str, field: str, link: str
) -> None:
    codes = [HOSTILE, "javascript:alert(1)", "../../key", 5, None, {"room": "x"}, "a-" * 40 + "b", "quiet-amber-otter"]
    page = await lie_about_rooms(browser, await fleet.start(), path, codes, field)
    await page.wait_for_selector(".own-seats a")
    links = await page.eval_on_selector_all(".own-seats a", "(all) => all.map((link) => link.getAttribute('href'))")
    assert links == [link]
    assert await page.locator("main img").count() == 0
    await browser.check(page)


async def test_a_server_that_cannot_say_where_our_seats_are_is_quoted(browser: Browser, fleet: Fleet) -> None:
    page = await lie_about_rooms(browser, await fleet.start(), "/me", None)
    await page.wait_for_selector("text=The server cannot say now in which rooms you have a seat.")
    await browser.check(page)


async def test_a_player_can_be_saved_while_the_server_is_away(browser: Browser, fleet: Fleet, tmp_path: Path) -> None:
    url = await fleet.start()
    token = await new_player(url, "ann")
    page = await open_tampered(browser, url, "/me", token, lambda _: None)
    await page.wait_for_selector("text=the server does not show its name")
    file = await save_player(page, tmp_path / "player.json")
    assert json.loads(file.read_text())["player"]["token"] == token


async def test_a_browser_that_keeps_nothing_renews_no_token(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    token = await new_player(url, "ann")
    page = await open_as(browser, url, token)
    await page.wait_for_selector("text=On this server you are ann.")
    await page.evaluate(FULL)
    await page.click("text=Renew my token")
    await page.wait_for_selector("text=This browser does not keep what a page stores")
    assert await is_known(url, token)


async def test_a_player_for_whom_the_browser_has_no_room_changes_nothing(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    own, other = [await new_player(url, name) for name in ("ann", "bob")]
    page = await open_as(browser, url, own)
    await page.wait_for_selector("text=On this server you are ann.")
    await page.evaluate(FULL)
    await page.fill("form.import textarea", file_of(url, other))
    await page.click("text=Bring it here")
    await page.click("text=Replace it")
    await page.wait_for_selector("text=This browser does not keep what a page stores")
    assert await token_in(page) == own
    await browser.check(page)
