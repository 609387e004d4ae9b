"""The daily deal on the page: an attempt by keys and by clicks, its rank, and the table of a day that is opened."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute
from redis.asyncio import Redis

from fairest_protocol.calculation.daily import AttemptScore, score_attempt
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS
from tests.support.browser import Browser
from tests.support.daily import LONG_AGO, deal_today, long_ago_moves, open_long_ago, sealed_deal
from tests.support.processes import Fleet

CLASSIC = VARIANTS["classic"].rules

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


def score_of(moves: list[str]) -> AttemptScore:
    """Return the score of these moves at the deal of `LONG_AGO`, a second for each, and one for `stop`."""
    race = start_race(CLASSIC, sealed_deal(CLASSIC, LONG_AGO.day).deal, seats=1)
    for text in moves:
        race = race.play(0, MOVES[text])
    count = len(moves) if race.is_over else len(moves) + 1
    return score_attempt(race if race.is_over else race.play(0, MOVES["stop"]), 1_000 * count)


async def begin_attempt(page: Page, name: str = "ann") -> None:
    """Begin today's attempt with the form of the page, and wait for its first card."""
    await page.fill(".daily form input", name)
    await page.click("text=Begin my attempt")
    await page.wait_for_selector("button.slot.stock")


async def pile_count(page: Page, pile: str, count: int) -> None:
    """Wait until a pile shows so many cards: they stay there."""
    await page.wait_for_selector(f"[data-slot='{pile}'] small >> text={count}")


async def end_attempt(page: Page) -> None:
    await page.click("text=End my attempt")
    await page.click("text=Press again")
    await page.wait_for_selector(".daily-result >> text=Your attempt is over")


async def test_an_attempt_is_raced_by_keys_and_clicks_to_its_rank(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await browser.open(url, "/today")
    await begin_attempt(page)
    await page.keyboard.press("b")
    await pile_count(page, "b", 1)
    await page.click("[data-slot='s']")
    await page.click("[data-slot='c']")
    await pile_count(page, "c", 1)
    await end_attempt(page)
    await page.wait_for_selector(".daily-result >> text=Rank 1 of 1 attempt")
    await browser.check(page)


async def test_a_page_that_is_loaded_again_goes_on_with_the_attempt(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await browser.open(url, "/today")
    await begin_attempt(page)
    await page.keyboard.press("b")
    await pile_count(page, "b", 1)
    await page.reload()
    await page.click("text=Go on")
    await pile_count(page, "b", 1)
    await end_attempt(page)
    await page.reload()
    await page.click("text=Show my attempt")
    await page.wait_for_selector(".daily-result >> text=Rank 1 of 1 attempt")
    await browser.check(page)


async def test_a_move_is_sent_again_after_the_server_was_killed(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await browser.open(url, "/today")
    await begin_attempt(page)
    await fleet.kill(url)
    await page.keyboard.press("b")
    await page.wait_for_selector("text=The connection is lost")
    await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
    await pile_count(page, "b", 1)
    await browser.check(page)


async def test_the_table_of_a_day_that_is_opened_is_shown_and_proved(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(), bob=long_ago_moves(5))
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await page.wait_for_selector(".proof >> text=The secret belongs to the commitment.")
    ranks = await page.eval_on_selector_all("tbody th", "(heads) => heads.map(({ textContent }) => textContent)")
    assert ranks == ["1", "2"]
    await browser.check(page)


async def keep_note(page: Page, own: AttemptScore, card_of_another_deal: str | None = None) -> None:
    """Let the browser remember an attempt of ann at the deal of `LONG_AGO`, with one envelope replaced if given."""
    deal = await (await page.request.get(page.url.replace("/today", "/daily"))).json()
    envelopes = [[each.hex() for each in sealed] for sealed in sealed_deal(CLASSIC, LONG_AGO.day).envelopes]
    if card_of_another_deal:
        envelopes[0][-1] = card_of_another_deal
    name = next(row["name"] for row in deal["rows"] if row["rank"] == 1)
    result = {"won": own.won, "placed": own.placed, "goal": 52, "direct": own.direct, "time_ms": own.time_ms}
    note = {"rules": "classic", "day": LONG_AGO.day, "name": name, "seal": deal["seal"], "envelopes": envelopes}
    note |= {"moves": 48, "until_ms": 0, "result": result | {"rank": 1, "ended": 2}}
    await page.evaluate("(note) => localStorage.setItem('fairest.daily', note)", json.dumps([note]))
    await page.reload()


async def test_an_own_attempt_is_marked_and_proved_in_the_table(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(), bob=long_ago_moves(5))
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await keep_note(page, score_of(long_ago_moves()))
    await page.wait_for_selector(".proof >> text=Your attempt stands in the table with your score.")
    await page.wait_for_selector(".proof >> text=The deck is the one in the envelopes that you were shown.")
    assert await page.inner_text("tbody th >> nth=0") == "▸ 1"
    await browser.check(page)


async def test_another_deck_than_the_one_that_was_shown_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves())
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await keep_note(page, score_of(long_ago_moves()), "ab" * 32)
    await page.wait_for_selector(".alarm >> text=hold another deal's cards")


async def test_an_own_attempt_that_is_missing_in_the_table_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves())
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await keep_note(page, score_of(long_ago_moves(5)))
    await page.wait_for_selector(".alarm >> text=Your attempt is not in the table")


async def test_a_secret_of_another_commitment_raises_the_alarm(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(5))
    page = await browser.blank()

    async def lie(route: Any) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json=await answer.json() | {"secret": "ab" * 32})

    await page.route(re.compile("/daily"), lie)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/today?day={LONG_AGO.day}")
    await page.wait_for_selector(".alarm >> text=does not belong to its commitment")


def other_card(message: dict[str, Any]) -> None:
    for entry in message.get("entries", ()):
        if entry["type"] == "turned":
            entry["card"] = "KS" if entry["card"] != "KS" else "KH"


def other_round(message: dict[str, Any]) -> None:
    if message.get("seal"):
        message["seal"]["round"] = "ab" * 16


def other_count(message: dict[str, Any]) -> None:
    if message["type"] == "daily_view":
        message["moves"] += 1


def fewer_envelopes(message: dict[str, Any]) -> None:
    for entry in message.get("entries", ()):
        if entry["type"] == "dealt":
            entry["envelopes"][0].pop()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (other_card, "does not belong to its envelope"),
        (other_round, "is not that of its day and its variant"),
        (other_count, "moves of ours, and has shown"),
        (fewer_envelopes, "more or fewer envelopes"),
    ],
)
async def test_an_answer_that_breaks_the_seal_stops_everything(
    browser: Browser, fleet: Fleet, redis: Redis, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    page = await browser.blank()

    def tamper(text: str) -> str:
        message: dict[str, Any] = json.loads(text)
        change(message)
        return json.dumps(message)

    def lie(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda text: route.send(tamper(str(text))))

    await page.route_web_socket(re.compile("."), lie)
    await page.goto(f"{url.replace('ws', 'http', 1).rstrip('/')}/today")
    await page.click("text=Begin my attempt")
    await page.wait_for_selector(f".alarm >> text={sentence}")


async def test_a_variant_without_a_daily_deal_is_said_in_a_sentence(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start(), "/today?rules=senior")
    await page.wait_for_selector("text=There is no daily deal of senior")
