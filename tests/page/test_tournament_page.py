"""Tournaments on the page: their list, and one that is watched from its first player to its standings."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Page, Route, WebSocketRoute

from fairest_cli.session.tournament_connection import TournamentConnection
from fairest_protocol.calculation.moves import STOP
from fairest_protocol.messages.tournaments import CreateTournament, TournamentPhase
from tests.support.browser import Browser
from tests.support.processes import Fleet
from tests.support.tournaments import entrant, play_a_cup, play_careless
from tests.support.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

HOSTILE = "<img src=x onerror=alert(1)>"


@asynccontextmanager
async def two_players(url: str) -> AsyncIterator[tuple[TournamentConnection, TournamentConnection, str]]:
    """Yield ann, who has created a tournament, bob, who has not entered it, and its code."""
    async with AsyncExitStack() as stack:
        ann, bob = entrant(url, "ann"), entrant(url, "bob")
        for each in (ann, bob):
            stack.push_async_callback(each.close)
        yield ann, bob, (await ann.enter(CreateTournament())).code


async def get_to_race(*players: TournamentConnection) -> None:
    """Let the players get ready for a round, until it is raced."""

    async def get_on(each: TournamentConnection) -> bool:
        shown = await each.watch()
        if each.known is not None and each.known.is_ready_wanted:
            await each.get_ready()
        return shown.phase is TournamentPhase.RACING

    async def are_racing() -> bool:
        return all([await get_on(each) for each in players])

    await until(are_racing, "the round is raced", 30)


def names_in(page: Page, selector: str) -> Any:
    return page.eval_on_selector_all(selector, "(found) => found.map(({ textContent }) => textContent)")


async def test_the_home_page_leads_to_the_list_and_the_list_to_a_tournament(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (_, _, code):
        page = await browser.open(url)
        await page.click("nav >> text=Tournaments")
        await page.wait_for_selector("li >> text=Swiss · classic · 1 of 16 players · open · by ann")
        await page.click("li >> text=Show")
        await page.wait_for_selector(f"h1 >> text=Tournament {code}")
        await browser.check(page)


async def test_a_tournament_that_has_ended_is_listed_with_its_winner(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url, "/t")
    await page.wait_for_selector("text=No tournament has ended lately.")
    async with AsyncExitStack() as stack:
        await play_a_cup(url, stack)
    await page.wait_for_selector("h2:has-text('Ended') + ul >> text=over · won by player-")
    await page.wait_for_selector("text=No tournament is open or under way.")
    await browser.check(page)


async def test_a_page_that_stays_open_shows_each_step_of_a_tournament(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (ann, bob, code):
        page = await browser.open(url, f"/t/{code}")
        await page.wait_for_selector(f"text=Others enter at this address, or by: fairest tournament join {code}")
        await bob.join(code)
        await page.wait_for_selector("tbody tr >> nth=1")
        await ann.start()
        await page.wait_for_selector("text=Swiss · classic · round 1 of 1 · players get ready")
        await page.wait_for_selector(".pairs li >> text=bob")
        await ann.get_ready()
        await page.wait_for_selector(".side-of:has-text('ann') >> text=ready")
        await get_to_race(ann, bob)
        await page.wait_for_selector("text=Swiss · classic · round 1 of 1 · racing")
        await page.wait_for_selector(".clock >> text=left")
        ends = [play_careless(each, most, 1) for each, most in ((ann, 4), (bob, 0))]
        await asyncio.gather(*ends)
        await page.wait_for_selector("text=Swiss · classic · round 1 of 1 · over")
        await page.wait_for_selector("text=The secret of this round belongs to its commitment.")
        await browser.check(page)


async def test_the_cards_of_a_race_are_counted_while_it_is_under_way(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (ann, bob, code):
        await bob.join(code)
        await ann.start()
        await get_to_race(ann, bob)
        page = await browser.open(url, f"/t/{code}")
        await page.wait_for_selector("li >> text=0 cards >> nth=1")
        await bob.race()
        await bob.play(STOP)
        await page.wait_for_selector(".side-of:has-text('bob') >> text=4 cards, ended")
        await browser.check(page)


async def test_the_scores_and_the_standings_are_those_of_the_server(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)
    page = await browser.open(url, f"/t/{code}")
    await page.wait_for_selector(".pairs .result >> nth=1")
    shown = await (await page.request.get(page.url.replace("/t/", "/tournaments/"))).json()
    rows = await page.eval_on_selector_all(
        "tbody tr", "(rows) => rows.map((row) => [...row.cells].map(({ textContent }) => textContent))"
    )
    points = {0: "0", 1: "½", 2: "1"}
    assert rows == [
        [
            str(row["rank"]),
            row["name"],
            points[row["points"]],
            str(row["placed"]),
            str(row["direct"]),
            points[row["buchholz"]],
        ]
        for row in shown["standings"]
    ]


async def test_the_page_says_below_the_standings_that_they_are_not_rated(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (_, _, code):
        page = await browser.open(url, f"/t/{code}")
        await page.wait_for_selector(".scrolled + .hint >> text=A tournament changes nobody's rating.")


async def test_a_page_goes_on_after_the_server_was_killed(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (_, bob, code):
        page = await browser.open(url, f"/t/{code}")
        await page.wait_for_selector("tbody tr")
        await fleet.kill(url)
        await page.wait_for_selector("text=The connection is lost")
        await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
        await bob.join(code)
        await page.wait_for_selector("tbody tr >> nth=1")
        await browser.check(page)


@pytest.mark.parametrize("code", ["quiet-amber-otter", "%3Cb%3E", "%E0"])
async def test_a_code_that_nobody_has_is_said_in_a_sentence(browser: Browser, fleet: Fleet, code: str) -> None:
    page = await browser.open(await fleet.start(), f"/t/{code}")
    await page.wait_for_selector("text=There is no tournament with this code")
    await browser.check(page)


Change = Callable[[dict[str, Any]], None]


async def open_tampered(browser: Browser, url: str, path: str, change: Change) -> Page:
    """Open a path behind a proxy that changes each tournament that the server shows."""
    page = await browser.blank()

    def tamper(text: str) -> str:
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "tournament":
            change(message)
        return json.dumps(message)

    def lie(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda text: route.send(tamper(str(text))))

    await page.route_web_socket(re.compile("."), lie)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}{path}")
    return page


async def test_hostile_names_are_shown_as_text(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)

    def rename(message: dict[str, Any]) -> None:
        message["creator"] = message["rules"] = HOSTILE
        for row in message["standings"]:
            row["name"] = HOSTILE
        for pair in message["played"][0]["pairs"]:
            pair["names"] = [HOSTILE, HOSTILE]

    page = await open_tampered(browser, url, f"/t/{code}", rename)
    await page.wait_for_selector(".pairs li")
    assert await names_in(page, "tbody a, .pairs strong") == 4 * [HOSTILE]
    assert await page.query_selector("img") is None
    await browser.check(page)


async def test_hostile_names_are_text_in_the_list_as_well(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url):
        page = await browser.blank()

        async def lie(route: Route) -> None:
            answer = await route.fetch()
            message = await answer.json()
            for row in message["tournaments"]:
                row |= {"creator": HOSTILE, "code": HOSTILE, "rules": HOSTILE}
            await route.fulfill(response=answer, json=message)

        await page.route(re.compile("/tournaments$"), lie)
        await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/t")
        await page.wait_for_selector(".rooms li")
        assert await names_in(page, ".rooms strong") == [HOSTILE]
        assert await page.query_selector("img") is None
        await browser.check(page)


def other_secret(message: dict[str, Any]) -> None:
    message["played"][0]["secret"] = "ab" * 32


async def test_a_secret_of_another_commitment_raises_the_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)
    page = await open_tampered(browser, url, f"/t/{code}", other_secret)
    await page.wait_for_selector(".alarm >> text=The secret of round 1 does not belong to its commitment.")


async def test_a_commitment_that_is_changed_raises_the_alarm(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    seen = 0

    def change(message: dict[str, Any]) -> None:
        nonlocal seen
        for played in message["played"]:
            seen += 1
            if seen > 1:
                played["commitment"] = "ab" * 32

    async with two_players(url) as (ann, bob, code):
        await bob.join(code)
        await ann.start()
        page = await open_tampered(browser, url, f"/t/{code}", change)
        await page.wait_for_selector(".pairs li")
        await ann.get_ready()
        await page.wait_for_selector(".alarm >> text=The server shows another commitment for round 1 than before.")
