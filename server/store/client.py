"""Connections to Redis, with the settings that were found to work (docs/decisions/0002-redis-client.md)."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final, cast
from urllib.parse import urlsplit

import hiredis
from redis.asyncio import BlockingConnectionPool, Redis
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.asyncio.client import Pipeline
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, RedisError, ResponseError

from server.store.cluster import Cluster

CONNECT_SECONDS: Final = 2.0


class _Leaving(AbstractConnection):
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

    def pack_command(self, *words: Any) -> list[bytes]:
        """As redis-py's, in C, which takes a quarter of the time for every append."""
        return [_pack(words)]

    def pack_commands(self, commands: Iterable[Iterable[Any]]) -> list[bytes]:
        """As redis-py's, in C."""
        return [b"".join(_pack(tuple(words)) for words in commands)]

    def read_arrived(self) -> Any:
        """A reply that has arrived whole, an error as a value, or `NOT_ENOUGH_DATA`."""
        reader = cast("Any", self._parser)._reader  # noqa: SLF001 - redis-py offers it to nobody
        return NOT_ENOUGH_DATA if reader is None else reader.gets()

    async def send_packed_command(self, *arguments: Any, **options: Any) -> None:
        """As redis-py's. Raises `ConnectionError` for a socket that is closed."""
        try:
            await super().send_packed_command(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        """As redis-py's. Raises `ConnectionError` for a socket that is closed, and for a Redis that is a replica."""
        try:
            return await super().read_response(*arguments, **options)
        except RuntimeError as reason:
            await self.disconnect(nowait=True)
            raise RedisConnectionError(str(reason)) from reason
        except ResponseError as reason:
            await self.check(reason)
            raise

    async def check(self, answer: RedisError) -> None:
        """Raises `ConnectionError`, and disconnects, if this answer means that this Redis cannot serve us now."""
        # Redis 6.2 wraps what a script met in an error of its own.
        if isinstance(answer, ReadOnlyError) or "READONLY" in str(answer):
            await self.disconnect()
            raise RedisConnectionError("this Redis is a replica now") from answer
        if isinstance(answer, RedisConnectionError):
            await self.disconnect()
            raise answer


class _Batch(Pipeline):
    """As redis-py's, for hundreds of commands at a time: replies that arrived together are read together.

    redis-py goes through five coroutines and a time limit for each of them.
    """

    async def _execute_pipeline(self, connection: Any, commands: Any, raise_on_error: bool) -> list[Any]:
        await connection.send_packed_command(connection.pack_commands(words for words, _ in commands))
        replies: list[Any] = []
        for _ in commands:
            reply = connection.read_arrived()
            if reply is NOT_ENOUGH_DATA:
                try:
                    reply = await connection.read_response()
                except ResponseError as reason:
                    reply = reason
            elif isinstance(reply, RedisError):
                await connection.check(reply)
            replies.append(reply)
        for place, ((word, *_), options) in enumerate(commands):
            understand = self.response_callbacks.get(word)
            if understand is not None and not isinstance(replies[place], RedisError):
                options.pop("keys", None)  # for redis-py's cache
                replies[place] = understand(replies[place], **options)
        if raise_on_error:
            self.raise_first_error(commands, replies)
        return replies


class _Redis(Redis):
    """redis-py's client, with pipelines of ours."""

    def pipeline(self, transaction: bool = False, shard_hint: str | None = None) -> Pipeline:
        """Commands that share a round trip. No transactions: what belongs together is a script."""
        assert not transaction and shard_hint is None, "there are no transactions"
        return _Batch(self.connection_pool, self.response_callbacks, False, None)


def _pack(words: tuple[Any, ...]) -> bytes:
    # redis-py gives names such as "CLIENT SETINFO" as one word.
    packed: bytes = hiredis.pack_command((*words[0].split(), *words[1:]))
    return packed


class _LeavingConnection(_Leaving, Connection):
    pass


class _LeavingSSLConnection(_Leaving, SSLConnection):
    pass


class _LeavingUnixConnection(_Leaving, UnixDomainSocketConnection):
    pass


_BY_SCHEME: Final[dict[str, type[Connection | UnixDomainSocketConnection]]] = {
    "redis": _LeavingConnection,
    "rediss": _LeavingSSLConnection,
    "unix": _LeavingUnixConnection,
}


_CLUSTER: Final = "+cluster"
"""What the scheme of a Cluster's URL ends with."""


def connect(url: str, timeout_seconds: float | None = 2.0, connections: int = 16) -> Redis:
    """A client for this URL; nothing is sent yet. Raises ValueError for one that names no Redis.

    `redis://`, `rediss://` and `unix://` name a single Redis; `redis+cluster://` and `rediss+cluster://` one or more
    nodes of a Cluster, with commas between them. The connections are those to one node.

    Every write of ours may be repeated without harm, so lost answers are retried. RESP 2, because redis-py 8.1.0 does
    not replace pooled sockets that the server closed under RESP 3 (its issue 4252).
    """
    parts = urlsplit(url)
    if not parts.scheme.endswith(_CLUSTER):
        return _connect(url, timeout_seconds, connections)
    user, at, hosts = parts.netloc.rpartition("@")

    def open_node(address: str, is_brief: bool) -> Redis:
        scheme = parts.scheme.removesuffix(_CLUSTER)
        node = parts._replace(scheme=scheme, netloc=f"{user}{at}{address}").geturl()
        return _connect(node, CONNECT_SECONDS, 1) if is_brief else _connect(node, timeout_seconds, connections)

    seeds = hosts.split(",")
    for seed in seeds:
        if not urlsplit(f"//{seed}").hostname or not urlsplit(f"//{seed}").port:
            raise ValueError(f"a node of a Cluster is given as host:port, not as {seed!r}")
    return Cluster(seeds, open_node)


def _connect(url: str, timeout_seconds: float | None, connections: int) -> Redis:
    pool = BlockingConnectionPool.from_url(
        url,
        protocol=2,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=CONNECT_SECONDS,
        retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), retries=2),
        health_check_interval=0,
        max_connections=connections,
    )
    # The URL decides on the class; one given beside it would be overruled.
    pool.connection_class = _BY_SCHEME[urlsplit(url).scheme]
    return _Redis.from_pool(pool)
