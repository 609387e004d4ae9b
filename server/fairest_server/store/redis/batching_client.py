"""A client with the methods of redis-py's whose commands are sent by `send_commands`.

redis-py turns the call of a method into the words of a command, and reads the reply.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from fairest_server.store.redis.driver import BatchPipeline, RedisCommand, raise_first_error

RAW_REPLY: Final[Mapping[str, Any]] = {"is_raw": True}
"""Options of a command whose reply is wanted as Redis sends it."""


class BatchingRedis(Redis):
    """A `redis.asyncio.Redis` whose commands are sent by `send_commands`.

    MULTI is not supported: callers share one connection, so another caller's commands may come between.
    """

    @abstractmethod
    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        """Send `commands` and return their replies in order, errors in their places. Raises RedisError and OSError."""

    async def execute_command(self, *words: Any, **options: Any) -> Any:
        """Send one command and return its reply. Raises RedisError and OSError."""
        return raise_first_error(await self.send_commands([(words, options)]))[0]

    def pipeline(self, transaction: bool = False, shard_hint: str | None = None) -> Pipeline:
        """Return a pipeline: its commands are sent together, and not as a transaction."""
        assert not transaction and shard_hint is None, "MULTI is not supported"
        return BatchPipeline(self, self.send_commands)
