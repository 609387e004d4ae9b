"""The Redis of running servers, for the operator's commands: an external one, or the embedded one of a data folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from redis.exceptions import RedisError

from fairest_server.commands.reporting import without_full_stop
from fairest_server.settings import ENV_PREFIX, Settings
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client, without_secrets
from fairest_server.store.redis.cluster_client import Cluster

DEFAULT_DATA_DIR: Final[Path] = Settings.model_fields["data_dir"].default

RedisUrl = Annotated[
    str | None,
    typer.Option(
        envvar=f"{ENV_PREFIX}REDIS_URL", show_envvar=False, help="URL of the servers' Redis, if it is external."
    ),
]
DataDir = Annotated[
    Path,
    typer.Option(
        envvar=f"{ENV_PREFIX}DATA_DIR", show_envvar=False, help="Data folder of the server with an embedded Redis."
    ),
]

RedisProgram = Annotated[
    Path | None,
    typer.Option(
        envvar=f"{ENV_PREFIX}REDIS_PROGRAM",
        show_envvar=False,
        help="Program of the embedded engine, if not the shipped one.",
    ),
]


class NoRedis(Exception):
    """No Redis of a server answers; the text says where, and what to do."""


@asynccontextmanager
async def operator_redis(redis_url: str | None, data_dir: Path) -> AsyncIterator[BatchingRedis]:
    """Yield a client of the Redis that the servers use. Raises `NoRedis` if none answers."""
    url = redis_url or f"unix://{data_dir.absolute() / 'redis.sock'}"
    try:
        client = make_client(url)
    except ValueError as reason:
        raise NoRedis(f"a Redis URL looks like redis://host:6379/0, not {without_secrets(url)!r}") from reason
    try:
        try:
            await client.ping()
        except (RedisError, OSError) as reason:
            if isinstance(client, Cluster) and await _is_a_node_there(client):
                raise NoRedis(
                    f"the node of the Cluster that serves {{processes}} is away: {without_full_stop(reason)}"
                ) from reason
            remedy = "is it running?" if redis_url else "is a fairest-server running there? Else give --redis-url"
            raise NoRedis(f"no Redis answers at {without_secrets(url)}: {remedy}") from reason
        yield client
    finally:
        await client.aclose()


async def _is_a_node_there(cluster: Cluster) -> bool:
    """Return whether any node of the Cluster answers."""
    try:
        await cluster.nodes()
    except (RedisError, OSError):
        return False
    return True
