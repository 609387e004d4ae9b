"""Connections to Redis, with the settings that were found to work (docs/decisions/0002-redis-client.md)."""

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff


def connect(url: str, timeout_seconds: float | None = 2.0, connections: int = 16) -> Redis:
    """A client for this `redis://`, `rediss://` or `unix://` URL; nothing is sent yet.

    Every write of ours may be repeated without harm, so lost answers are retried. RESP 2, because redis-py 8.1.0 does
    not replace pooled sockets that the server closed under RESP 3 (its issue 4252).
    """
    pool = BlockingConnectionPool.from_url(
        url,
        protocol=2,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), retries=2),
        health_check_interval=0,
        max_connections=connections,
    )
    return Redis.from_pool(pool)
