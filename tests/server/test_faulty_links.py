"""Slow, stalled, cut and half-open wires, between client and server and between server and Redis: no race is lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from server.app import running
from server.settings import Settings
from server.store.log import Log
from tests.bots import Match, start_match
from tests.faulty_link import FaultyLink, faulty_link
from tests.history import check_history
from tests.processes import redis_process
from tests.talker import QUICK

PACE_SECONDS = 0.02
Fault = Callable[[FaultyLink, Match], Awaitable[None]]


async def slow(link: FaultyLink, match: Match) -> None:
    """A wire that takes its time, for as long as ten moves."""
    link.latency_seconds = 0.05
    await match.moved(10)
    link.latency_seconds = 0.0


async def stalled_for_a_second(link: FaultyLink, _: Match) -> None:
    link.stall()
    await asyncio.sleep(1.0)
    link.flow()


async def stalled_for_longer_than_a_process_waits(link: FaultyLink, _: Match) -> None:
    link.stall()
    await asyncio.sleep(3.5)
    link.flow()


async def cut_again_and_again(link: FaultyLink, match: Match) -> None:
    for count in range(5, 30, 5):
        await match.moved(count)
        link.reset()


async def closed_for_a_second(link: FaultyLink, _: Match) -> None:
    link.is_closed = True
    link.reset()
    await asyncio.sleep(1.0)
    link.is_closed = False


async def dead_without_a_sign(link: FaultyLink, _: Match) -> None:
    link.half_open()


FAULTS: list[Fault] = [
    slow,
    stalled_for_a_second,
    stalled_for_longer_than_a_process_waits,
    cut_again_and_again,
    closed_for_a_second,
    dead_without_a_sign,
]


@asynccontextmanager
async def two_servers(redis_url: str) -> AsyncIterator[tuple[str, str]]:
    settings = Settings(port=0, redis_url=redis_url)
    async with running(settings) as one, running(settings) as two:
        yield one, two


def address(url: str) -> tuple[str, int]:
    return "127.0.0.1", int(url.rsplit(":", 1)[1])


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_race_goes_through_a_wire_to_the_server_that_is(fault: Fault, redis_url: str, redis: Redis) -> None:
    async with two_servers(redis_url) as (one, two), faulty_link(address(one)) as link:
        through = f"ws://127.0.0.1:{link.port}"
        match = await start_match((through, two, through), QUICK, pace_seconds=PACE_SECONDS)
        await match.moved(3)
        await fault(link, match)
        await match.end()
        assert check_history(match.room, await Log(redis).read(match.room), match.sights) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_race_goes_through_a_wire_to_redis_that_is(fault: Fault) -> None:
    with redis_process() as process:
        async with faulty_link(process.socket) as link, two_servers(link.url) as urls:
            match = await start_match(urls, QUICK, pace_seconds=PACE_SECONDS)
            await match.moved(3)
            await fault(link, match)
            await match.end()
            redis = Redis.from_url(process.url, protocol=2)
            logged = await Log(redis).read(match.room)
            await redis.aclose()
            assert check_history(match.room, logged, match.sights) == []
