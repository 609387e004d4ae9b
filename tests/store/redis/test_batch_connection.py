"""A `BatchConnection` gives each batch its own replies, whatever happens to the socket."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from fairest_server.store.redis.batch_connection import BatchConnection, pack
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.driver import FailoverConnection
from tests.support.certificates import make_tls
from tests.support.faulty_link import FaultyLink, faulty_link
from tests.support.processes import RedisProcess, redis_process
from tests.support.waiting import PATIENCE_SECONDS, until

ECHOES = [("ECHO", "one"), ("ECHO", "two")]
ECHOED = [b"one", b"two"]


@pytest.fixture
def process() -> Iterator[RedisProcess]:
    with redis_process() as process:
        yield process


@asynccontextmanager
async def connection_to(url: str, timeout_seconds: float | None = 2.0) -> AsyncIterator[BatchConnection]:
    redis: Redis = make_client(url, timeout_seconds)
    connection = BatchConnection(redis)
    try:
        yield connection
    finally:
        await connection.close()
        await redis.aclose()


@pytest.fixture
async def connection(process: RedisProcess) -> AsyncIterator[BatchConnection]:
    async with connection_to(process.url) as connection:
        yield connection


async def test_replies_come_in_the_order_of_their_commands(connection: BatchConnection) -> None:
    assert await connection.send(ECHOES) == ECHOED


async def test_an_error_stands_in_the_place_of_a_reply(connection: BatchConnection) -> None:
    first, wrong, last = await connection.send([ECHOES[0], ("LPOP",), ECHOES[1]])
    assert isinstance(wrong, ResponseError)
    assert [first, last] == ECHOED


@pytest.mark.parametrize(
    "error",
    [
        pytest.param("READONLY You can't write against a read only replica.", id="as Redis says it"),
        pytest.param(
            "ERR Error running script: @user_script:1: READONLY You can't write", id="as a script of 6.2 does"
        ),
    ],
)
async def test_a_redis_that_has_become_a_replica_cannot_serve(connection: BatchConnection, error: str) -> None:
    with pytest.raises(RedisConnectionError, match="is a replica now"):
        await connection.send([("EVAL", "return redis.error_reply(ARGV[1])", 0, error)])


async def test_a_reply_that_comes_in_pieces_is_whole(connection: BatchConnection) -> None:
    text = "x" * 5_000_000
    assert await connection.send([("ECHO", text), *ECHOES]) == [text.encode(), *ECHOED]


async def test_a_connection_that_redis_ended_is_replaced(connection: BatchConnection, process: RedisProcess) -> None:
    await connection.send(ECHOES)
    process.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert await connection.send(ECHOES) == ECHOED


async def test_a_redis_that_was_started_again_is_reached_again(
    connection: BatchConnection, process: RedisProcess
) -> None:
    await connection.send(ECHOES)
    process.kill()
    process.start()
    assert await connection.send(ECHOES) == ECHOED


async def test_without_redis_there_is_an_error(connection: BatchConnection, process: RedisProcess) -> None:
    await connection.send(ECHOES)
    process.kill()
    with pytest.raises(RedisError):
        await connection.send(ECHOES)


async def test_a_batch_is_tried_three_times_with_pauses_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def shortened(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    class Unreachable(ConnectionPool):
        def make_connection(self) -> AbstractConnection:
            raise RedisConnectionError("there is no Redis")

    monkeypatch.setattr(asyncio, "sleep", shortened)
    async with Redis(connection_pool=Unreachable()) as redis:
        with pytest.raises(RedisError):
            await BatchConnection(redis).send(ECHOES)
    assert pauses == [0.04, 0.08]


class Ending(FailoverConnection, UnixDomainSocketConnection):
    """A connection that ends just before its socket is taken over."""

    async def can_read(self, *_: object, **__: object) -> bool:
        writer: Any = self._writer
        writer.transport.abort()
        return False


async def test_a_new_connection_that_ends_before_anything_is_sent_is_an_error(process: RedisProcess) -> None:
    async with make_client(process.url) as redis, asyncio.timeout(PATIENCE_SECONDS):
        redis.connection_pool.connection_class = Ending
        with pytest.raises(RedisConnectionError, match="the connection was closed"):
            await BatchConnection(redis).send(ECHOES)


async def test_a_redis_that_has_become_a_replica_is_left_with_that_as_the_reason(
    connection: BatchConnection, process: RedisProcess
) -> None:
    """And not with a time limit, which closing the connection had run into."""
    await connection.send(ECHOES)
    process.call("REPLICAOF", "127.0.0.1", 1)
    with pytest.raises(RedisError, match="a replica now"):
        await connection.send([("SET", "key", "value")])


async def test_a_redis_that_does_not_answer_is_given_up_in_time_and_answers_again_later(process: RedisProcess) -> None:
    """Though the timer that all exchanges share was set by the one before."""
    async with connection_to(process.url, timeout_seconds=0.1) as connection:
        await connection.send([("BLPOP", "nothing", "0.05")])
        process.freeze()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                with pytest.raises(RedisError, match=r"Timeout|in time"):
                    await connection.send([("ECHO", "too late")])
        finally:
            process.thaw()
        assert await connection.send(ECHOES) == ECHOED


async def test_the_time_limit_is_that_of_each_exchange_and_not_of_the_first(process: RedisProcess) -> None:
    async with connection_to(process.url, timeout_seconds=2.0) as connection:
        first_id = await connection.send([("CLIENT", "ID")])
        for _ in range(4):
            await connection.send([("BLPOP", "nothing", "0.6")])
        assert await connection.send([("CLIENT", "ID")]) == first_id


async def test_an_exchange_that_is_cut_off_by_a_reset_is_made_again(process: RedisProcess) -> None:
    """At once, without any time limit."""
    async with (
        faulty_link(process.socket) as link,
        connection_to(link.url, timeout_seconds=None) as connection,
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        await connection.send(ECHOES)
        link.stall()
        sending = asyncio.create_task(connection.send(ECHOES))
        await asyncio.sleep(0)
        link.reset()
        link.flow()
        assert await sending == ECHOED


async def cancel_an_exchange(link: FaultyLink, connection: BatchConnection) -> asyncio.Task[list[Any]]:
    """Cancel a sender whose batch has gone into the link, which is stalled then; return its task, which has ended."""
    await connection.send(ECHOES)
    link.stall()
    sending = asyncio.create_task(connection.send([("ECHO", "cancelled")]))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait([sending])
    return sending


async def test_the_replies_to_a_cancelled_exchange_are_not_those_of_the_next_one(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, connection_to(link.url) as connection:
        await cancel_an_exchange(link, connection)
        link.flow()
        assert await connection.send(ECHOES) == ECHOED


async def test_a_connection_whose_exchange_was_cancelled_takes_no_more_batches(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, connection_to(link.url) as connection:
        await cancel_an_exchange(link, connection)
        assert not connection.try_send(ECHOES, lambda _: None)


async def test_a_sender_that_is_cancelled_ends_as_cancelled(process: RedisProcess) -> None:
    async with faulty_link(process.socket) as link, connection_to(link.url) as connection:
        sending = await cancel_an_exchange(link, connection)
        assert sending.cancelled()


async def test_a_redis_that_is_loading_is_tried_again_and_then_left(connection: BatchConnection) -> None:
    with pytest.raises(RedisError, match="loading"):
        await connection.send([("EVAL", "return redis.error_reply('LOADING Redis is loading')", 0)])


async def test_a_connection_over_which_redis_sends_a_reply_to_no_command_is_replaced(
    connection: BatchConnection, process: RedisProcess
) -> None:
    await connection.send([("SUBSCRIBE", "news")])

    async def has_left() -> bool:
        return process.call("PUBLISH", "news", "from elsewhere") == 0

    await until(has_left, "Redis has no subscriber left")
    assert await connection.send(ECHOES) == ECHOED


async def test_a_reply_to_no_command_is_not_the_reply_to_the_next_one(connection: BatchConnection) -> None:
    """It comes together with the reply to a command: SUBSCRIBE replies once for each channel."""
    with suppress(RedisError):
        await connection.send([("SUBSCRIBE", "news", "weather")])
    assert await connection.send(ECHOES) == ECHOED


async def test_a_connection_that_is_not_open_yet_does_not_send_without_waiting(connection: BatchConnection) -> None:
    assert not connection.try_send(ECHOES, print)


async def test_a_connection_that_redis_ended_does_not_send_without_waiting(
    connection: BatchConnection, process: RedisProcess
) -> None:
    async def is_refused() -> bool:
        return not connection.try_send(ECHOES, lambda _: None)

    await connection.send(ECHOES)
    process.kill()
    await until(is_refused, "the connection that has ended refuses a batch")


async def test_a_sender_that_does_not_wait_is_called_with_the_replies(connection: BatchConnection) -> None:
    await connection.send(ECHOES)
    replied: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    assert connection.try_send(ECHOES, replied.set_result)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await replied == ECHOED


async def test_a_sender_that_does_not_wait_is_called_with_the_error_that_ended_the_connection(
    process: RedisProcess,
) -> None:
    async with (
        faulty_link(process.socket) as link,
        connection_to(link.url) as connection,
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        await connection.send(ECHOES)
        link.stall()
        replied: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        assert connection.try_send(ECHOES, replied.set_result)
        link.reset()
        assert isinstance(await replied, RedisError)


async def test_a_connection_that_was_closed_opens_again(connection: BatchConnection) -> None:
    await connection.send(ECHOES)
    await connection.close()
    assert await connection.send(ECHOES) == ECHOED


async def test_a_connection_may_be_encrypted(process: RedisProcess, tmp_path: Path) -> None:
    tls, cert = make_tls(tmp_path)
    async with faulty_link(process.socket, tls) as link:
        url = f"rediss://localhost:{link.port}?ssl_ca_certs={cert}"
        async with connection_to(url) as connection:
            text = "x" * 1_000_000
            assert await connection.send([("ECHO", text), *ECHOES]) == [text.encode(), *ECHOED]


@asynccontextmanager
async def redis_that_hangs_up() -> AsyncIterator[tuple[str, list[int]]]:
    """Yield the URL of a server that closes each connection at its first ECHO, and a list that grows with each one."""
    hung_up: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while received := await reader.read(1000):
            if b"ECHO" in received:
                hung_up.append(1)
                break
            writer.write(b"+OK\r\n" * received.count(b"*"))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", hung_up


async def test_a_batch_is_sent_three_times_before_it_fails() -> None:
    async with redis_that_hangs_up() as (url, hung_up), connection_to(url) as connection:
        with pytest.raises(RedisConnectionError):
            await connection.send(ECHOES)
    assert len(hung_up) == 3


async def test_a_packed_batch_is_sent_three_times_before_it_fails() -> None:
    async with redis_that_hangs_up() as (url, hung_up), connection_to(url) as connection:
        with pytest.raises(RedisConnectionError):
            await connection.send_packed(pack(ECHOES[0]), 1)
    assert len(hung_up) == 3


async def test_the_failures_that_a_batch_has_had_count() -> None:
    async with redis_that_hangs_up() as (url, hung_up), connection_to(url) as connection:
        with pytest.raises(RedisConnectionError):
            await connection.send(ECHOES, failures=2)
    assert len(hung_up) == 1
