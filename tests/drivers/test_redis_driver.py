"""The names of redis-py and hiredis that `store/redis/driver.py` relies on exist in the installed versions."""

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hiredis
import pytest
import redis as redis_py
from redis._parsers import BaseParser
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    InvalidResponse,
    MovedError,
    NoScriptError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from fairest_server.store.redis import driver
from fairest_server.store.redis.batch_connection import pack
from tests.support.processes import redis_process
from tests.support.waiting import PATIENCE_SECONDS, until


def calls(function: Callable[..., object], attribute: str) -> bool:
    """Whether a function's code names this attribute."""
    return attribute in inspect.getsource(function)


def pool() -> ConnectionPool:
    return ConnectionPool.from_url("redis://localhost:1")


def commands_of(call: Callable[[Pipeline], object]) -> list[Any]:
    """Return the commands that a pipeline holds after this call."""
    pipeline = Redis(connection_pool=pool()).pipeline()
    call(pipeline)
    return pipeline.command_stack


NAMES: dict[str, Callable[[], bool]] = {
    "AbstractConnection._connect": lambda: (
        all("_connect" in vars(each) for each in (Connection, UnixDomainSocketConnection))
        and issubclass(SSLConnection, Connection)
        and calls(AbstractConnection.connect_check_health, "self._connect()")
    ),
    "AbstractConnection._writer": lambda: (
        calls(UnixDomainSocketConnection._connect, "self._writer = writer")
        and calls(Connection._connect, "self._writer = writer")
    ),
    "AbstractConnection.connect_check_health": lambda: (
        calls(AbstractConnection.connect, "self.connect_check_health(")
        and calls(AbstractConnection.send_packed_command, "self.connect_check_health(")
    ),
    "AbstractConnection.can_read": lambda: inspect.iscoroutinefunction(AbstractConnection.can_read),
    "BaseParser.parse_error": lambda: callable(BaseParser.parse_error),
    "ConnectionPool.connection_class": lambda: calls(ConnectionPool.make_connection, "self.connection_class("),
    "ConnectionPool.make_connection": lambda: isinstance(pool().make_connection(), Connection),  # type: ignore[no-untyped-call]
    "Pipeline.__init__": lambda: (
        list(inspect.signature(Pipeline.__init__).parameters)
        == [*("self", "connection_pool", "response_callbacks", "transaction", "shard_hint")]
    ),
    "Pipeline.command_stack": lambda: (
        commands_of(lambda pipeline: pipeline.get("x")) == [(("GET", "x"), {"keys": ["x"]})]
    ),
    "Redis.response_callbacks": lambda: "INFO" in Redis(connection_pool=pool()).response_callbacks,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_driver_relies_on_is_listed_there_and_is_where_it_was(name: str) -> None:
    assert f"- `{name}" in str(driver.__doc__)
    assert NAMES[name]()


def test_every_name_that_the_driver_lists_is_tested() -> None:
    assert str(driver.__doc__).count("\n- `") == len(NAMES)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        pytest.param(b"-NOSCRIPT No matching script.\r\n", NoScriptError, id="NOSCRIPT"),
        pytest.param(b"-READONLY You can't write against a read only replica.\r\n", ReadOnlyError, id="READONLY"),
        pytest.param(b"-LOADING Redis is loading the dataset in memory\r\n", BusyLoadingError, id="LOADING"),
        pytest.param(b"-MOVED 3999 127.0.0.1:6381\r\n", MovedError, id="MOVED"),
        pytest.param(b"-ASK 3999 127.0.0.1:6381\r\n", AskError, id="ASK"),
        pytest.param(b"-ERR unknown command 'SAY'\r\n", ResponseError, id="ERR"),
        pytest.param(b"-WRONGTYPE \xff is not text\r\n", ResponseError, id="not text"),
    ],
)
def test_an_error_in_a_reply_has_the_class_that_redis_py_gives_it(reply: bytes, error: type[RedisError]) -> None:
    reader = driver.open_reader()
    reader.feed(reply)
    assert type(reader.gets()) is error


def test_bytes_that_are_no_reply_are_an_error_of_redis_py() -> None:
    reader = driver.open_reader()
    reader.feed(b"HTTP/1.1 400 Bad Request\r\n")
    with pytest.raises(InvalidResponse):
        reader.gets()


@pytest.mark.parametrize("reply", [b"$-1\r\n", b"*-1\r\n", b"$0\r\n\r\n"])
def test_a_reply_that_is_nothing_is_a_reply_all_the_same(reply: bytes) -> None:
    reader = driver.open_reader()
    assert reader.gets() is driver.NOT_ENOUGH_DATA
    reader.feed(reply)
    assert reader.gets() in (None, b"")


def test_the_reader_and_the_packing_are_public_names_of_hiredis() -> None:
    assert isinstance(driver.open_reader(), hiredis.Reader)
    assert pack(("GET", "x")) == b"*2\r\n$3\r\nGET\r\n$1\r\nx\r\n"


async def test_a_connection_whose_handshake_failed_is_closed() -> None:
    """redis-py leaves it open when it connects again for a subscription over a Unix socket."""
    with redis_process() as process:
        connection = driver.open_pool(f"{process.url}?db=99").make_connection()  # type: ignore[no-untyped-call]
        with pytest.raises(RedisError, match="out of range"):
            await connection.connect_check_health()
        assert not connection.is_connected


class ClosedByUvloop(driver.FailoverConnection, UnixDomainSocketConnection):
    """A connection whose socket is closed, as uvloop reports it."""

    async def connect_check_health(self, *arguments: Any, **options: Any) -> None:
        await super().connect_check_health(*arguments, **options)
        writer: Any = self._writer
        parser: Any = self._parser
        writer.writelines = parser.read_response = raise_as_uvloop


def raise_as_uvloop(*_: object, **__: object) -> None:
    raise RuntimeError("unable to perform operation on <UnixTransport closed=True>; the handler is closed")


@pytest.mark.parametrize("use", ["send_packed_command", "read_response"])
async def test_a_connection_that_uvloop_reports_as_closed_is_closed_with_an_error_of_redis(use: str) -> None:
    with redis_process() as process:
        pool = driver.open_pool(process.url)
        pool.connection_class = ClosedByUvloop
        connection = await driver.open_connection(pool)
        with pytest.raises(RedisConnectionError, match="the handler is closed"):
            await (connection.read_response() if use == "read_response" else connection.send_packed_command([b"x"]))
        assert not connection.is_connected


async def test_a_connection_with_unread_bytes_is_not_taken_over(tmp_path: Path) -> None:
    """The first of them would be taken for the reply to our first command."""
    has_ended = asyncio.Event()

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # redis-py sends two commands when it connects, and over a Unix socket both of them twice.
        for expected in (1, 2, 3, 4):
            for _ in range(7):
                await reader.readline()
            writer.write(b"+OK\r\n" if expected < 4 else b"+OK\r\n+more\r\n")
        await reader.read()
        writer.close()
        await writer.wait_closed()
        has_ended.set()

    async with await asyncio.start_unix_server(reply, tmp_path / "redis"):
        connection = await driver.open_connection(driver.open_pool(f"unix://{tmp_path / 'redis'}"))
        with pytest.raises(RedisConnectionError, match="reply to no command"):
            await driver.take_over(connection, asyncio.Protocol())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await has_ended.wait()


async def test_a_connection_is_closed_wherever_it_is_cancelled(redis_url: str, redis: Redis) -> None:
    async def greet() -> None:
        async with driver.connected(redis_url) as connection:
            await driver.ask(connection, "PING")

    before = len(await redis.client_list())
    for iterations in range(60):
        greeting = asyncio.create_task(greet())
        for _ in range(iterations):
            await asyncio.sleep(0)
        greeting.cancel()
        await asyncio.wait([greeting])

    async def are_closed() -> bool:
        return len(await redis.client_list()) <= before

    await until(are_closed, "Redis has no more connections than before")


def test_a_pipeline_reads_replies_as_its_client_and_is_no_transaction() -> None:
    async def send_nothing(_: object) -> list[Any]:
        return []

    client = Redis(connection_pool=pool())
    pipeline = driver.BatchPipeline(client, send_nothing)
    assert (pipeline.response_callbacks, pipeline.is_transaction) == (client.response_callbacks, False)


def test_no_connection_reads_the_version_of_its_library_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """redis-py would: it parses the files of its package for that."""

    def refuse(_: str) -> str:
        raise AssertionError("the version is read")

    monkeypatch.setattr("importlib.metadata.version", refuse)
    connection: Any = driver.open_pool("redis://localhost:1").make_connection()  # type: ignore[no-untyped-call]
    assert connection.driver_info.lib_version == redis_py.__version__
