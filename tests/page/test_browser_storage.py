"""The storage of the page in the browser: receipts of the matches that it played, and heads of the chain of rounds."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from fairest_cli.records.receipt_replay import judge_receipt
from fairest_cli.records.record_against_receipt import compare_receipt
from fairest_cli.records.record_check import verify_record
from fairest_protocol.messages.from_client import Join
from tests.page.test_browser import create_room
from tests.support.bots import bot
from tests.support.browser import Browser, get_ready
from tests.support.processes import Fleet

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

FILL = """async ({ base, count, letters }) => {
  const { Receipt, readReceipts, linesOf } = await import(`${base}/receipts.js`);
  const scene = { match: null };
  for (let number = 0; number < count; number += 1) {
    const receipt = new Receipt("ws://there", "ab".repeat(32));
    const snapshot = { type: "snapshot", room: `room-${number}`, seat: 0, scene: { match: `match-${number}` } };
    receipt.heard(snapshot, { position: 0 }, number);
    receipt.said({ type: "play", number: 1, move: "x".repeat(letters) }, number);
  }
  const kept = readReceipts();
  const stored = Object.keys(localStorage).filter((name) => name.startsWith("fairest.receipt.")).length;
  const [rooms, isCut] = [kept.map(({ room }) => room), kept.map((each) => each.isCut)];
  return { rooms, stored, lines: linesOf(kept.at(-1)), isCut };
}"""


async def base_of(page: Page) -> str:
    """Return the path below which the modules of the page are."""
    source = await page.get_attribute("script[src]", "src")
    assert source is not None
    return source.rpartition("/")[0]


async def stop_race(page: Page, url: str) -> str:
    """Race against a bot in a new room and stop after some moves; return the id of the match."""
    room = await create_room(page)
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await get_ready(page)
        await page.wait_for_selector("text=Stop my race")
        for pile in "abc":
            # A key means nothing before the server has turned the next card.
            await page.wait_for_selector(".seat-0 [data-slot='s'] g.card")
            await page.keyboard.press(pile)
            await page.wait_for_selector(f".seat-0 [data-slot='{pile}'] g.card")
        for text in ("Stop my race", "Press again"):
            await page.click(f"text={text}")
        await page.wait_for_selector("p.right >> text=The record was checked")
    link = await page.get_attribute("a[href^='/m/'].button", "href")
    assert link is not None
    return link.rpartition("/")[2]


async def test_a_match_that_was_played_here_is_proved_by_its_receipt_as_well(
    browser: Browser, fleet: Fleet, tmp_path: Path
) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    match = await stop_race(page, url)
    await page.click("a[href^='/m/'].button")
    await page.wait_for_selector(".verdict.right")
    sentences = await page.eval_on_selector_all(".proof li", "(items) => items.map((item) => item.textContent)")
    async with page.expect_download() as started:
        await page.click("button.receipt")
    path = tmp_path / "receipt.jsonl"
    await (await started.value).save_as(path)
    answer = await page.request.get(url.replace("ws", "http", 1).rstrip("/") + f"/records/{match}")
    record, _ = verify_record(await answer.text())
    confirmed = list(compare_receipt(record, path.read_text().splitlines()))
    assert [each for each in sentences if each.startswith("Receipt:")] == confirmed
    [judged] = judge_receipt(path.read_text().splitlines())
    assert judged == "Receipt: you were bound to 1 round, and saw the end of 1 proved."
    await browser.check(page)


async def test_a_page_that_is_loaded_again_goes_on_with_its_receipt(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    room = await create_room(page)
    await page.reload()
    await page.wait_for_selector(".end input")
    kept = json.loads(str(await page.evaluate("localStorage.getItem('fairest.receipts')")))
    assert [each["room"] for each in kept] == [room]
    await browser.check(page)


async def fill(browser: Browser, fleet: Fleet, count: int, letters: int) -> dict[str, Any]:
    page = await browser.open(await fleet.start())
    answer: dict[str, Any] = await page.evaluate(
        FILL, {"base": await base_of(page), "count": count, "letters": letters}
    )
    return answer


async def test_no_more_than_ten_receipts_are_kept(browser: Browser, fleet: Fleet) -> None:
    answer = await fill(browser, fleet, 13, 5)
    assert answer["rooms"] == [f"room-{number}" for number in range(3, 13)]
    assert answer["stored"] == 10 * 3
    assert json.loads(answer["lines"][2])["said"]["move"] == "xxxxx"


async def test_older_receipts_make_room_for_a_long_one(browser: Browser, fleet: Fleet) -> None:
    answer = await fill(browser, fleet, 6, 900_000)
    assert answer["rooms"] == ["room-3", "room-4", "room-5"]
    assert answer["stored"] == 3 * 3


async def test_a_receipt_that_grows_too_long_is_cut_and_says_so(browser: Browser, fleet: Fleet) -> None:
    assert (await fill(browser, fleet, 1, 1_600_000))["isCut"] == [True]


async def test_a_second_chain_of_rounds_is_a_warning(browser: Browser, fleet: Fleet) -> None:
    url = await fleet.start()
    page = await browser.open(url)
    await create_room(page)
    name = await page.evaluate("Object.keys(localStorage).find((each) => each.startsWith('fairest.heads.'))")
    heads = json.loads(str(await page.evaluate("(name) => localStorage.getItem(name)", name)))
    assert len(heads) == 1
    heads[0]["chain"] = "11" * 32
    await page.evaluate("([name, heads]) => localStorage.setItem(name, heads)", [name, json.dumps(heads)])
    await page.reload()
    await page.wait_for_selector(".warning >> text=has shown two chains of rounds, both signed")
    await browser.check(page)


async def test_another_key_than_before_is_a_warning(browser: Browser, fleet: Fleet) -> None:
    page = await browser.open(await fleet.start())
    await page.evaluate("localStorage.setItem('fairest.key', 'ab'.repeat(32))")
    await create_room(page)
    await page.wait_for_selector(".warning >> text=signs with another key")
    await browser.check(page)
