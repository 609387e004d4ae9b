"""The page looks the daily deal up in the chain of rounds, and says what it found there, or that it could not."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.async_api import Page, Route
from redis.asyncio import Redis

from fairest_protocol.messages.rounds import ChainedOpening, describe_round
from fairest_server.live.daily_deals import opening_entry
from fairest_server.store.daily import DailyName
from tests.support.browser import Browser
from tests.support.daily import (
    LONG_AGO,
    announce_by_drand,
    announce_secret,
    deal_today,
    long_ago_moves,
    open_long_ago,
)
from tests.support.processes import Fleet

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

OTHER_SECRET = bytes(reversed(range(32)))
OTHER_KEY = "ab" * 32


def announce_nothing(_: DailyName) -> tuple[str, ...]:
    """Return the entry of a round between two players: the deal of the day is not announced."""
    commitment = bytes([3]) * 32
    return (
        describe_round(ChainedOpening(number=0, at_ms=0, type="opened", commitment=commitment, rules="classic 4 0")),
    )


def announce_another(name: DailyName) -> tuple[str, ...]:
    return (opening_entry(name, OTHER_SECRET),)


def announce_two(name: DailyName) -> tuple[str, ...]:
    return (*announce_another(name), *announce_secret(name))


Lie = Callable[[Route], Any]


def changing(change: Callable[[dict[str, Any]], None]) -> Lie:
    """Return a proxy that changes what the server answers."""

    async def lie(route: Route) -> None:
        answer = await route.fetch()
        message = await answer.json()
        change(message)
        await route.fulfill(response=answer, json=message)

    return lie


def answering(status: int, body: str) -> Lie:
    """Return a proxy that answers in the place of the server."""

    async def lie(route: Route) -> None:
        await route.fulfill(status=status, body=body)

    return lie


async def cut(route: Route) -> None:
    await route.abort()


async def open_behind(browser: Browser, url: str, lies: dict[str, Lie], path: str = "/today") -> Page:
    """Open a path of the server behind a proxy that lies at these paths."""
    page = await browser.blank()
    for pattern, lie in lies.items():
        await page.route(re.compile(pattern), lie)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}{path}")
    return page


SUMMARY, PAGE, DEAL = r"/rounds$", r"/rounds\?page=", r"/daily\?"


async def test_an_announced_deal_is_found_before_it_is_raced(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await browser.open(url, "/today")
    await page.wait_for_selector(
        ".chain.right >> text=The commitment is entry 1 of the server's list of rounds, the beacon entry 1."
    )
    assert await page.inner_text(".warning") == ""
    await browser.check(page)


async def test_the_deal_of_a_day_that_is_opened_is_found_as_well(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(5))
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await page.wait_for_selector(".chain.right >> text=The commitment is entry 1")
    await page.wait_for_selector("tbody tr")


async def test_an_announcement_pages_before_its_beacon_is_found(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    many = 2 * 250

    def announce_early(name: DailyName) -> Sequence[str]:
        return (*announce_secret(name), *(many * announce_nothing(name)))

    await deal_today(redis, url, announce=announce_early)
    page = await browser.open(url, "/today")
    await page.wait_for_selector(
        f".chain.right >> text=entry 1 of the server's list of rounds, the beacon entry {many + 1}."
    )


async def test_a_deal_by_drand_is_found_and_raced(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_by_drand, by_drand=True)
    page = await browser.open(url, "/today")
    await page.wait_for_selector(
        ".chain.unknown >> text=/from before the day. The beacon is drand round [0-9]+, the first/"
    )
    await browser.check(page)
    await page.click("text=Begin my attempt")
    await page.wait_for_selector("button.slot.stock")
    assert await page.query_selector(".alarm") is None


async def test_another_drand_round_than_the_first_of_the_day_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_by_drand, by_drand=True)
    page = await open_behind(browser, url, {DEAL: changing(lambda deal: deal["seal"].update(beacon_number=7))})
    await page.wait_for_selector(".alarm >> text=is drand round 7, and the first one of its day is")


@pytest.mark.parametrize("announce", [announce_nothing, announce_another])
async def test_a_deal_that_was_not_announced_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis, announce: Callable[[DailyName], Sequence[str]]
) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce)
    page = await browser.open(url, "/today")
    await page.wait_for_selector(
        ".alarm >> text=The commitment of the daily deal is not in the server's list of rounds."
    )
    assert await page.query_selector("text=Begin my attempt") is None


async def test_a_second_commitment_for_the_day_is_said(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_two)
    page = await browser.open(url, "/today")
    await page.wait_for_selector(".chain.wrong >> text=Beware: 2 commitments were announced for this day and variant")


async def test_a_deal_that_was_not_announced_ends_an_attempt_under_way(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_another)
    begun = asyncio.Event()

    async def hold(route: Route) -> None:
        await begun.wait()
        await route.continue_()

    page = await open_behind(browser, url, {SUMMARY: hold})
    await page.click("text=Begin my attempt")
    await page.wait_for_selector("button.slot.stock")
    begun.set()
    await page.wait_for_selector(".alarm >> text=is not in the server's list of rounds")
    assert await page.query_selector("button.slot.stock") is None


def show_another(deal: dict[str, Any]) -> None:
    """Show the commitment that was announced, in the place of that of the deal."""
    entry = json.loads(opening_entry(DailyName(deal["day"], "classic"), OTHER_SECRET))
    deal["seal"]["commitment"] = entry["commitment"]


async def test_another_deal_than_the_one_that_was_found_is_looked_up_again(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_another)
    page = await open_behind(browser, url, {DEAL: changing(show_another)})
    await page.wait_for_selector(".chain.right")
    await page.click("text=Begin my attempt")
    await page.wait_for_selector(".alarm >> text=is not in the server's list of rounds")


def change_entry(page: dict[str, Any]) -> None:
    page["lines"][0] = page["lines"][0].replace("classic-daily", "reverse-daily")


def change_start(page: dict[str, Any]) -> None:
    page["before"] = "ab" * 32


def forge_head(summary: dict[str, Any]) -> None:
    summary["head"]["chain"] = "ab" * 32


@pytest.mark.parametrize(
    ("path", "change", "sentence"),
    [
        (PAGE, change_entry, "does not end with the hash that the server has signed"),
        (PAGE, change_start, "does not end with the hash that the server has signed"),
        (PAGE, lambda page: page["lines"].pop(), "Page 0 lacks entries"),
        (PAGE, lambda page: page.update(page=1), "The server answers with another page than 0"),
        (PAGE, lambda page: page["lines"].__setitem__(0, "{}"), "Entry 1 is not an entry of a chain of rounds"),
        (SUMMARY, forge_head, "is not signed with the server's key"),
        (SUMMARY, lambda summary: summary.update(key=OTHER_KEY), "is not signed with the server's key"),
    ],
)
async def test_a_chain_that_does_not_link_raises_the_alarm(
    browser: Browser,
    fleet: Fleet,
    redis: Redis,
    path: str,
    change: Callable[[dict[str, Any]], None],
    sentence: str,
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await open_behind(browser, url, {path: changing(change)})
    await page.wait_for_selector(".alarm >> text=The server's list of rounds is broken: ")
    await page.wait_for_selector(f".alarm >> text={sentence}")
    assert await page.query_selector("text=Begin my attempt") is None


@pytest.mark.parametrize(
    ("path", "lie", "reason"),
    [
        (SUMMARY, answering(404, "There is no such page."), "The server does not show /rounds. There is no such page."),
        (PAGE, answering(503, "Try again."), "The server does not show /rounds?page=0. Try again."),
        (SUMMARY, cut, "The server does not answer at /rounds."),
        (SUMMARY, answering(200, "<html>"), "What the server answers at /rounds is not understood."),
        (SUMMARY, answering(200, "null"), "What the server answers at /rounds is not understood."),
        (PAGE, answering(200, '{"type":"rounds_page","page":0,"lines":[1]}'), "is not understood."),
    ],
)
async def test_a_chain_that_cannot_be_read_is_said_and_no_alarm(
    browser: Browser, fleet: Fleet, redis: Redis, path: str, lie: Lie, reason: str
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await open_behind(browser, url, {path: lie})
    await page.wait_for_selector(".chain.unknown >> text=The commitment could not be looked up in the list of rounds: ")
    assert reason in await page.inner_text(".chain")
    await page.wait_for_selector("text=Begin my attempt")


async def test_entries_that_the_server_keeps_no_more_are_no_alarm(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await open_behind(browser, url, {SUMMARY: changing(lambda summary: summary.update(first_page=1))})
    await page.wait_for_selector(
        ".chain.unknown >> text=Its announcement is older than the entries that the server keeps"
    )


async def test_a_beacon_behind_the_end_of_the_list_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await open_behind(browser, url, {DEAL: changing(lambda deal: deal["seal"].update(beacon_number=900))})
    await page.wait_for_selector(
        ".alarm >> text=The beacon of the daily deal is entry 900 of the list of rounds, which ends with entry 2."
    )


async def test_a_head_from_just_before_the_beacon_is_read_once_more(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    page = await browser.open(url, "/rounds")
    before = await page.inner_text("body")
    await deal_today(redis, url)
    asked = 0

    async def delay(route: Route) -> None:
        nonlocal asked
        asked += 1
        await (route.fulfill(body=before) if asked == 1 else route.continue_())

    page = await open_behind(browser, url, {SUMMARY: delay})
    await page.wait_for_selector(".chain.right")


async def test_a_page_of_a_process_that_has_not_read_the_last_entries_is_read_once_more(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    asked = 0

    async def shorten_once(route: Route) -> None:
        nonlocal asked
        asked += 1
        await (changing(lambda page: page["lines"].pop())(route) if asked == 1 else route.continue_())

    page = await open_behind(browser, url, {PAGE: shorten_once})
    await page.wait_for_selector(".chain.right")


async def test_a_page_that_a_process_does_not_have_yet_is_read_once_more(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    asked = 0

    async def miss_once(route: Route) -> None:
        nonlocal asked
        asked += 1
        await (route.fulfill(status=404, body="There is no such page.") if asked == 1 else route.continue_())

    page = await open_behind(browser, url, {PAGE: miss_once})
    await page.wait_for_selector(".chain.right")


async def test_a_busy_server_is_asked_again(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    asked = 0

    async def refuse_once(route: Route) -> None:
        nonlocal asked
        asked += 1
        await (route.fulfill(status=429, body="Try again.") if asked == 1 else route.continue_())

    page = await open_behind(browser, url, {SUMMARY: refuse_once})
    await page.wait_for_selector(".chain.right")
