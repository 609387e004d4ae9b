"""What a server process does every second: shows that it lives, sees who else does, takes up what everybody forgot."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Protocol

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.store import keys
from server.store.log import Log

PULSE_SECONDS: Final = 1.0
OVERDUE_MS: Final = 1_000
"""A deadline is left this long to a process that has the room open before the sweep takes it up."""

_LOG = structlog.get_logger(__name__)


class Rooms(Protocol):
    """The rooms of this process, as far as the pulse is concerned."""

    def set_clock(self, redis_ms: int) -> None:
        """Redis' clock shows this."""

    def share(self, is_shared: bool) -> None:
        """Whether other processes serve this deployment."""

    async def compare_tails(self) -> None:
        """Let rooms catch up that missed something."""

    async def take_up(self, code: str) -> None:
        """Look at a room that everybody forgot."""


class Pulse:
    """The pulse of one process. `beat` and `sweep` run until `stopping` is set, and are never cancelled."""

    def __init__(self, process_id: str, redis: Redis, log: Log, rooms: Rooms, stopping: asyncio.Event) -> None:
        self._process_id = process_id
        self._redis = redis
        self._log = log
        self._rooms = rooms
        self._stopping = stopping

    async def beat(self) -> None:
        """Show that we live, see who else does, read what wake-ups missed."""
        await self._repeat(self._beat)

    async def sweep(self) -> None:
        """Take up rooms that everybody forgot. A task of its own: a long sweep must not look like a dead process."""
        await self._repeat(self._sweep)

    async def _beat(self) -> None:
        now_ms = await self._log.now_ms()
        self._rooms.set_clock(now_ms)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zadd(keys.PROCESSES, {self._process_id: now_ms})
        pipeline.zremrangebyscore(keys.PROCESSES, "-inf", now_ms - keys.PROCESS_SECONDS * 1000)
        pipeline.zcard(keys.PROCESSES)
        self._rooms.share((await pipeline.execute())[-1] > 1)
        await self._rooms.compare_tails()

    async def _sweep(self) -> None:
        for code in await self._log.due_rooms(OVERDUE_MS):
            try:
                await self._rooms.take_up(code)
            except ValueError:
                _LOG.exception("a log that cannot be read", room=code)

    async def _repeat(self, work: Callable[[], Awaitable[None]]) -> None:
        """Every second; whatever goes wrong once is logged and tried again."""
        while not self._stopping.is_set():
            try:
                await work()
            except (RedisError, OSError) as reason:
                _LOG.warning("redis does not answer", reason=str(reason))
            except Exception:
                _LOG.exception("fault in the pulse")
            with suppress(TimeoutError):
                async with asyncio.timeout(PULSE_SECONDS):
                    await self._stopping.wait()
