"""Clients of Redis by URL, with the settings that were found to work (docs/decisions/0002-redis-client.md)."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.crc import key_slot

from fairest_server.store import keys
from fairest_server.store.redis.batch_connection import BACKOFF, RETRIES, BatchConnection, CommandWords
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.cluster_client import Cluster
from fairest_server.store.redis.driver import open_pool
from fairest_server.store.redis.single_node_client import SingleNodeRedis

CONNECT_SECONDS: Final = 2.0
_CLUSTER: Final = "+cluster"
"""The end of the scheme of a Cluster's URL."""


class _BucketConnection(BatchConnection):
    """A `BatchConnection` to the node that serves a bucket of a Cluster, which the Cluster's client finds."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        super().__init__(cluster)
        self._cluster = cluster
        self._slot = key_slot(keys.deadlines(number).encode())

    async def send(self, commands: Sequence[CommandWords], failures: int = 0) -> list[Any]:  # noqa: ARG002 - the node's client counts its own
        return await self._cluster.send(self._slot, [(words, {}) for words in commands])


def batch_connections(redis: Redis) -> list[BatchConnection]:
    """Return a connection for each part of Redis that can fail on its own: one, or one for each bucket of a Cluster."""
    if isinstance(redis, Cluster):
        return [_BucketConnection(redis, number) for number in range(keys.BUCKETS)]
    return [BatchConnection(redis)]


def make_client(url: str, timeout_seconds: float | None = 2.0) -> BatchingRedis:
    """Return a client for this URL, which connects when it sends its first command.

    Raises ValueError for a URL that does not name a Redis.

    `redis://`, `rediss://` and `unix://` name a single Redis; `redis+cluster://` and `rediss+cluster://` one or more
    nodes of a Cluster, with commas between them.

    Every write of ours may be repeated without harm, so commands whose replies were lost are sent again.
    """
    parts = urlsplit(url)
    if not parts.scheme.endswith(_CLUSTER):
        return _make_single_client(url, timeout_seconds)
    user, at, hosts = parts.netloc.rpartition("@")

    def open_node(address: str, is_brief: bool) -> SingleNodeRedis:
        scheme = parts.scheme.removesuffix(_CLUSTER)
        node = parts._replace(scheme=scheme, netloc=f"{user}{at}{address}").geturl()
        return _make_single_client(node, CONNECT_SECONDS if is_brief else timeout_seconds)

    seeds = hosts.split(",")
    for seed in seeds:
        if not urlsplit(f"//{seed}").hostname or not urlsplit(f"//{seed}").port:
            raise ValueError(f"a node of a Cluster is given as host:port, not as {seed!r}")
    return Cluster(seeds, open_node)


def _make_single_client(url: str, timeout_seconds: float | None) -> SingleNodeRedis:
    return SingleNodeRedis(
        open_pool(
            url,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(BACKOFF, RETRIES),
            health_check_interval=0,
        )
    )
