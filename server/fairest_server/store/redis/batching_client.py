"""The face of redis-py's client, for clients of ours whose commands go a way of their own.

redis-py makes the words of a command and says how its reply is read; what lies between is `send_commands`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

Command = tuple[tuple[Any, ...], Mapping[str, Any]]
"""As redis-py keeps it: the words, and options for reading the answer."""


RAW_REPLY: Final[Mapping[str, Any]] = {"is_raw": True}
"""Options of a command whose reply is wanted as Redis says it."""


class BatchingRedis(Redis):
    """As redis-py's client, but for transactions, which there are none of: commands of others come between."""

    @abstractmethod
    async def send_commands(self, commands: Sequence[Command]) -> list[Any]:
        """The replies to these commands, in order; an error in the place of a reply. Raises RedisError, and OSError."""

    async def execute_command(self, *words: Any, **options: Any) -> Any:
        """As redis-py's. Raises RedisError, and OSError."""
        return _raise_first_error(await self.send_commands([(words, options)]))[0]

    def pipeline(self, transaction: bool = False, shard_hint: str | None = None) -> Pipeline:
        """Commands that are sent together."""
        assert not transaction and shard_hint is None, "there are no transactions"
        return _Pipeline(self)


class _Pipeline(Pipeline):
    def __init__(self, redis: BatchingRedis) -> None:
        super().__init__(redis.connection_pool, redis.response_callbacks, False, None)
        self._redis = redis

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """The replies, in order. Raises the first that is an error, unless told to leave it in its place."""
        commands, self.command_stack = self.command_stack, []
        replies = await self._redis.send_commands(commands)
        return _raise_first_error(replies) if raise_on_error else replies


def _raise_first_error(replies: list[Any]) -> list[Any]:
    """These replies. Raises the first that is an error."""
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
