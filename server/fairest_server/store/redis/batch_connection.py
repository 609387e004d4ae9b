"""A connection to one Redis for batches of commands: one write, and one read of all replies.

redis-py's pipeline takes a connection from the pool for each batch, makes a task of each write, and goes through five
coroutines and a time limit for each reply. Here redis-py connects and authenticates, and then the socket is ours
(docs/decisions/0021-what-a-move-costs.md).
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast

import hiredis
from redis.asyncio import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from fairest_server.store.redis.driver import NOT_ENOUGH_DATA, open_connection, open_reader, take_over

RETRIES: Final = 2
"""How often a batch is sent again after its connection failed."""
BACKOFF: Final = ExponentialBackoff(base=0.02)
"""Seconds between two attempts: 0.04 and 0.08."""
CommandWords = tuple[Any, ...]
"""A command as it is sent: its name and its arguments."""
OnReplies = Callable[[list[Any] | RedisError], None]
"""A callback that is called once: with the replies to a batch in order, errors in their places, or with the error that
ended the connection.
"""


pack: Final[Callable[[CommandWords], bytes]] = hiredis.pack_command
"""Return a command in the bytes of Redis' protocol."""


class BatchConnection:
    """A connection that carries one batch at a time. It is opened at the first `send`, and again after it was lost."""

    def __init__(self, redis: Redis) -> None:
        self._pool = redis.connection_pool
        self._connection: Any = None
        self._protocol: _BatchProtocol | None = None

    def try_send(self, commands: Sequence[CommandWords], on_replies: OnReplies) -> bool:
        """Send `commands` over the open connection. Without one, return False and never call `on_replies`."""
        protocol = self._protocol
        return protocol is not None and protocol.send(b"".join(map(pack, commands)), len(commands), on_replies)

    async def send(self, commands: Sequence[CommandWords], failures: int = 0) -> list[Any]:
        """Send `commands` and return their replies in order, errors in their places.

        A batch whose connection fails is sent again, `RETRIES` times less the `failures` that it has had before. Raises
        the last RedisError or OSError. Cancelling leaves it unknown which commands Redis has run.
        """
        return await self.send_packed(b"".join(map(pack, commands)), len(commands), failures)

    async def send_packed(self, packed: bytes, count: int, failures: int = 0) -> list[Any]:
        """Send `count` commands that are packed already, as `send` does."""
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
        """End the connection. The next `send` opens another one."""
        if self._protocol is not None:
            self._protocol.end(RedisConnectionError("the connection was closed by us"))
            self._protocol = None
            await self._connection.disconnect(nowait=True)

    async def _exchange(self, packed: bytes, count: int) -> list[Any]:
        protocol = self._protocol
        if protocol is None or protocol.has_ended:
            await self.close()
            self._connection = await open_connection(self._pool)
            protocol = _BatchProtocol(self._connection.socket_timeout)
            protocol.connection_made(await take_over(self._connection, protocol))
            self._protocol = protocol
        replied: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        if not protocol.send(packed, count, partial(_settle, replied)):
            raise RedisConnectionError("the connection was closed")
        try:
            replies = await replied
        except asyncio.CancelledError:
            # The replies that are still to come would be taken for those to the next batch.
            protocol.end(RedisConnectionError("an exchange was cancelled"))
            raise
        for reply in replies:
            if isinstance(reply, RedisError):
                _raise_if_unusable(reply)
        return replies


class _BatchProtocol(asyncio.Protocol):
    """One exchange at a time over a transport: a batch out, as many replies in, within a time limit."""

    def __init__(self, timeout_seconds: float | None) -> None:
        self._timeout_seconds = timeout_seconds
        self._reader = open_reader()
        self._loop = asyncio.get_running_loop()
        self._replies: list[Any] = []
        self._missing = 0
        """How many replies are still to come."""
        self._on_replies: OnReplies | None = None
        self._overdue_at: float
        self._timeout_handle: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Use `transport` from now on."""
        # Those of uvloop are not instances of `asyncio.Transport`, but have its methods.
        self._transport = cast("asyncio.Transport", transport)
        # uvloop would otherwise write only after all other callbacks of this turn of the loop.
        self._transport.set_write_buffer_limits(high=0)

    @property
    def has_ended(self) -> bool:
        """Whether the connection has ended, so that another one is needed."""
        return self._transport.is_closing()

    def send(self, packed: bytes, count: int, on_replies: OnReplies) -> bool:
        """Send `count` packed commands; return False if the socket has ended."""
        if self._transport.is_closing():
            return False
        self._replies, self._missing, self._on_replies = [], count, on_replies
        self._start_timeout()
        self._transport.write(packed)
        return True

    def data_received(self, data: bytes) -> None:
        """Parse replies, and hand them over when the last one of the batch is there."""
        self._reader.feed(data)
        while self._missing:
            reply = self._reader.gets()
            if reply is NOT_ENOUGH_DATA:
                return
            self._replies.append(reply)
            self._missing -= 1
        if self._reader.has_data():
            # Every later reply would be taken for the reply to another command.
            self.end(RedisConnectionError("Redis sent a reply to no command"))
            return
        on_replies, self._on_replies = self._on_replies, None
        if on_replies is not None:
            on_replies(self._replies)

    def connection_lost(self, reason: Exception | None) -> None:
        """Fail the batch that is under way."""
        self.end(RedisConnectionError(f"Redis closed the connection: {reason or 'without a reason'}"))

    def end(self, reason: RedisError) -> None:
        """Close the socket at once; a batch that is under way fails with `reason`."""
        self._transport.abort()
        if self._timeout_handle is not None:
            self._timeout_handle.cancel()
        on_replies, self._on_replies = self._on_replies, None
        if on_replies is not None:
            on_replies(reason)

    def _start_timeout(self) -> None:
        """Set when this exchange is overdue. One timer serves all exchanges: setting one for each costs more."""
        if self._timeout_seconds is not None:
            self._overdue_at = self._loop.time() + self._timeout_seconds
            if self._timeout_handle is None:
                self._timeout_handle = self._loop.call_at(self._overdue_at, self._check_timeout)

    def _check_timeout(self) -> None:
        self._timeout_handle = None
        if not self._missing:
            return
        if self._loop.time() < self._overdue_at:
            # The timer was set by an earlier exchange.
            self._timeout_handle = self._loop.call_at(self._overdue_at, self._check_timeout)
        else:
            self.end(RedisTimeoutError("Redis did not answer in time"))


def _settle(replied: asyncio.Future[list[Any]], replies: list[Any] | RedisError) -> None:
    """Give the replies, or the error, to a future that may have been cancelled."""
    if replied.done():
        return
    if isinstance(replies, RedisError):
        replied.set_exception(replies)
    else:
        replied.set_result(replies)


def _raise_if_unusable(reply: RedisError) -> None:
    """Raise `ConnectionError` if this reply says that this Redis cannot serve us now: it is a replica, or is loading.

    A new connection may reach the Redis that took its place; redis-py does the same for Sentinels.
    """
    # Redis 6.2 wraps the error of a command in a script in an error of the script.
    if isinstance(reply, ReadOnlyError) or "READONLY" in str(reply):
        raise RedisConnectionError("this Redis is a replica now") from reply
    if isinstance(reply, RedisConnectionError):
        raise reply
