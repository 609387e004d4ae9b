"""A client for a single Redis: commands of many tasks share one connection, and a round trip.

redis-py takes a connection from its pool for each command, or pipeline, which costs several times what Redis takes to
answer (docs/decisions/0032-shared-round-trips.md). Here the commands that arrive while a batch is under way form
the next batch, over one `BatchConnection`. They are sent in the order of the calls.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from redis.asyncio.connection import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError

from fairest_protocol.value import Value
from fairest_server.store.redis.batch_connection import BatchConnection, CommandWords, pack
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis
from fairest_server.store.redis.driver import RedisCommand, read_reply

ENOUGH_IN_BATCH: Final = 16
"""Commands that share a round trip; a longer pipeline is a batch by itself. The callers of a batch continue in one turn
of the loop, perhaps each to read a log, which takes a millisecond; heartbeats are sent between batches.
"""


class _PendingCommands(Value, gc=True):
    """Packed commands of one caller, and the future that it awaits."""

    packed: bytes
    count: int
    replied: asyncio.Future[list[Any]]


class SingleNodeRedis(BatchingRedis):
    """A client for one Redis. Subscriptions take connections of the pool.

    Cancelling a caller is safe, and does not stop its commands: Redis may run them.
    """

    def __init__(self, connection_pool: ConnectionPool) -> None:
        super().__init__(connection_pool=connection_pool)
        self._connection = BatchConnection(self)
        self._pending: deque[_PendingCommands] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        """Send `commands` and return their replies in order, errors in their places.

        Raises the last RedisError or OSError once `RETRIES` further attempts failed.
        """
        if not commands:
            # Redis sends no reply to an empty batch, so the caller would wait for ever.
            return []
        replied: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        packed = b"".join([pack(_split_name(words)) for words, _ in commands])
        self._pending.append(_PendingCommands(packed, len(commands), replied))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_loop())
        replies = await replied
        return [self._read(words[0], options, reply) for (words, options), reply in zip(commands, replies, strict=True)]

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Wait for the replies to all commands, then close the connection, and the pool unless told to leave it.

        Cancelling ends the wait: callers without a reply get a `ConnectionError`, and the rest is closed all the same.
        """
        try:
            if self._sending is not None:
                await asyncio.wait([self._sending])
        finally:
            if self._sending is not None:
                self._sending.cancel()
                await asyncio.wait([self._sending])
            await self._connection.close()
            await super().aclose(close_connection_pool is not False)

    async def _send_loop(self) -> None:
        """Send the pending commands batch by batch until none is left.

        This is a task of its own, so that cancelling a caller does not cancel the others of its batch.
        """
        while self._pending:
            batch = self._next_batch()
            try:
                packed, count = b"".join([each.packed for each in batch]), sum(each.count for each in batch)
                replies = iter(await self._connection.send_packed(packed, count))
            except asyncio.CancelledError:
                self._fail(batch, RedisConnectionError("this client was closed"))
                raise
            except Exception as reason:  # of any kind: a caller that is not told would wait for ever
                self._fail(batch, reason)
            else:
                for each in batch:
                    own_replies = list(islice(replies, each.count))
                    if not each.replied.done():
                        each.replied.set_result(own_replies)

    def _fail(self, batch: list[_PendingCommands], reason: Exception) -> None:
        """Raise `reason` in the callers of a batch, and in those that wait behind it."""
        # Each batch by itself would take as long again.
        batch += self._pending
        self._pending.clear()
        for each in batch:
            if not each.replied.done():
                each.replied.set_exception(reason)

    def _next_batch(self) -> list[_PendingCommands]:
        """Take the callers that have waited longest; at least one, however many commands it has."""
        batch: list[_PendingCommands] = []
        count = 0
        while self._pending and (not batch or count + self._pending[0].count <= ENOUGH_IN_BATCH):
            count += self._pending[0].count
            batch.append(self._pending.popleft())
        return batch

    def _read(self, name: str, options: Mapping[str, Any], reply: Any) -> Any:
        """Return a reply as redis-py's methods return it; errors and raw replies as they are."""
        if isinstance(reply, Exception) or options == RAW_REPLY:
            return reply
        return read_reply(self, name, options, reply)


def _split_name(words: CommandWords) -> CommandWords:
    """Split a command's name such as "CONFIG SET", which redis-py gives as one word, into its two words."""
    return (*words[0].split(), *words[1:]) if " " in words[0] else words
