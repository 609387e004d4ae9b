"""Connections to Redis, with the settings that were found to work (docs/decisions/0002-redis-client.md)."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, RedisError

from fairest_server.store import keys
from fairest_server.store.redis.batch_connection import BACKOFF, RETRIES, BatchConnection, Command
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.cluster import Cluster
from fairest_server.store.redis.single_node import SingleNodeRedis

CONNECT_SECONDS: Final = 2.0


class FailoverConnection(AbstractConnection):
    """A connection that ends where redis-py's would stay.

    When its Redis has become a replica, a new one may reach the Redis that took its place; redis-py does so for
    Sentinels. When uvloop finds the socket closed it says RuntimeError, which redis-py does not take for an error of
    the connection: it would neither try again nor tell us so. And of two tasks that find a subscription's socket
    closed, each would open a new one, of which one is nobody's.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connecting = asyncio.Lock()

    async def _connect(self) -> None:
        async with self._connecting:
            if not self.is_connected:
                await super()._connect()  # type: ignore[safe-super, no-untyped-call]

    async def send_packed_command(self, *arguments: Any, **options: Any) -> None:
        """As redis-py's. Raises `ConnectionError` for a socket that is closed."""
        try:
            await super().send_packed_command(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        """As redis-py's. Raises `ConnectionError` for a socket that is closed."""
        try:
            return await super().read_response(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason

    async def check(self, answer: RedisError) -> None:
        """Raises `ConnectionError`, and disconnects, if this answer means that this Redis cannot serve us now."""
        # Redis 6.2 wraps what a script met in an error of its own.
        if isinstance(answer, ReadOnlyError) or "READONLY" in str(answer):
            await self.disconnect()
            raise RedisConnectionError("this Redis is a replica now") from answer
        if isinstance(answer, RedisConnectionError):
            await self.disconnect()
            raise answer


class _ClusterLine(BatchConnection):
    """The same for the bucket of a Cluster: its own client knows which node that is."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        super().__init__(cluster)
        self._cluster = cluster
        self._slot = key_slot(keys.deadlines(number).encode())

    async def send(self, commands: Sequence[Command], failures: int = 0) -> list[Any]:  # noqa: ARG002 - its client counts its own
        return await self._cluster.send(self._slot, [(words, {}) for words in commands])


def batch_connections(redis: Redis) -> list[BatchConnection]:
    """A line to each part of Redis that may be away on its own: to the only one, or to every bucket of a Cluster."""
    if isinstance(redis, Cluster):
        return [_ClusterLine(redis, number) for number in range(keys.BUCKETS)]
    return [BatchConnection(redis)]


class _TcpConnection(FailoverConnection, Connection):
    pass


class _TlsConnection(FailoverConnection, SSLConnection):
    pass


class _UnixConnection(FailoverConnection, UnixDomainSocketConnection):
    pass


_BY_SCHEME: Final[dict[str, type[Connection | UnixDomainSocketConnection]]] = {
    "redis": _TcpConnection,
    "rediss": _TlsConnection,
    "unix": _UnixConnection,
}


_CLUSTER: Final = "+cluster"
"""What the scheme of a Cluster's URL ends with."""


def connect(url: str, timeout_seconds: float | None = 2.0) -> BatchingRedis:
    """A client for this URL; nothing is sent yet. Raises ValueError for one that names no Redis.

    `redis://`, `rediss://` and `unix://` name a single Redis; `redis+cluster://` and `rediss+cluster://` one or more
    nodes of a Cluster, with commas between them.

    Every write of ours may be repeated without harm, so lost answers are retried. RESP 2, because redis-py 8.1.0 does
    not replace pooled sockets that the server closed under RESP 3 (its issue 4252).
    """
    parts = urlsplit(url)
    if not parts.scheme.endswith(_CLUSTER):
        return _connect(url, timeout_seconds)
    user, at, hosts = parts.netloc.rpartition("@")

    def open_node(address: str, is_brief: bool) -> SingleNodeRedis:
        scheme = parts.scheme.removesuffix(_CLUSTER)
        node = parts._replace(scheme=scheme, netloc=f"{user}{at}{address}").geturl()
        return _connect(node, CONNECT_SECONDS if is_brief else timeout_seconds)

    seeds = hosts.split(",")
    for seed in seeds:
        if not urlsplit(f"//{seed}").hostname or not urlsplit(f"//{seed}").port:
            raise ValueError(f"a node of a Cluster is given as host:port, not as {seed!r}")
    return Cluster(seeds, open_node)


def _connect(url: str, timeout_seconds: float | None) -> SingleNodeRedis:
    pool = ConnectionPool.from_url(
        url,
        protocol=2,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=CONNECT_SECONDS,
        retry=Retry(BACKOFF, RETRIES),
        health_check_interval=0,
    )
    # The URL decides on the class; one given beside it would be overruled.
    pool.connection_class = _BY_SCHEME[urlsplit(url).scheme]
    return SingleNodeRedis(pool)
