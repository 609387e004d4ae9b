"""Work that is done every second, and sooner when it has failed."""

import asyncio
import time

from redis.exceptions import OutOfMemoryError
from structlog.testing import capture_logs

from fairest_server.membership.periodic import PERIOD_SECONDS, repeat
from tests.support.waiting import PATIENCE_SECONDS

FAILURES = 8


class FullRedis:
    """Work that Redis refuses, for want of memory, FAILURES times."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self.stopping = stopping
        self.runs = 0

    async def work(self) -> None:
        self.runs += 1
        if self.runs <= FAILURES:
            raise OutOfMemoryError("command not allowed when used memory > 'maxmemory'")
        self.stopping.set()


async def fail_and_recover(*retry_seconds: float) -> float:
    """Return how long the work takes from its first failure to its first success."""
    stopping = asyncio.Event()
    since = time.monotonic()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await repeat(FullRedis(stopping).work, stopping, *retry_seconds)
    return time.monotonic() - since


async def test_work_that_failed_may_be_tried_again_before_the_period_is_over() -> None:
    assert await fail_and_recover(0.01) < FAILURES * PERIOD_SECONDS


async def test_work_that_fails_often_is_logged_no_more_than_once_a_period() -> None:
    with capture_logs() as lines:
        seconds = await fail_and_recover(0.1)
    assert 1 <= len(lines) <= 1 + seconds / PERIOD_SECONDS
