"""redis-py beside asyncio-redis, the client that was wished for: pipelined SETs per second on the same Redis.

The second one needs `pip install asyncio-redis` (the `bench` extra).
"""

import asyncio
import socket
import subprocess
import tempfile
import time
from importlib import import_module
from typing import Any

from redis.exceptions import RedisError

from benchmarks.figure import Figure
from server.store.client import connect
from server.store.embedded import find_redis_server

COMMANDS = 40_000
IN_FLIGHT = 200


def measure_redis_clients() -> list[Figure]:
    """Commands per second of each client; the goal is that ours is not the slower one."""
    program = find_redis_server()
    assert program, "the server extra brings a redis-server"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as redis:
            try:
                wished, ours = asyncio.run(_measure(port))
            finally:
                redis.terminate()
    return [
        Figure("asyncio_redis_sets_per_second", wished, "/s", "(control)", holds=True),
        Figure("redis_py_sets_per_second", ours, "/s", "> control", holds=ours > wished),
    ]


async def _measure(port: int) -> tuple[float, float]:
    ours = connect(f"redis://127.0.0.1:{port}")
    await _until_up(ours)
    wished: Any = await import_module("asyncio_redis").Connection.create(host="127.0.0.1", port=port)
    start = time.perf_counter()
    for _ in range(COMMANDS // IN_FLIGHT):
        await asyncio.gather(*(wished.set("key", "value") for _ in range(IN_FLIGHT)))
    wished_seconds = time.perf_counter() - start
    wished.close()
    start = time.perf_counter()
    for _ in range(COMMANDS // IN_FLIGHT):
        pipeline = ours.pipeline(transaction=False)
        for _ in range(IN_FLIGHT):
            pipeline.set("key", "value")
        await pipeline.execute()
    our_seconds = time.perf_counter() - start
    await ours.aclose()
    return COMMANDS / wished_seconds, COMMANDS / our_seconds


async def _until_up(client: Any) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                await client.ping()
            except (OSError, RedisError):
                await asyncio.sleep(0.05)
            else:
                return
