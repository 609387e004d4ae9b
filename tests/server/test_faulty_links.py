"""Slow, stalled, cut and half-open links, between client and server and between server and Redis: no race is lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, WebSocketException

from fairest_protocol.messages.from_client import Create, Join, Leave, Watch
from fairest_protocol.messages.from_server import Left, Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.app import running
from fairest_server.live.redis_clock import APPEND_DEADLINE_MS
from fairest_server.settings import Settings
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.bots import Match, start_match
from tests.support.certificates import make_tls
from tests.support.faulty_link import FaultyLink, faulty_link, let_fault_last
from tests.support.history import check_history, read_room
from tests.support.processes import redis_process, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players

PACE_SECONDS = 0.02
Fault = Callable[[FaultyLink, Match], Awaitable[None]]


async def slow(link: FaultyLink, match: Match) -> None:
    """Add 50 ms of latency for ten moves."""
    link.latency_seconds = 0.05
    await match.moved(10)
    link.latency_seconds = 0.0


async def stalled_for_a_second(link: FaultyLink, _: Match) -> None:
    link.stall()
    await let_fault_last(1.0)
    link.flow()


async def stalled_for_longer_than_a_process_waits(link: FaultyLink, _: Match) -> None:
    link.stall()
    await let_fault_last(3.5)
    link.flow()


async def cut_again_and_again(link: FaultyLink, match: Match) -> None:
    for count in range(5, 30, 5):
        await match.moved(count)
        link.reset()


async def closed_for_a_second(link: FaultyLink, _: Match) -> None:
    link.is_closed = True
    link.reset()
    await let_fault_last(1.0)
    link.is_closed = False


async def dead_without_a_sign(link: FaultyLink, _: Match) -> None:
    link.half_open()


LONG_FAULTS: list[Fault] = [
    slow,
    stalled_for_a_second,
    stalled_for_longer_than_a_process_waits,
    closed_for_a_second,
    dead_without_a_sign,
]
FAULTS = [
    pytest.param(cut_again_and_again, id=cut_again_and_again.__name__),
    *(pytest.param(fault, id=fault.__name__, marks=pytest.mark.long) for fault in LONG_FAULTS),
]


@asynccontextmanager
async def two_servers(redis_url: str) -> AsyncIterator[tuple[str, str]]:
    settings = Settings(port=0, redis_url=redis_url)
    async with running(settings) as one, running(settings) as two:
        yield one, two


def address(url: str) -> tuple[str, int]:
    return "127.0.0.1", int(url.rsplit(":", 1)[1])


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_race_survives_a_link_to_the_server_that_is(fault: Fault, redis_url: str, redis: BatchingRedis) -> None:
    async with two_servers(redis_url) as (one, two), faulty_link(address(one)) as link:
        through = f"ws://127.0.0.1:{link.port}"
        match = await start_match((through, two, through), QUICK, pace_seconds=PACE_SECONDS)
        await match.moved(3)
        await fault(link, match)
        await match.end()
        assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_race_survives_a_link_to_redis_that_is(fault: Fault) -> None:
    with redis_process() as process:
        async with faulty_link(process.socket) as link, two_servers(link.url) as urls:
            match = await start_match(urls, QUICK, pace_seconds=PACE_SECONDS)
            await match.moved(3)
            await fault(link, match)
            await match.end()
            redis = make_client(process.url)
            logged = await Log(redis).read(match.room)
            await redis.aclose()
            assert check_history(match.room, logged, match.transcripts) == []


@pytest.mark.long
async def test_a_race_goes_through_an_encrypted_link_to_redis(tmp_path: Path) -> None:
    """Server processes run on uvloop, whose TLS differs from asyncio's."""
    tls, cert = make_tls(tmp_path)
    with redis_process() as process:
        async with (
            faulty_link(process.socket, tls) as link,
            serving_fleet(f"rediss://localhost:{link.port}?ssl_ca_certs={cert}") as fleet,
            racing_players(await fleet.start(), await fleet.start()) as (first, second),
        ):
            await first.play("sa")
            await second.play("sa")
            await first.receive_until(lambda scene: scene.seats[1].moves == 1)


@pytest.mark.long
async def test_rooms_are_made_however_often_the_link_to_redis_is_cut() -> None:
    """A server process runs on uvloop, which raises other errors than asyncio for a socket that is closed."""
    with redis_process() as process:
        async with faulty_link(process.socket) as link, serving_fleet(link.url) as fleet:
            url = await fleet.start()

            async def create() -> None:
                async with open_client(url) as client:
                    await client.enter(Create(options=QUICK))

            async def is_made() -> bool:
                try:
                    async with asyncio.timeout(5):
                        await create()
                except (TimeoutError, OSError, WebSocketException):
                    return False
                return True

            for _ in range(12):
                await asyncio.gather(create(), create(), create(), return_exceptions=True)
                link.reset()
                await until(is_made, "a room is made")


async def logs(redis: BatchingRedis) -> set[bytes]:
    """Return the keys of all rooms' logs."""
    return {key async for key in redis.scan_iter(match="fairest:*:log:*")}


async def test_a_room_whose_creator_was_refused_is_left_again() -> None:
    """Redis has made the room, and its answer is lost."""
    with redis_process() as process:
        redis = make_client(process.url)
        async with faulty_link(process.socket) as link, two_servers(link.url) as (url, _), open_client(url) as client:
            # From here on Redis knows the script of appends, whose first call it would refuse.
            await client.enter(Create(options=QUICK))
            await client.send(Leave())
            await client.receive_a(Left)
            known = await logs(redis)
            link.muted = b"room_created"
            await client.send(Create(options=QUICK))

            async def is_made() -> bool:
                return await logs(redis) > known

            await until(is_made, "Redis has made the room")
            link.is_closed = True
            link.reset()
            # On a slow machine Redis has been silent for so long that clients are sent away before that answer.
            with suppress(ConnectionClosed):
                assert (await client.receive_a(Refused)).code is Refusal.IN_DOUBT
            link.is_closed, link.muted = False, b""
            (log,) = await logs(redis) - known
            room = log.decode().rpartition(":")[2]

            async def is_left() -> None:
                assert (await read_room(redis, room)).seat(0).connection_id is None

            await until(is_left, "the log says that the seat has no connection")
        await redis.aclose()


async def test_a_seat_that_is_taken_late_is_not_held_by_a_connection_that_is_gone() -> None:
    """An append in a stalled link reaches Redis after the client that asked for it was disconnected."""
    with redis_process() as process:
        redis = make_client(process.url)
        async with (
            faulty_link(process.socket) as link,
            running(Settings(port=0, redis_url=process.url)) as near,
            running(Settings(port=0, redis_url=link.url)) as far,
            open_client(near) as first,
            open_client(far) as second,
            open_client(far) as spectator,
        ):
            room = (await first.enter(Create(options=QUICK))).room
            # The far server has the room open, and writes its next append into the stalled link.
            await spectator.enter(Watch(room=room))
            await second.enter(Join(room=room))
            await second.send(Leave())
            await second.receive_a(Left)
            link.stall()
            await second.send(Join(room=room))
            said_ms = await Log(redis).now_ms()
            await second.socket.wait_closed()

            async def is_too_late() -> None:
                assert await Log(redis).now_ms() - said_ms > APPEND_DEADLINE_MS

            await until(is_too_late, "the append is too late for Redis to execute")
            link.flow()

            async def is_nobody_there() -> bool:
                seat = (await read_room(redis, room)).seats[1]
                return seat is None or seat.connection_id is None

            # A client that the far server welcomes now was looked up over the same link, behind the late append.
            async with open_client(far):
                await until(is_nobody_there, "the log says that nobody is connected")
        await redis.aclose()
