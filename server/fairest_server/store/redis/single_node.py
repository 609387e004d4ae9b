"""A single Redis behind one line: what many tasks ask of it at the same time shares a round trip.

redis-py takes a connection from its pool for each command, or pipeline, which costs several times what Redis takes to
answer (docs/decisions/0032-shared-round-trips.md). Here whatever is asked while others are answered goes next,
together, over the one connection of a `BatchConnection`. Its order is kept.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from redis.asyncio.connection import ConnectionPool

from fairest_protocol.value import Value
from fairest_server.store.redis.batch_connection import BatchConnection, pack
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis, Command

ENOUGH_IN_BATCH: Final = 16
"""Commands that share a round trip, or those of one pipeline. Who asked goes on in one go, which may be to read a log:
that takes a millisecond each, and beats get in between batches.
"""


class _PendingCommands(Value, gc=True):
    """Commands, packed, of somebody who waits for the replies."""

    packed: bytes
    count: int
    replied: asyncio.Future[list[Any]]


class SingleNodeRedis(BatchingRedis):
    """One Redis. Subscriptions take a connection of the pool as ever.

    Cancelling who waits is safe, and stops nothing: what was asked may be done.
    """

    def __init__(self, connection_pool: ConnectionPool) -> None:
        super().__init__(connection_pool=connection_pool)
        self.auto_close_connection_pool = True
        self._connection = BatchConnection(self)
        self._pending: deque[_PendingCommands] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def send_commands(self, commands: Sequence[Command]) -> list[Any]:
        """As `BatchingRedis` says; raised is what is wrong when Redis was tried as often as it should be."""
        if not commands:
            # There would never be an answer to nothing.
            return []
        replied: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        packed = b"".join([pack(_split(words)) for words, _ in commands])
        self._pending.append(_PendingCommands(packed, len(commands), replied))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_loop())
        replies = await replied
        return [self._read(words[0], options, reply) for (words, options), reply in zip(commands, replies, strict=True)]

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close all connections, when what was asked is answered."""
        if self._sending is not None:
            await asyncio.wait([self._sending])
        await self._connection.close()
        await super().aclose(close_connection_pool)

    async def _send_loop(self) -> None:
        """Send what was asked, batch by batch, until nothing is left. A task, so that who waits may be cancelled."""
        while self._pending:
            batch = self._next_batch()
            try:
                packed, count = b"".join([asked.packed for asked in batch]), sum(asked.count for asked in batch)
                replies = iter(await self._connection.send_packed(packed, count))
            except Exception as reason:  # whatever it is: who waits is told
                # Redis was tried as often as it should be for those who came behind this batch as well.
                batch += self._pending
                self._pending.clear()
                for asked in batch:
                    if not asked.replied.done():
                        asked.replied.set_exception(reason)
            else:
                for asked in batch:
                    its_own = list(islice(replies, asked.count))
                    if not asked.replied.done():
                        asked.replied.set_result(its_own)

    def _next_batch(self) -> list[_PendingCommands]:
        """Those who have waited longest; at least one, however much it asks."""
        batch: list[_PendingCommands] = []
        count = 0
        while self._pending and (not batch or count + self._pending[0].count <= ENOUGH_IN_BATCH):
            count += self._pending[0].count
            batch.append(self._pending.popleft())
        return batch

    def _read(self, name: str, options: Mapping[str, Any], reply: Any) -> Any:
        """A reply as redis-py's methods return it, or as it comes."""
        read = self.response_callbacks.get(name)
        if read is None or isinstance(reply, Exception) or options == RAW_REPLY:
            return reply
        # `keys` is for a cache of replies, which is not used here.
        return read(reply, **{option: given for option, given in options.items() if option != "keys"})


def _split(words: tuple[Any, ...]) -> tuple[Any, ...]:
    """Names such as "CONFIG SET" are two words, which redis-py gives as one."""
    return (*words[0].split(), *words[1:]) if " " in words[0] else words
