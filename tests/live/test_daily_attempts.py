"""Attempts at daily deals as a process serves them: once for each player, on any process, and nothing of others."""

import asyncio

import pytest

from fairest_protocol.calculation.daily import day_of
from fairest_protocol.calculation.daily_record import parse_daily_record
from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.calculation.race import start_race
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.daily import DailyView
from fairest_protocol.messages.refusals import Refusal
from fairest_server.live.daily_attempts import DailyAttempts
from fairest_server.live.daily_deals import DailyDeals
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.store import daily_keys
from fairest_server.store.daily import DailyName, DailyStore
from fairest_server.store.players import Player
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock
from fairest_server.store.rounds import RoundStore
from tests.support.daily import LONG_AGO, careless_moves, deal, deal_a_day, sealed_deal, store_attempt

CLASSIC = VARIANTS["classic"].rules


async def a_process(redis: BatchingRedis) -> DailyAttempts:
    """Return the attempts of a process that has just heard Redis' clock."""
    clock = RedisClock()
    clock.beat(await read_clock(redis))
    deals = DailyDeals(DailyStore(redis), RoundStore(redis, "process1"), clock, (CLASSIC,))
    return DailyAttempts(deals, clock, DeploymentKey(redis, SigningKey(bytes(32))))


def player(number: int) -> Player:
    return Player(f"player{number}", f"name{number}")


async def begin(process: DailyAttempts, name: DailyName, number: int = 1) -> DailyView:
    answer = await process.begin(name.variant, name.day, player(number), "127.0.0.1")
    assert isinstance(answer, DailyView)
    return answer


async def play_all(process: DailyAttempts, name: DailyName, moves: list[str], number: int = 1) -> DailyView:
    answers = [
        await process.play(name.variant, name.day, f"player{number}", at, MOVES[move])
        for at, move in enumerate(moves, 1)
    ]
    views = [answer for answer in answers if isinstance(answer, DailyView)]
    assert len(views) == len(answers), answers
    return views[-1]


def own_moves(name: DailyName, count: int = 1_000) -> list[str]:
    return careless_moves(start_race(CLASSIC, sealed_deal(CLASSIC, name.day).deal, seats=1), count)


async def test_an_attempt_is_raced_to_its_end_over_two_processes(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    first, second = await a_process(redis), await a_process(redis)
    await begin(first, name)
    views: list[DailyView] = []
    for at, move in enumerate(own_moves(name), 1):
        answer = await (first, second)[at % 2].play(name.variant, name.day, "player1", at, MOVES[move])
        assert isinstance(answer, DailyView), answer
        views.append(answer)
    result = views[-1].result
    assert result is not None and result.rank == 1
    assert (await begin(second, name)).result == result


async def test_a_second_attempt_is_the_first_one(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    process = await a_process(redis)
    await begin(process, name)
    ended = await play_all(process, name, ["stop"])
    assert ended.result is not None
    again = await begin(await a_process(redis), name)
    assert (again.moves, again.result) == (1, ended.result)
    assert await process.play(name.variant, name.day, "player1", 2, MOVES["sa"]) is Refusal.RACE_OVER


async def test_the_last_move_sent_again_is_answered_by_the_same_entries(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    process = await a_process(redis)
    await begin(process, name)
    answers = [await process.play(name.variant, name.day, "player1", 1, MOVES["sa"]) for _ in range(2)]
    other = await (await a_process(redis)).play(name.variant, name.day, "player1", 1, MOVES["sa"])
    entries = [answer.entries for answer in [*answers, other] if isinstance(answer, DailyView)]
    assert len(entries) == 3 and entries[0] == entries[1] == entries[2]


async def test_of_two_moves_at_once_over_two_processes_one_is_made(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    processes = [await a_process(redis) for _ in range(2)]
    await begin(processes[0], name)
    answers = await asyncio.gather(
        *(
            process.play(name.variant, name.day, "player1", 1, MOVES[move])
            for process, move in zip(processes, ("sa", "sb"), strict=True)
        )
    )
    assert sorted(map(str, (answer if isinstance(answer, Refusal) else "made" for answer in answers))) == [
        "made",
        "number_repeated",
    ]


async def test_an_attempt_at_the_deal_of_a_day_to_come_is_refused(redis: BatchingRedis) -> None:
    process = await a_process(redis)
    assert await process.begin("classic", "2999-01-01", player(1), "here") is Refusal.NO_DAILY_DEAL
    assert await process.play("classic", "2999-01-01", "player1", 1, MOVES["sa"]) is Refusal.RACE_NOT_STARTED


async def test_an_announced_deal_cannot_be_begun_before_its_day(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    await redis.hdel(daily_keys.deal(name.day, name.variant), "beacon")
    process = await a_process(redis)
    assert await process.begin(name.variant, name.day, player(1), "here") is Refusal.NO_DAILY_DEAL


async def test_an_attempt_at_the_deal_of_a_day_that_is_over_is_refused(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    process = await a_process(redis)
    assert await process.begin(LONG_AGO.variant, LONG_AGO.day, player(1), "here") is Refusal.NO_DAILY_DEAL


async def test_without_a_day_the_deal_is_that_of_today(redis: BatchingRedis) -> None:
    today = DailyName(day_of(await read_clock(redis)), "classic")
    await deal(redis, today)
    process = await a_process(redis)
    answer = await process.begin("classic", None, player(1), "here")
    # Midnight may have passed meanwhile; then the deal of that day is not there.
    assert answer is Refusal.NO_DAILY_DEAL or (isinstance(answer, DailyView) and answer.day == today.day)


@pytest.mark.parametrize("others", [[], ["stop"], ["sa", "sb", "stop"]])
async def test_another_attempt_changes_no_entry_of_ones_own(redis: BatchingRedis, others: list[str]) -> None:
    name = await deal_a_day(redis)
    process = await a_process(redis)
    await begin(process, name, 2)
    if others:
        await play_all(process, name, others, 2)
    view = await begin(process, name)
    shown = [await play_all(process, name, own_moves(name, 20)), view]
    alone = sealed_deal(CLASSIC, name.day)
    cards = {card for order in alone.deal.orders for card in order[21:]}
    assert not [each for each in shown for card in cards if f'"{card}"'.encode() in encode(each)]
    assert all(each.result is None for each in shown)


async def test_the_page_of_a_day_under_way_has_counts_and_no_rows(redis: BatchingRedis) -> None:
    name = await deal_a_day(redis)
    process = await a_process(redis)
    await begin(process, name, 1)
    await begin(process, name, 2)
    await play_all(process, name, ["stop"], 2)
    page = await process.page(name.variant, name.day, 0)
    assert page is not None
    assert (page.begun, page.ended, page.opened, page.secret, page.rows) == (2, 1, False, None, ())


async def test_the_record_of_an_attempt_is_kept_back_until_the_deal_is_opened(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await store_attempt(redis, LONG_AGO, "player1", own_moves(LONG_AGO))
    process = await a_process(redis)
    attempt = await DailyStore(redis).attempt(LONG_AGO, "player1")
    assert attempt is not None
    assert await process.record(attempt.attempt_id) is None
    await DailyStore(redis).open(LONG_AGO, "{}")
    text = await process.record(attempt.attempt_id)
    assert text is not None and parse_daily_record(text).name == "player1"


async def test_the_page_of_an_opened_day_has_the_secret_and_the_table(redis: BatchingRedis) -> None:
    await deal(redis, LONG_AGO)
    await store_attempt(redis, LONG_AGO, "player1", own_moves(LONG_AGO))
    await store_attempt(redis, LONG_AGO, "player2", [])
    await DailyStore(redis).open(LONG_AGO, "{}")
    page = await (await a_process(redis)).page(LONG_AGO.variant, LONG_AGO.day, 0)
    assert page is not None and page.secret is not None
    assert [(row.rank, row.name) for row in page.rows] == [(1, "player1"), (2, "player2")]
