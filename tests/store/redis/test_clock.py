"""Redis' clock in ms."""

import pytest

from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clock import read_clock, whole_ms


@pytest.mark.parametrize(
    ("seconds", "microseconds", "expected_ms"), [(0, 0, 0), (2, 0, 2_000), (2, 999, 2_000), (2, 999_999, 2_999)]
)
def test_a_millisecond_counts_once_it_is_over(seconds: int, microseconds: int, expected_ms: int) -> None:
    assert whole_ms(seconds, microseconds) == expected_ms


async def test_the_clock_is_that_of_redis(redis: BatchingRedis) -> None:
    before, now_ms, after = await redis.time(), await read_clock(redis), await redis.time()
    assert whole_ms(*before) <= now_ms <= whole_ms(*after)
