"""The one file that relies on parts of redis-py that are not its documented interface.

Tried with redis-py 8.1.0 and hiredis 3.0.0, 3.1.0, 3.2.0 and 3.5.0 (pyproject.toml allows no others);
`tests/drivers/test_redis_driver.py` asserts each name on the installed version.

- `AbstractConnection._connect`: overridden, so that two tasks that find a socket closed open one new one.
- `AbstractConnection._writer`: its transport gets a protocol of ours (docs/decisions/0021-what-a-move-costs.md).
- `AbstractConnection.connect_check_health`: overridden, because redis-py does not close every connection whose
  handshake failed. All ways to connect go through it.
- `AbstractConnection.can_read`: tells whether redis-py has left bytes unread on a connection that we take over.
- `BaseParser.parse_error`: gives errors in replies the classes that redis-py gives them.
- `ConnectionPool.connection_class`: replaced after the pool was made, because the URL's class overrules an argument.
- `ConnectionPool.make_connection`: opens a connection that the pool does not count.
- `Pipeline.__init__(connection_pool, response_callbacks, transaction, shard_hint)`: called by position.
- `Pipeline.command_stack`: the commands of a pipeline, each as words and options.
- `Redis.response_callbacks`: how the reply to each command is read.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import hiredis
from redis import DriverInfo
from redis._parsers import BaseParser
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse

RedisCommand = tuple[tuple[Any, ...], Mapping[str, Any]]
"""A command as redis-py keeps it: its words, and options for reading the reply."""
SendCommands = Callable[[Sequence[RedisCommand]], Awaitable[list[Any]]]

NOT_ENOUGH_DATA: Final = object()
"""Returned by a reader that has no whole reply; None and False are replies."""
_LIBRARY: Final = DriverInfo()
"""The name and version of the library, which Redis shows in CLIENT LIST.

Without it, redis-py reads the version from the files of its package for each connection: 0.9 ms of processor time.
"""
_NOT_FOR_READING: Final = "keys"
"""An option of commands that is for redis-py's cache of replies, which is not used here."""


class FailoverConnection(AbstractConnection):
    """A connection that is opened once, reports a closed socket, and is closed when its handshake fails.

    Two tasks share the connection of a subscription. When both find the socket closed, redis-py opens two sockets and
    leaks one. uvloop raises RuntimeError for a closed socket; redis-py does not take that for an error of the
    connection, so it would neither try again nor report it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connecting = asyncio.Lock()

    async def _connect(self) -> None:
        async with self._connecting:
            if not self.is_connected:
                await super()._connect()  # type: ignore[safe-super, no-untyped-call]

    async def connect_check_health(self, *arguments: Any, **options: Any) -> None:
        """Connect and authenticate. The connection is closed if that fails or is cancelled.

        redis-py closes it only for an error of Redis, and does not for one in the first of the two handshakes that it
        makes over a Unix socket.
        """
        async with AsyncExitStack() as undoing:
            undoing.push_async_callback(self.disconnect, nowait=True)
            await super().connect_check_health(*arguments, **options)
            undoing.pop_all()

    async def send_packed_command(self, *arguments: Any, **options: Any) -> None:
        """Send as redis-py does. Raises `ConnectionError` for a closed socket."""
        try:
            await super().send_packed_command(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        """Read as redis-py does. Raises `ConnectionError` for a closed socket."""
        try:
            return await super().read_response(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason


class _TcpConnection(FailoverConnection, Connection):
    pass


class _TlsConnection(FailoverConnection, SSLConnection):
    pass


class _UnixConnection(FailoverConnection, UnixDomainSocketConnection):
    pass


_CONNECTION_CLASSES: Final[dict[str, type[Connection | UnixDomainSocketConnection]]] = {
    "redis": _TcpConnection,
    "rediss": _TlsConnection,
    "unix": _UnixConnection,
}


def open_pool(url: str, **options: Any) -> ConnectionPool:
    """Return a pool of `FailoverConnection`s to a single Redis; nothing is sent yet.

    RESP 2, because redis-py 8.1.0 does not replace pooled sockets that the server closed under RESP 3 (its issue 4252).
    Raises ValueError for a URL of another scheme.
    """
    pool = ConnectionPool.from_url(url, protocol=2, driver_info=_LIBRARY, **options)
    pool.connection_class = _CONNECTION_CLASSES[urlsplit(url).scheme]
    return pool


async def open_connection(pool: ConnectionPool) -> AbstractConnection:
    """Return a new connection that the caller owns and the pool does not know. Raises RedisError.

    Cancelling closes the connection.
    """
    connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]
    await connection.connect()  # type: ignore[no-untyped-call]
    return connection


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[AbstractConnection]:
    """Yield a connection to a Redis that may be starting or ending. Raises RedisError, OSError at the first failure.

    It has no time limit for reads and writes, under which redis-py may swallow a cancellation
    (docs/decisions/0002-redis-client.md). It is closed wherever it is cancelled: closing does not wait, while a client
    of redis-py stays open when its `async with` is cancelled at the end.
    """
    connection = await open_connection(open_pool(url, socket_timeout=None, retry=Retry(NoBackoff(), 0)))
    try:
        yield connection
    finally:
        await connection.disconnect(nowait=True)


async def ask(connection: AbstractConnection, *words: str) -> Any:
    """Send a command over a connection that no client uses; return its reply. Raises RedisError, OSError.

    Cancelling closes the connection.
    """
    await connection.send_command(*words)
    return await connection.read_response()


async def take_over(connection: AbstractConnection, protocol: asyncio.Protocol) -> asyncio.Transport:
    """Return the transport of an open connection; what Redis sends from now on goes to `protocol`.

    redis-py may no longer read from this connection, write to it, or wait until it is closed: its stream is never told
    that. `disconnect(nowait=True)` is all that is left to do with it. Raises `ConnectionError` when the connection has
    ended, or when bytes wait to be read: the reply to the first command would be taken from them.
    """
    if await connection.can_read():
        await connection.disconnect(nowait=True)
        raise RedisConnectionError("Redis ended a new connection, or sent a reply to no command over it")
    # Nothing is awaited from here on, so nothing can arrive in between.
    writer: Any = connection._writer  # noqa: SLF001 - listed above
    transport: asyncio.Transport = writer.transport
    transport.set_protocol(protocol)
    return transport


def open_reader() -> hiredis.Reader:
    """Return a parser of replies whose errors are those that redis-py would raise.

    It is ours, because redis-py has a parser of its own in Python beside hiredis 3.0 and 3.1.
    """
    return hiredis.Reader(
        protocolError=InvalidResponse,
        replyError=BaseParser.parse_error,
        notEnoughData=NOT_ENOUGH_DATA,
    )


def read_reply(redis: Redis, name: str, options: Mapping[str, Any], reply: Any) -> Any:
    """Return the reply to the command `name` as the methods of redis-py return it."""
    read = redis.response_callbacks.get(name)
    if read is None:
        return reply
    return read(reply, **{option: given for option, given in options.items() if option != _NOT_FOR_READING})


class BatchPipeline(Pipeline):
    """A pipeline of redis-py whose commands `send_commands` sends together."""

    def __init__(self, redis: Redis, send_commands: SendCommands) -> None:
        super().__init__(redis.connection_pool, redis.response_callbacks, False, None)
        self._send_commands = send_commands

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send the commands and return their replies in order, errors in their places.

        Raises the first error among them when `raise_on_error` is True; RedisError and OSError when none was answered.
        """
        commands, self.command_stack = self.command_stack, []
        replies = await self._send_commands(commands)
        return raise_first_error(replies) if raise_on_error else replies


def raise_first_error(replies: list[Any]) -> list[Any]:
    """Return `replies`, or raise the first of them that is an error."""
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
