"""A line gives each batch its own replies, whatever happens to the socket."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from fairest_server.store.redis.batch_connection import BatchConnection
from fairest_server.store.redis.connect import connect
from tests.support.certificates import make_tls
from tests.support.faulty_link import faulty_link
from tests.support.processes import RedisProcess, redis_process
from tests.support.waiting import until

ECHOES = [("ECHO", "one"), ("ECHO", "two")]
ECHOED = [b"one", b"two"]


@pytest.fixture
def process() -> Iterator[RedisProcess]:
    with redis_process() as process:
        yield process


@asynccontextmanager
async def line_to(url: str, timeout_seconds: float | None = 2.0) -> AsyncIterator[BatchConnection]:
    redis: Redis = connect(url, timeout_seconds)
    line = BatchConnection(redis)
    try:
        yield line
    finally:
        await line.close()
        await redis.aclose()


@pytest.fixture
async def line(process: RedisProcess) -> AsyncIterator[BatchConnection]:
    async with line_to(process.url) as line:
        yield line


async def test_replies_come_in_the_order_of_their_commands(line: BatchConnection) -> None:
    assert await line.send(ECHOES) == ECHOED


async def test_an_error_stands_in_the_place_of_a_reply(line: BatchConnection) -> None:
    first, wrong, last = await line.send([ECHOES[0], ("LPOP",), ECHOES[1]])
    assert isinstance(wrong, ResponseError)
    assert [first, last] == ECHOED


async def test_a_reply_that_comes_in_pieces_is_whole(line: BatchConnection) -> None:
    text = "x" * 5_000_000
    assert await line.send([("ECHO", text), *ECHOES]) == [text.encode(), *ECHOED]


async def test_a_connection_that_redis_ended_is_replaced(line: BatchConnection, process: RedisProcess) -> None:
    await line.send(ECHOES)
    process.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert await line.send(ECHOES) == ECHOED


async def test_a_redis_that_was_started_again_is_reached_again(line: BatchConnection, process: RedisProcess) -> None:
    await line.send(ECHOES)
    process.kill()
    process.start()
    assert await line.send(ECHOES) == ECHOED


async def test_without_redis_there_is_an_error(line: BatchConnection, process: RedisProcess) -> None:
    await line.send(ECHOES)
    process.kill()
    with pytest.raises(RedisError):
        await line.send(ECHOES)


async def test_a_redis_that_does_not_answer_is_given_up_in_time_and_answers_again_later(process: RedisProcess) -> None:
    """Though the timer that all exchanges share was set by the one before."""
    async with line_to(process.url, timeout_seconds=0.1) as line:
        await line.send([("BLPOP", "nothing", "0.05")])
        process.freeze()
        try:
            async with asyncio.timeout(5):
                with pytest.raises(RedisError, match=r"Timeout|in time"):
                    await line.send([("ECHO", "too late")])
        finally:
            process.thaw()
        assert await line.send(ECHOES) == ECHOED


async def test_the_time_limit_is_that_of_each_exchange_and_not_of_the_first(process: RedisProcess) -> None:
    async with line_to(process.url, timeout_seconds=0.5) as line:
        connection = await line.send([("CLIENT", "ID")])
        for _ in range(3):
            await line.send([("BLPOP", "nothing", "0.3")])
        assert await line.send([("CLIENT", "ID")]) == connection


async def test_an_exchange_that_is_cut_off_by_a_reset_is_made_again(process: RedisProcess) -> None:
    """At once, without any time limit."""
    async with faulty_link(process.socket) as link, line_to(link.url, timeout_seconds=None) as line, asyncio.timeout(5):
        await line.send(ECHOES)
        link.stall()
        sending = asyncio.create_task(line.send(ECHOES))
        await asyncio.sleep(0)
        link.reset()
        link.flow()
        assert await sending == ECHOED


async def test_the_replies_to_a_cancelled_exchange_are_not_those_of_the_next_one(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, line_to(link.url) as line:
        await line.send(ECHOES)
        link.stall()
        sending = asyncio.create_task(line.send([("ECHO", "cancelled")]))
        await asyncio.sleep(0)
        sending.cancel()
        await asyncio.wait([sending])
        link.flow()
        assert await line.send(ECHOES) == ECHOED


async def test_a_connection_on_which_redis_says_something_unasked_is_replaced(
    line: BatchConnection, process: RedisProcess
) -> None:
    await line.send([("SUBSCRIBE", "news")])

    async def has_left() -> bool:
        return process.call("PUBLISH", "news", "from elsewhere") == 0

    await until(has_left, "Redis has no subscriber left")
    assert await line.send(ECHOES) == ECHOED


async def test_what_nobody_asked_for_is_not_the_reply_to_what_is_asked_next(line: BatchConnection) -> None:
    """It comes together with a reply that somebody asked for: two channels are told of, one reply is waited for."""
    with suppress(RedisError):
        await line.send([("SUBSCRIBE", "news", "weather")])
    assert await line.send(ECHOES) == ECHOED


async def test_a_line_that_is_not_open_sends_nothing_at_once(line: BatchConnection) -> None:
    assert not line.try_send(ECHOES, print)


async def test_a_line_whose_connection_has_ended_sends_nothing_at_once(
    line: BatchConnection, process: RedisProcess
) -> None:
    async def is_refused() -> bool:
        return not line.try_send(ECHOES, lambda _: None)

    await line.send(ECHOES)
    process.kill()
    await until(is_refused, "the connection that has ended refuses a batch")


async def test_who_sends_at_once_is_told_the_replies(line: BatchConnection) -> None:
    await line.send(ECHOES)
    told: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    assert line.try_send(ECHOES, told.set_result)
    async with asyncio.timeout(5):
        assert await told == ECHOED


async def test_who_sends_at_once_is_told_that_the_connection_has_ended(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, line_to(link.url) as line, asyncio.timeout(5):
        await line.send(ECHOES)
        link.stall()
        told: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        assert line.try_send(ECHOES, told.set_result)
        link.reset()
        assert isinstance(await told, RedisError)


async def test_a_line_that_was_closed_opens_again(line: BatchConnection) -> None:
    await line.send(ECHOES)
    await line.close()
    assert await line.send(ECHOES) == ECHOED


async def test_a_line_may_be_encrypted(process: RedisProcess, tmp_path: Path) -> None:
    tls, cert = make_tls(tmp_path)
    async with faulty_link(process.socket, tls) as link:
        url = f"rediss://localhost:{link.port}?ssl_ca_certs={cert}"
        async with line_to(url) as line:
            text = "x" * 1_000_000
            assert await line.send([("ECHO", text), *ECHOES]) == [text.encode(), *ECHOED]
