"""The rooms of a process on a real Redis, without the process' sockets, heartbeats and sweeps."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fairest_server.live.room_server import RoomServer
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client


@asynccontextmanager
async def serving_room_server(redis: BatchingRedis, redis_url: str) -> AsyncIterator[RoomServer]:
    """Serve rooms as the process `abcd1234`, which has not heard Redis' clock yet."""
    # With a time limit redis-py may swallow the cancellation of a subscription.
    listening = make_client(redis_url, timeout_seconds=None)
    processes = Processes(redis, redis, "abcd1234")
    key = DeploymentKey(redis, SigningKey(bytes(32)))
    server = RoomServer(redis, listening, processes, key, closed_room_seconds=60)
    async with server.serving():
        yield server
    await listening.aclose()
