"""The daily deal over real sockets and processes: on the wire, over HTTP, and through killed processes."""

import asyncio
import json

import pytest
from redis.asyncio import Redis

from fairest_protocol.calculation.daily_record import parse_daily_record
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.daily import Daily, DailyPage, DailyView, PlayDaily
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.store import daily_keys
from fairest_server.store.daily import DailyName, DailyStore
from tests.support.daily import LONG_AGO, careless_moves, deal, deal_a_day, long_ago_moves, open_long_ago, sealed_deal
from tests.support.limited import Limited
from tests.support.processes import Fleet
from tests.support.raw_http import ask
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_client

CLASSIC = VARIANTS["classic"].rules


async def begin(client: WireClient, name: DailyName) -> DailyView:
    await client.send(Daily(rules=name.variant, day=name.day))
    return await client.receive_a(DailyView)


async def play(client: WireClient, name: DailyName, number: int, move: str) -> DailyView:
    await client.send(PlayDaily(rules=name.variant, day=name.day, number=number, move=MOVES[move]))
    return await client.receive_a(DailyView)


def own_moves(name: DailyName) -> list[str]:
    return careless_moves(start_race(CLASSIC, sealed_deal(CLASSIC, name.day).deal, seats=1))


@pytest.mark.long
async def test_an_attempt_survives_processes_that_are_killed_in_its_middle(fleet: Fleet, redis: Redis) -> None:
    name = await deal_a_day(redis)
    moves, token, view = own_moves(name), "", None
    for first in range(0, len(moves), 20):
        url = await fleet.start()
        async with open_client(url, token=token or None) as client:
            token = token or client.token
            assert (await begin(client, name)).moves == first
            for number, move in enumerate(moves[first : first + 20], first + 1):
                view = await play(client, name, number, move)
            await fleet.kill(url)
    assert view is not None and view.result is not None
    assert (view.moves, view.result.rank, view.result.ended) == (len(moves), 1, 1)
    found = await DailyStore(redis).counts(name)
    assert found == (1, 1)


@pytest.mark.long
async def test_one_player_on_two_processes_has_one_attempt(fleet: Fleet, redis: Redis) -> None:
    name = await deal_a_day(redis)
    urls = [await fleet.start() for _ in range(2)]
    async with open_client(urls[0]) as first, open_client(urls[1], token=first.token) as second:
        views = await asyncio.gather(*(begin(client, name) for client in (first, second)))
        assert views[0].entries == views[1].entries
        await play(first, name, 1, "sa")
        assert (await begin(second, name)).moves == 1
    assert await DailyStore(redis).counts(name) == (1, 0)


async def test_the_bytes_of_a_player_under_way_do_not_depend_on_another_attempt(limited: Limited, redis: Redis) -> None:
    name = await deal_a_day(redis)
    seen = []
    async with limited() as url, open_client(url) as slow, open_client(url) as fast:
        for others in ([], own_moves(name)):
            for number, move in enumerate(others, 1):
                if number == 1:
                    await begin(fast, name)
                await play(fast, name, number, move)
            await begin(slow, name)
            seen.append(json.loads(slow.frames[-1]) | {"now_ms": 0})
    assert seen[0] == seen[1]


async def test_an_attempt_for_tomorrow_is_refused(limited: Limited, redis: Redis) -> None:
    name = await deal_a_day(redis)
    await redis.hdel(daily_keys.deal(name.day, name.variant), "beacon")
    async with limited() as url, open_client(url) as client:
        refused = await client.expect_refusal(Daily(day=name.day))
        assert refused.code == Refusal.NO_DAILY_DEAL
        move = PlayDaily(rules="classic", day=name.day, number=1, move=MOVES["sa"])
        assert (await client.expect_refusal(move)).number == 1


async def test_an_answer_repeats_the_id_of_its_request(limited: Limited, redis: Redis) -> None:
    name = await deal_a_day(redis)
    async with limited() as url, open_client(url) as client:
        await client.send(Daily(id="a", day=name.day))
        assert (await client.receive_a(DailyView)).id == "a"
        await client.send(PlayDaily(id="b", rules="classic", day=name.day, number=9, move=MOVES["sa"]))
        refused = await client.receive_a(Refused)
        assert (refused.id, refused.to, refused.number) == ("b", "play_daily", 9)


async def test_rules_that_nobody_plays_are_refused(limited: Limited) -> None:
    async with limited() as url, open_client(url) as client:
        assert (await client.expect_refusal(Daily(rules="whist"))).code == Refusal.BAD_RULES


async def test_the_page_of_a_deal_under_way_holds_no_card(limited: Limited, redis: Redis) -> None:
    name = await deal_a_day(redis)
    async with limited() as url, open_client(url) as client:
        await begin(client, name)
        await play(client, name, 1, "stop")
        answer = await ask(url, f"/daily?rules=classic&day={name.day}")
    page = DailyPage.model_validate_json(answer.body)
    assert (page.begun, page.ended, page.opened, page.secret, page.rows) == (1, 1, False, None, ())


async def test_the_page_of_an_opened_deal_has_its_table_and_the_records(limited: Limited, redis: Redis) -> None:
    await open_long_ago(redis, None, ann=long_ago_moves(), bob=[])
    async with limited() as url:
        answer = await ask(url, f"/daily?day={LONG_AGO.day}")
        page = DailyPage.model_validate_json(answer.body)
        assert [row.name for row in page.rows] == ["ann", "bob"]
        text = (await ask(url, f"/daily/{page.rows[0].attempt}")).body.decode()
    record = parse_daily_record(text)
    assert (record.name, record.commitment) == ("ann", page.commitment)


async def test_the_record_of_an_attempt_is_not_found_before_the_deal_is_opened(limited: Limited, redis: Redis) -> None:
    name = await deal_a_day(redis)
    async with limited() as url, open_client(url) as client:
        await begin(client, name)
        await play(client, name, 1, "stop")
        [row] = await DailyStore(redis).rows(name, 0, 10)
        assert (await ask(url, f"/daily/{row.attempt.attempt_id}")).status == 404
        assert (await ask(url, f"/daily/{'0' * 32}")).status == 404


async def test_a_page_that_is_asked_for_wrongly_is_refused(limited: Limited) -> None:
    async with limited() as url:
        for query in ("day=today", "rules=whist", "page=-1", "day=2026-02-30"):
            assert (await ask(url, f"/daily?{query}")).status == 400
        assert (await ask(url, "/daily?day=2026-01-01")).status == 404


async def test_a_server_with_daily_rules_opens_a_day_that_is_over(limited: Limited, redis: Redis) -> None:
    await deal(redis, LONG_AGO)

    async def is_opened() -> bool:
        found = await DailyStore(redis).find(LONG_AGO)
        return found is not None and found.is_opened

    async with limited(daily_rules="classic,easy"):
        await until(is_opened, "the day is opened")
