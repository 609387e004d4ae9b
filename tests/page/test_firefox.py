"""The page in a real Firefox, against a real server: it shows, plays and proves a race, and finds its way back."""

import asyncio

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_protocol.messages.from_client import Join
from tests.page.test_browser import QUICK, piles_of
from tests.support.bots import bot, start_match
from tests.support.firefox import Firefox, found
from tests.support.ports import free_port
from tests.support.processes import Fleet

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


async def test_a_race_of_two_bots_ends_with_the_boards_of_the_record(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK, seed=5, pace_seconds=0.05, spectators=0)
    await firefox.open(url, f"/r/{match.room}")
    await match.end()
    await firefox.wait_for(found("p.right"))
    record = match.players[0].record
    assert record is not None
    *_, (_, race) = record.steps(0)
    for seat in (0, 1):
        labels = await firefox.evaluate(
            f"[...document.querySelectorAll('.seat.seat-{seat} .slot.pile .label')].map((each) => each.textContent)"
        )
        assert labels == piles_of(race.racers[seat].board)
    await firefox.check()


async def test_a_person_races_by_keys_and_mouse_to_a_proved_result(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    await firefox.open(url)
    await firefox.click("form.create button.main")
    await firefox.wait_for(found(".end input"))
    room = str(await firefox.evaluate(f"{found('.end input')}.value")).rpartition("/")[2]
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await firefox.wait_for("[...document.querySelectorAll('button.main')].some((b) => /Ready/.test(b.textContent))")
        await firefox.press("Enter")
        await firefox.wait_for("/Stop my race/.test(document.body.innerText)")
        await firefox.press("b")
        await firefox.wait_for("document.querySelector(\"[data-slot='b'] small\").textContent === ' 1'")
        await firefox.wait_for("document.querySelector(\"[data-slot='s'] g.card\")")
        for slot in ("s", "c"):
            await firefox.click(f"[data-slot='{slot}']")
        await firefox.wait_for("document.querySelector(\"[data-slot='c'] small\").textContent === ' 1'")
        for _ in range(2):
            await firefox.click(".actions button:nth-last-child(2)")
        await firefox.wait_for("/The record was checked/.test(document.body.innerText)")
    await firefox.check()


async def test_a_finished_match_is_proved_in_the_words_of_verify(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    match = await start_match((url,), QUICK, seed=8, spectators=0)
    await match.end()
    record = match.players[0].record
    assert record is not None
    await firefox.open(url, f"/m/{record.match_id}")
    await firefox.wait_for(found(".verdict.right"))
    sentences = await firefox.evaluate("[...document.querySelectorAll('.proof li')].map((each) => each.textContent)")
    checks = list(verify_record(match.players[0].record_text)[1])
    assert sentences[: len(checks)] == checks
    await firefox.check()


async def test_the_page_comes_back_after_its_server_was_killed(firefox: Firefox, fleet: Fleet) -> None:
    port = free_port()
    url = await fleet.start(port=port)
    match = await start_match((url,), QUICK, seed=6, pace_seconds=0.1, spectators=0)
    await firefox.open(url, f"/r/{match.room}")
    await firefox.wait_for(found("section.room:not([aria-busy]) .slot.pile"))
    await fleet.kill(url)
    await firefox.wait_for("/connection is lost/.test(document.body.innerText)")
    await fleet.start(port=port)
    await match.end()
    await firefox.wait_for(found("p.right"))
