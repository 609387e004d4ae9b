"""A connection to one Redis that is kept for batches: one write, all replies read together, one look at the clock.

redis-py's pipeline takes a connection from the pool for each batch, makes a task of each write, and goes through five
coroutines and a time limit for each reply. Here redis-py connects and says who we are; from then on the socket is ours.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import hiredis
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.asyncio import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

RETRIES: Final = 2
BACKOFF: Final = ExponentialBackoff(cap=0.2, base=0.02)
"""Seconds between two attempts."""
Command = tuple[Any, ...]
"""The words of a command."""
OnReplies = Callable[[list[Any] | RedisError], None]
"""Is called once: with the replies to a batch, in order, an error in the place of a reply; or with the error with which
the connection ended.
"""


pack: Final[Callable[[Command], bytes]] = hiredis.pack_command
"""A command as Redis reads it."""


class BatchConnection:
    """Opened when it is first needed, and again whenever it was lost. One batch at a time."""

    def __init__(self, redis: Redis) -> None:
        self._pool: Any = redis.connection_pool
        self._connection: Any = None
        self._socket: _Socket | None = None

    def try_send(self, commands: Sequence[Command], on_replies: OnReplies) -> bool:
        """Send these commands over the connection that is open, or return False if none is."""
        socket = self._socket
        return socket is not None and socket.exchange(b"".join(map(pack, commands)), len(commands), on_replies)

    async def send(self, commands: Sequence[Command], failures: int = 0) -> list[Any]:
        """The replies to these commands, in order; an error in the place of a reply. Raises RedisError, and OSError.

        After so many failures they are tried that much less often. Cancelling leaves in doubt what was done.
        """
        return await self.send_packed(b"".join(map(pack, commands)), len(commands), failures)

    async def send_packed(self, packed: bytes, count: int, failures: int = 0) -> list[Any]:
        """The same for so many commands that are packed already."""
        while True:
            if failures:
                await asyncio.sleep(BACKOFF.compute(failures))
            try:
                return await self._exchange(packed, count)
            except (RedisConnectionError, RedisTimeoutError):
                await self.close()
                failures += 1
                if failures > RETRIES:
                    raise

    async def close(self) -> None:
        """End the connection. What is sent afterwards opens another one."""
        if self._socket is not None:
            self._socket.end(RedisConnectionError("the line was closed"))
            self._socket = None
            await self._connection.disconnect(nowait=True)

    async def _exchange(self, packed: bytes, count: int) -> list[Any]:
        socket = self._socket
        if socket is None or socket.has_ended:
            await self.close()
            self._connection = self._pool.make_connection()
            await self._connection.connect()
            self._socket = socket = _Socket(self._connection)
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        if not socket.exchange(packed, count, partial(_settle, answered)):
            raise RedisConnectionError("the connection was closed")
        try:
            replies = await answered
        except asyncio.CancelledError:
            # What was read by half is of no use to the next one.
            socket.end(RedisConnectionError("an exchange was cut off"))
            raise
        for reply in replies:
            if isinstance(reply, RedisError):
                await self._connection.check(reply)
        return replies


class _Socket(asyncio.Protocol):
    """The socket and the parser of a connection of redis-py's that is ready for commands: neither has a public name."""

    def __init__(self, connection: Any) -> None:
        self._transport: asyncio.Transport = connection._writer.transport  # noqa: SLF001
        self._parser = connection._parser._reader  # noqa: SLF001
        self._timeout_seconds: float | None = connection.socket_timeout
        self._loop = asyncio.get_running_loop()
        self._replies: list[Any] = []
        self._missing = 0
        self._on_replies: OnReplies | None = None
        self._overdue_at = 0.0
        self._timeout_handle: asyncio.TimerHandle | None = None
        self._transport.set_protocol(self)
        # Written at once: uvloop would wait until everything else of this moment is done.
        self._transport.set_write_buffer_limits(high=0)

    @property
    def has_ended(self) -> bool:
        """Whether another one is needed."""
        return self._transport.is_closing()

    def exchange(self, packed: bytes, count: int, on_replies: OnReplies) -> bool:
        """Send packed commands, to which there will be so many replies; False if the socket has ended."""
        if self._transport.is_closing():
            return False
        self._replies, self._missing, self._on_replies = [], count, on_replies
        self._expect_in_time()
        self._transport.write(packed)
        return True

    def data_received(self, data: bytes) -> None:
        """Redis says something."""
        self._parser.feed(data)
        while self._missing:
            reply = self._parser.gets()
            if reply is NOT_ENOUGH_DATA:
                return
            self._replies.append(reply)
            self._missing -= 1
        if self._parser.has_data():
            # From here on every reply would be taken for another one's.
            self.end(RedisConnectionError("Redis says something that nobody asked for"))
            return
        on_replies, self._on_replies = self._on_replies, None
        if on_replies is not None:
            on_replies(self._replies)

    def connection_lost(self, reason: Exception | None) -> None:
        """Redis, or something on the way there, is gone."""
        self.end(RedisConnectionError(f"Redis closed the connection: {reason or 'without a reason'}"))

    def end(self, reason: RedisError) -> None:
        """Let go of the socket at once; who waits for replies is told this."""
        self._transport.abort()
        if self._timeout_handle is not None:
            self._timeout_handle.cancel()
        on_replies, self._on_replies = self._on_replies, None
        if on_replies is not None:
            on_replies(reason)

    def _expect_in_time(self) -> None:
        """One timer watches all exchanges, each of which only says until when it may take."""
        if self._timeout_seconds is not None:
            self._overdue_at = self._loop.time() + self._timeout_seconds
            if self._timeout_handle is None:
                self._timeout_handle = self._loop.call_at(self._overdue_at, self._check_timeout)

    def _check_timeout(self) -> None:
        self._timeout_handle = None
        if not self._missing:
            return
        if self._loop.time() < self._overdue_at:
            self._timeout_handle = self._loop.call_at(self._overdue_at, self._check_timeout)
        else:
            self.end(RedisTimeoutError("Redis did not answer in time"))


def _settle(answered: asyncio.Future[list[Any]], replies: list[Any] | RedisError) -> None:
    """For who awaits what is told, if it still does."""
    if answered.done():
        return
    if isinstance(replies, RedisError):
        answered.set_exception(replies)
    else:
        answered.set_result(replies)
