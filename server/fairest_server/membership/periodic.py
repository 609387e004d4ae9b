"""Work that a process does every second until it stops."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog
from redis.exceptions import RedisError

from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part

PERIOD_SECONDS: Final = 1.0
MIN_REST_SECONDS: Final = 0.1
"""Least time between two runs, even if one takes longer than the period."""
_LOG = structlog.get_logger(__name__)


async def repeat(
    work: Callable[[], Awaitable[None]], stopping: asyncio.Event, retry_seconds: float = PERIOD_SECONDS
) -> None:
    """Run `work` every PERIOD_SECONDS until `stopping` is set; `retry_seconds` after a run that Redis failed.

    Failures are logged once in PERIOD_SECONDS.
    """
    logged_at = -PERIOD_SECONDS
    while True:
        since, period_seconds = time.monotonic(), PERIOD_SECONDS
        with contained(Part.PERIODIC):
            try:
                await work()
            except (RedisError, OSError) as reason:
                period_seconds = retry_seconds
                if since - logged_at >= PERIOD_SECONDS:
                    logged_at = since
                    _LOG.warning(Event.REDIS_FAILED, reason=str(reason))
        if await stops_within(stopping, max(MIN_REST_SECONDS, period_seconds - (time.monotonic() - since))):
            return


async def stops_within(stopping: asyncio.Event, seconds: float) -> bool:
    """Wait for `seconds`, or until `stopping` is set; return whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopping.wait()
    return stopping.is_set()
