"""Redis' clock, in ms as everywhere in Fairest."""

from redis.asyncio import Redis


async def read_clock(redis: Redis) -> int:
    """Return Redis' clock in ms. Raises RedisError; safe to cancel."""
    return whole_ms(*await redis.time())


def whole_ms(seconds: int, microseconds: int) -> int:
    """Return the ms that are over at a time as Redis tells it, in seconds and the microseconds after them."""
    return seconds * 1000 + microseconds // 1000
