"""Replays and proofs in a browser: attempts of a daily deal that is opened, and races of a tournament."""

import json
import re
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Page, Route
from redis.asyncio import Redis

from tests.page.test_solo_record import ATTEMPT, verdict_of
from tests.support.browser import Browser
from tests.support.daily import LONG_AGO, long_ago_moves, open_long_ago
from tests.support.processes import Fleet
from tests.support.tournaments import play_a_cup

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def proof_of(page: Page) -> list[str]:
    """Return the sentences of the proof on a page, once it stands, but for that about the key."""
    await page.wait_for_selector(".verdict.right")
    await page.wait_for_selector("ol.proof >> text=The key is the one that this server shows.")
    sentences: list[str] = await page.eval_on_selector_all(
        "ol.proof li", "(items) => items.map(({ textContent }) => textContent)"
    )
    return sentences[:-1]


async def open_table(browser: Browser, fleet: Fleet, redis: Redis) -> Page:
    """Open the table of a deal that ann has raced better than bob."""
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(), bob=long_ago_moves(5))
    page = await browser.open(url, f"/today?day={LONG_AGO.day}")
    await page.wait_for_selector("tbody tr >> nth=1")
    return page


async def test_an_attempt_is_replayed_beside_the_best_one(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await open_table(browser, fleet, redis)
    placed = await page.inner_text("tbody tr >> nth=1 >> td >> nth=1")
    await page.click("tbody tr >> nth=1 >> text=Replay and proof")
    await page.wait_for_selector(".replay .seat >> nth=1")
    await page.wait_for_selector(f".replay .seat >> nth=0 >> text={placed} of 52")
    best = await page.inner_text("tbody tr >> nth=0 >> td >> nth=1")
    assert await page.inner_text(".replay .lead") == f"ann +{int(best) - int(placed)}"
    await page.focus(".replay")
    await page.keyboard.press("Home")
    await page.wait_for_selector(".replay .sentence >> text=The race has started.")
    await browser.check(page)


async def test_the_best_attempt_is_replayed_alone(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await open_table(browser, fleet, redis)
    await page.click("tbody tr >> nth=0 >> text=Replay and proof")
    await page.wait_for_selector(".replay .seats.alone .seat")
    assert len(await page.query_selector_all(".replay .seat")) == 1
    await browser.check(page)


async def test_an_attempt_is_proved_in_the_words_of_verify(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await open_table(browser, fleet, redis)
    await page.click("tbody tr >> nth=1 >> text=Replay and proof")
    proof = await proof_of(page)
    path = await page.get_attribute("text=The record as a file", "href")
    record = await page.request.get(f"{page.url.partition('/today')[0]}{path}")
    assert proof == verdict_of(await record.text())["sentences"]


async def test_the_page_names_the_command_that_analyses_an_attempt(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    page = await open_table(browser, fleet, redis)
    await page.click("tbody tr >> nth=1 >> text=Replay and proof")
    await page.wait_for_selector(f"text=fairest daily --day {LONG_AGO.day} --rules classic --rank 2 --analyse")


async def analyse_second(browser: Browser, fleet: Fleet, redis: Redis) -> Page:
    """Open the replay of bob's attempt beside ann's, and begin the analysis."""
    page = await open_table(browser, fleet, redis)
    await page.click("tbody tr >> nth=1 >> text=Replay and proof")
    await page.click("text=Analyse the race")
    return page


async def test_an_opened_deal_is_analysed_on_the_page(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await analyse_second(browser, fleet, redis)
    await page.wait_for_selector(".analysis >> text=The race is analysed.")
    assert [await each.inner_text() for each in await page.query_selector_all(".analysis h3")] == ["bob", "ann"]
    await page.wait_for_selector(".analysis >> text=5 moves; on average one cost")
    await browser.check(page)


async def test_the_position_of_a_mistake_is_shown_in_the_replay(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await analyse_second(browser, fleet, redis)
    sentence = await page.inner_text(".analysis li >> nth=0 >> p >> nth=0")
    await page.click(".analysis li >> nth=0 >> text=Show the position")
    await page.wait_for_selector(".replay:focus")
    found = re.match(
        r"At ([0-9:]+), laying the (\w+) on pile (\w) left .* laying the \w+ on pile (\w) would have left", sentence
    )
    assert found is not None, sentence
    time, card, pile, better = found.groups()
    shown = f"bob, {time}: before laying the {card} on pile {pile}."
    assert (await page.inner_text(".replay .sentence")).startswith(shown)
    marked = await page.query_selector_all(".replay .seat:first-child .fits")
    assert [await slot.get_attribute("data-slot") for slot in marked] == [better]
    await page.keyboard.press("ArrowRight")
    moved = await page.inner_text(".replay .sentence")
    assert re.match(rf"bob lays {card} of \w+ on pile {pile}\.", moved), moved
    await browser.check(page)


async def test_the_focus_is_at_the_result_when_the_analysis_is_done(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    page = await analyse_second(browser, fleet, redis)
    await page.wait_for_selector(".analysis div:focus >> text=A player who knows the order of the stock can win")
    await browser.check(page)


async def test_an_analysis_can_be_stopped_and_begun_again(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await analyse_second(browser, fleet, redis)
    await page.click("text=Stop the analysis")
    await page.wait_for_selector(".analysis >> text=The analysis was stopped.")
    await page.click("text=Analyse the race")
    await page.wait_for_selector(".analysis >> text=The race is analysed.")
    await browser.check(page)


async def test_a_browser_that_cannot_run_the_analysis_says_so(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await open_table(browser, fleet, redis)
    await page.click("tbody tr >> nth=1 >> text=Replay and proof")
    await page.route("**/analysis_worker.js", lambda route: route.fulfill(status=500, body="broken"))
    await page.click("text=Analyse the race")
    await page.wait_for_selector(".analysis >> text=The analysis could not be loaded or run.")


async def test_an_attempt_that_the_table_does_not_have_is_said_in_a_sentence(
    browser: Browser, fleet: Fleet, redis: Redis
) -> None:
    page = await open_table(browser, fleet, redis)
    await page.goto(f"{page.url}&attempt={'ab' * 16}")
    await page.wait_for_selector("text=The table has no such attempt.")
    await browser.check(page)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "eve", "is of another attempt than the table shows"),
        ("beacon_number", 7, "is of another deal than the table"),
        ("placed", 52, "does not prove itself"),
        ("key", "00" * 32, "is not signed with the key that it names"),
    ],
)
async def test_a_record_that_is_not_that_of_its_row_raises_the_alarm(
    browser: Browser, fleet: Fleet, redis: Redis, field: str, value: object, sentence: str
) -> None:
    page = await open_table(browser, fleet, redis)

    async def lie(route: Route) -> None:
        answer = await route.fetch()
        first, second, _ = (await answer.text()).split("\n")
        line = json.dumps({**json.loads(first), field: value}, separators=(",", ":"))
        await route.fulfill(response=answer, body=f"{line}\n{second}\n")

    await page.route(re.compile("/daily/"), lie)
    await page.click("tbody tr >> nth=0 >> text=Replay and proof")
    await page.wait_for_selector(f".alarm >> text={sentence}")


async def test_a_record_that_cannot_be_read_leaves_a_sentence(browser: Browser, fleet: Fleet, redis: Redis) -> None:
    page = await open_table(browser, fleet, redis)
    await page.route(re.compile("/daily/"), lambda route: route.fulfill(status=503, body="Not now."))
    await page.click("tbody tr >> nth=0 >> text=Replay and proof")
    await page.wait_for_selector("text=The record cannot be read right now: Not now.")


async def test_the_file_of_an_attempt_is_replayed_and_proved_on_the_home_page(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    path = tmp_path / "attempt.jsonl"
    path.write_text(ATTEMPT.text())
    page = await browser.open(await fleet.start())
    await page.set_input_files("input[type=file]", path)
    await page.wait_for_selector(".verdict.right")
    await page.wait_for_selector(f".replay .seat-head >> text={ATTEMPT.score.placed} of 52")
    await browser.check(page)


async def test_the_file_of_a_forged_attempt_is_wrong(browser: Browser, fleet: Fleet, tmp_path: Path) -> None:
    path = tmp_path / "attempt.jsonl"
    path.write_text(ATTEMPT.text().replace('"ann"', '"eve"'))
    page = await browser.open(await fleet.start())
    await page.set_input_files("input[type=file]", path)
    await page.wait_for_selector(".verdict.wrong >> text=It is not signed with the key that it names.")
    await browser.check(page)


async def open_race(browser: Browser, fleet: Fleet) -> Page:
    """Open the first race of a tournament of two that is over."""
    url = await fleet.start()
    async with AsyncExitStack() as stack:
        code = await play_a_cup(url, stack)
    page = await browser.open(url, f"/t/{code}")
    await page.wait_for_selector("text=replay >> nth=1")
    return page


async def test_a_race_of_a_tournament_is_replayed_beside_that_of_the_opponent(browser: Browser, fleet: Fleet) -> None:
    page = await open_race(browser, fleet)
    await page.click("text=replay >> nth=0")
    await page.wait_for_selector(".replay .seat >> nth=1")
    heads = await page.eval_on_selector_all(".replay .seat strong", "(all) => all.map((each) => each.textContent)")
    assert sorted(heads) == ["player-1", "player-2"]
    await browser.check(page)


async def test_a_race_of_a_tournament_is_proved_in_the_words_of_verify(browser: Browser, fleet: Fleet) -> None:
    page = await open_race(browser, fleet)
    await page.click("text=replay >> nth=0")
    proof = await proof_of(page)
    path = await page.get_attribute("text=The record as a file", "href")
    record = await page.request.get(f"{page.url.partition('/t/')[0]}{path}")
    assert proof == verdict_of(await record.text())["sentences"]


async def test_a_record_of_another_race_of_the_tournament_raises_the_alarm(browser: Browser, fleet: Fleet) -> None:
    page = await open_race(browser, fleet)

    async def lie(route: Route) -> None:
        await route.continue_(url=re.sub("player-1", "player-2", route.request.url))

    await page.route(re.compile("/tournament-races/"), lie)
    await page.click("text=replay >> nth=0")
    await page.wait_for_selector(".alarm >> text=The record of player-1 is of another race than the tournament shows.")


@pytest.mark.parametrize("query", ["round=9&name=player-1", "round=1&name=nobody", "round=x&name=%3Cb%3E", "round=1"])
async def test_a_race_that_a_tournament_does_not_have_is_said_in_a_sentence(
    browser: Browser, fleet: Fleet, query: str
) -> None:
    page = await open_race(browser, fleet)
    await page.goto(f"{page.url}?{query}")
    await page.wait_for_selector("text=The tournament has no race of this player in this round")
    await browser.check(page)
