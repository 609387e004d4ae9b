"""Clients of Redis by URL, with the settings that were found to work (docs/decisions/0002-redis-client.md)."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.crc import key_slot
from redis.exceptions import RedisError, ResponseError

from fairest_server.ops.events import Event
from fairest_server.store import keys
from fairest_server.store.redis.batch_connection import BACKOFF, RETRIES, BatchConnection, CommandWords
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.cluster_client import Cluster
from fairest_server.store.redis.driver import open_pool
from fairest_server.store.redis.single_node_client import SingleNodeRedis

CONNECT_SECONDS: Final = 2.0
_CLUSTER: Final = "+cluster"
"""The end of the scheme of a Cluster's URL."""

_LOG = structlog.get_logger(__name__)


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


async def describe_unfit(redis: Redis, url: str) -> str | None:
    """Return why no server may start on this Redis: what it is, or that a restore into it has not ended.

    None if it is fit, as far as its nodes answer. Raises RedisError, for a Cluster only if none answers.
    """
    if isinstance(redis, Cluster):
        await redis.nodes()
    else:
        wrong_kind = await _describe_wrong_kind(redis, without_secrets(url))
        if wrong_kind is not None:
            return wrong_kind
    try:
        if await redis.exists(keys.RESTORING):
            return f"a restore into {without_secrets(url)} has not ended; run the same `fairest-server restore` again"
    except (RedisError, OSError) as reason:
        if not isinstance(redis, Cluster):
            raise
        # A restore begins only while all nodes answer.
        _LOG.warning(Event.RESTORE_UNKNOWN, reason=str(reason))
    return None


def without_secrets(url: str) -> str:
    """Return the URL without user, password and parameters, so that it can be shown."""
    return re.sub(r"^(\w[\w+]*:/+)?.*@|\?.*", r"\1", url)


async def _describe_wrong_kind(redis: Redis, shown: str) -> str | None:
    """Return what is wrong with a Redis that is a Sentinel, or a node of a Cluster given as a single Redis."""
    # This user may not be allowed to run INFO.
    with suppress(ResponseError):
        mode = await redis.info("server")
        if "sentinel" in (mode.get("redis_mode"), mode.get("server_mode")):
            return f"{shown} is a Sentinel, which Fairest cannot ask; give the address of the master"
        if (await redis.info("cluster")).get("cluster_enabled"):
            scheme, _, rest = shown.partition("://")
            return f"the Redis at {shown} is a node of a Cluster; give --redis-url {scheme}+cluster://{rest}"
    return None
