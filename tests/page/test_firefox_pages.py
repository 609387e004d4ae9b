"""The queue, receipts, ratings, the daily deal and tournaments in a real Firefox; other files have them in Chromium."""

import asyncio

import pytest
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Join, Queue, Watch
from tests.page.test_daily_chain import announce_nothing
from tests.page.test_ratings import rate
from tests.page.test_tournament_page import get_to_race, two_players
from tests.page.test_tournament_player import player_bob, playing
from tests.support.bots import bot
from tests.support.daily import LONG_AGO, deal_today, long_ago_moves, open_long_ago
from tests.support.firefox import Firefox, found
from tests.support.processes import Fleet
from tests.support.tournaments import play_careless
from tests.support.wire_client import open_client, racing_players

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

STOP = ".actions button:nth-last-child(2)"


async def wait_in_queue(firefox: Firefox, url: str) -> None:
    """Ask for an opponent, and for no program, with the form of the lobby."""
    await firefox.open(url)
    await firefox.type("form.quick input", "ann")
    await firefox.evaluate(f"{found('form.quick select.rival')}.value = ''")
    await firefox.click("form.quick button.main")
    await firefox.wait_for_text("Nobody else waits yet.")


async def get_ready_and_stop(firefox: Firefox) -> None:
    """Get ready, make a move, and stop."""
    await firefox.wait_for("[...document.querySelectorAll('button.main')].some((b) => /Ready/.test(b.textContent))")
    await firefox.press("Enter")
    await firefox.wait_for_text("Stop my race")
    await firefox.press("b")
    await firefox.wait_for("document.querySelector(\"[data-slot='b'] small\").textContent === ' 1'")
    for _ in range(2):
        await firefox.click(STOP)
    await firefox.wait_for_text("The record was checked")


async def test_a_player_from_the_queue_sees_what_the_race_changed_in_the_rating(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    await wait_in_queue(firefox, url)
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Queue(), seed=3).race())
        await get_ready_and_stop(firefox)
    await firefox.wait_for_text("Your rating: ")
    await firefox.check()


async def test_a_player_who_waits_can_stop_waiting(firefox: Firefox, fleet: Fleet) -> None:
    await wait_in_queue(firefox, await fleet.start())
    await firefox.click(".waiting button")
    await firefox.wait_for_text("You wait no longer.")
    await firefox.check()


async def test_a_player_whose_server_is_killed_waits_again(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    await wait_in_queue(firefox, url)
    await fleet.kill(url)
    await firefox.wait_for_text("The connection is lost")
    await fleet.start(port=int(url.rstrip("/").rpartition(":")[2]))
    await firefox.wait_for_text(" waited")


async def test_a_match_that_was_played_here_is_proved_by_its_receipt(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    await firefox.open(url)
    await firefox.click("form.create button.main")
    await firefox.wait_for(found(".end input"))
    room = str(await firefox.evaluate(f"{found('.end input')}.value")).rpartition("/")[2]
    async with asyncio.TaskGroup() as races:
        races.create_task(bot(url, Join(room=room), seed=3).race())
        await get_ready_and_stop(firefox)
    link = found("a[href^='/m/'].button")
    match = str(await firefox.evaluate(f"{link}.getAttribute('href')"))
    await firefox.open(url, match)
    await firefox.wait_for(found(".verdict.right"))
    sentences = await firefox.evaluate("[...document.querySelectorAll('.proof li')].map((each) => each.textContent)")
    assert [each for each in sentences if each.startswith("Receipt:")] != []
    await firefox.wait_for(found("button.receipt"))
    await firefox.check()


async def test_another_key_than_before_is_a_warning(firefox: Firefox, fleet: Fleet) -> None:
    await firefox.open(await fleet.start())
    await firefox.evaluate("localStorage.setItem('fairest.key', 'ab'.repeat(32)) ?? null")
    await firefox.click("form.create button.main")
    await firefox.wait_for_text("signs with another key")


async def test_the_leaderboard_and_a_player_are_shown(firefox: Firefox, fleet: Fleet) -> None:
    await rate(fleet)
    url = await fleet.start()
    await firefox.open(url, "/ratings")
    await firefox.wait_for("document.querySelectorAll('tbody tr').length === 2")
    names = await firefox.evaluate("[...document.querySelectorAll('tbody td:nth-child(2)')].map((n) => n.textContent)")
    assert names == ["ann", "bob"]
    await firefox.open(url, "/p/ann?against=bob")
    await firefox.wait_for_text("Rounds of ann against bob")
    await firefox.check()


async def test_an_attempt_at_the_daily_deal_is_raced_to_its_rank(firefox: Firefox, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(5))
    await deal_today(redis, url)
    await firefox.open(url, "/today")
    await firefox.wait_for(found(".daily form button"))
    await firefox.click(".daily form button")
    await firefox.wait_for(found("button.slot.stock"))
    await firefox.press("b")
    await firefox.wait_for("document.querySelector(\"[data-slot='b'] small\").textContent === ' 1'")
    for _ in range(2):
        await firefox.click(".actions button:last-child")
    await firefox.wait_for_text("Rank 1 of 1 attempt")
    await firefox.open(url, f"/today?day={LONG_AGO.day}")
    await firefox.wait_for_text("The secret belongs to the commitment.")
    await firefox.check()


async def test_a_daily_deal_is_found_in_the_chain_of_rounds(firefox: Firefox, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await deal_today(redis, url)
    await firefox.open(url, "/today")
    await firefox.wait_for_text("The commitment is entry 1 of the server's list of rounds, the beacon entry 1.")
    await firefox.check()


async def test_an_opened_deal_is_analysed(firefox: Firefox, fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    await open_long_ago(redis, url, ann=long_ago_moves(), bob=long_ago_moves(5))
    await firefox.open(url, f"/today?day={LONG_AGO.day}")
    await firefox.wait_for_text("Replay and proof")
    await firefox.click("tbody a")
    await firefox.wait_for_text("Analyse the race")
    await firefox.click(".analysis button")
    await firefox.wait_for_text("The race is analysed.")
    await firefox.check()


async def test_a_daily_deal_that_was_not_announced_raises_the_alarm(
    firefox: Firefox, fleet: Fleet, redis: Redis
) -> None:
    url = await fleet.start()
    await deal_today(redis, url, announce=announce_nothing)
    await firefox.open(url, "/today")
    await firefox.wait_for_text("The commitment of the daily deal is not in the server's list of rounds.")
    await firefox.check()


async def test_a_tournament_is_followed_from_its_first_player_to_its_winner(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    async with two_players(url) as (ann, bob, code):
        await firefox.open(url, f"/t/{code}")
        await firefox.wait_for_text("ann starts it.")
        await bob.join(code)
        await ann.start()
        await get_to_race(ann, bob)
        await firefox.wait_for_text("round 1 of 1 · racing")
        await asyncio.gather(play_careless(ann, 4, 1), play_careless(bob, 0, 1))
        await firefox.wait_for_text("The secret of this round belongs to its commitment.")
        await firefox.wait_for_text("Won by ")
    await firefox.check()


async def test_a_tournament_is_created_raced_and_proved(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    await firefox.open(url, "/t")
    await firefox.wait_for(found("form.create button.main"))
    await firefox.type("form.create input[autocomplete]", "ann")
    await firefox.click("form.create button.main")
    await firefox.wait_for_text("You start it when all are here.")
    async with player_bob(url) as bob:
        await bob.join(str(await firefox.evaluate("location.pathname")).rpartition("/")[2])
        await firefox.wait_for("document.querySelectorAll('tbody tr').length === 2")
        await firefox.click(".actions button.main")
        await firefox.wait_for_text("you race bob. Get ready.")
        async with playing(bob):
            await firefox.click(".actions button.main")
            await firefox.wait_for(found("button.slot.stock"))
            await firefox.press("b")
            await firefox.wait_for("document.querySelector(\"[data-slot='b'] small\").textContent === ' 1'")
            for _ in range(2):
                await firefox.click(".player .actions button:last-child")
            await firefox.wait_for_text("Won by ")
    await firefox.click(".side-of a[href^='/t/']")
    await firefox.wait_for_text("What this browser was shown")
    await firefox.check()


async def test_a_room_counts_its_spectators(firefox: Firefox, fleet: Fleet) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, _), open_client(url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await firefox.open(url, f"/r/{first.room}")
        await firefox.wait_for_text("2 watching")
    await firefox.check()
