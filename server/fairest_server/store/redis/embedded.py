"""The embedded Redis, which is the default: an engine as a child process, on a Unix socket in the data folder."""

import asyncio
import errno
import os
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog
from filelock import FileLock, Timeout
from redis.exceptions import BusyLoadingError, RedisError

from fairest_server.ops.children import add_child
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.ops.private_files import ForeignFile, make_private
from fairest_server.store.redis.driver import ask, connected
from fairest_server.store.redis.embedded_engine import EmbeddedRedisError, find_engine, refuse_unreadable_data

START_SECONDS: Final = 10.0
"""How long a Redis that starts may answer nothing. While it answers that it reads its data, there is no limit."""
POLL_SECONDS: Final = 0.01
"""Between two pings to a Redis that starts: it reports nothing when it is ready."""
STOP_SECONDS: Final = 2.0
"""Between SIGTERM and SIGKILL."""
RESTART_SECONDS: Final = 0.2
"""Between the death of a Redis and the start of its successor."""
RETRY_SECONDS: Final = 2.0
"""Between two attempts to start one."""
_ENGINE_FILES: Final = ("*.aof", "*.rdb", "appendonlydir", "appendonlydir/*", "redis.log", "redis.sock", "lock")
"""The files that an engine or a server has made in its folder. They hold the private key, and decks of races."""
_LONGEST_SOCKET_PATH: Final = 100
"""Unix sockets take 107 bytes on Linux and 103 on macOS."""

_LOG = structlog.get_logger(__name__)


@asynccontextmanager
async def embedded_redis(
    data_dir: Path, program: Path | None = None, on_death: Callable[[], None] = lambda: None
) -> AsyncIterator[str]:
    """Run a Redis on `data_dir` while the context lasts, and yield its URL. A Redis that dies is started again.

    The engine is `program`, else the shipped Valkey, else one on the PATH. `on_death` is called for each engine that
    dies, also for one that dies while it starts. Other users lose their rights to the folder
    and the engine's files. Raises `EmbeddedRedisError` when the folder is in use by another server or by an engine that
    does not end, or belongs to another user, when there is no engine or it does not start, and when it cannot read the
    data in the folder. Cancelling stops the engine in order, also while it reads its data.
    """
    data_dir = data_dir.absolute()
    socket = data_dir / "redis.sock"
    if len(os.fsencode(socket)) > _LONGEST_SOCKET_PATH:
        raise EmbeddedRedisError(f"the path {socket} is too long for a socket; give a shorter --data-dir")
    # The system releases the lock of a process that dies, and children do not inherit it.
    lock = FileLock(data_dir / "lock", timeout=0, mode=0o600)
    try:
        make_private(data_dir, _ENGINE_FILES)
        held = lock.acquire()
    except ForeignFile as reason:
        raise EmbeddedRedisError(
            f"{reason}, who could read the private key; run the server as that user, or give a --data-dir of your own"
        ) from reason
    except Timeout as reason:
        raise EmbeddedRedisError(
            f"another fairest-server uses {data_dir}; stop it, give another --data-dir, or share a --redis-url"
        ) from reason
    except OSError as reason:
        raise EmbeddedRedisError(f"cannot write to {data_dir}: {reason.strerror}; give another --data-dir") from reason
    with held:
        redis = _Server(data_dir, socket, program, on_death)
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


class _Server:
    """The engine on a folder, and its successors. Two at a time would write into the same file."""

    def __init__(self, data_dir: Path, socket: Path, wanted: Path | None, on_death: Callable[[], None]) -> None:
        self.url = f"unix://{socket}"
        self._data_dir = data_dir
        self._socket = socket
        self._on_death = on_death
        self._wanted = wanted
        self._child: Process | None = None

    async def start(self) -> None:
        """Start a Redis and wait until it answers. Raises `EmbeddedRedisError`."""
        if await self._is_listening():
            # It is the Redis of a server that was killed. It is not our child, so we would not notice its death.
            await self._stop_orphan()
            if await self._is_listening():
                raise EmbeddedRedisError(f"the engine that was left behind on {self._data_dir} does not end; stop it")
        program = find_engine(self._wanted)
        if program is None and self._wanted is not None:
            raise EmbeddedRedisError(
                f"there is no program {self._wanted}; give another --redis-program, or leave it out"
            )
        if program is None:
            raise EmbeddedRedisError(
                "no valkey-server or redis-server found; install one, or give a --redis-program or a --redis-url"
            )
        try:
            await refuse_unreadable_data(program, self._data_dir)
            await self._launch(program)
        except OSError as reason:
            raise EmbeddedRedisError(f"cannot run {program}: {reason.strerror}") from reason
        await self._wait_until_ready(program)

    async def respawn(self) -> None:
        """Start a successor whenever Redis dies, until cancelled."""
        while self._child is not None:
            code = await self._child.wait()
            self._on_death()
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
        add_child(self._child)

    async def _wait_until_ready(self, program: str) -> None:
        """Wait until Redis answers PING, which it does when it has read its data. Raises `EmbeddedRedisError`.

        The lines in its log that say the same differ by version.
        """
        assert self._child is not None
        is_reading = False
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS) as silence:
                while self._child.returncode is None:
                    try:
                        async with connected(self.url) as connection:
                            await ask(connection, "PING")
                    except BusyLoadingError:
                        silence.reschedule(asyncio.get_running_loop().time() + START_SECONDS)
                        if not is_reading:
                            _LOG.info(Event.ENGINE_READS, folder=str(self._data_dir))
                        is_reading = True
                    except (RedisError, OSError):
                        is_reading = False
                    else:
                        return
                    await asyncio.sleep(POLL_SECONDS)
        if self._child.returncode is not None:
            # It may have served clients before its start was noticed.
            self._on_death()
        raise EmbeddedRedisError(f"{program} did not start; {self._log} says why")

    async def _stop_orphan(self) -> None:
        """Stop the Redis that listens on the socket and is not our child. It closes the connection without a reply."""
        with suppress(RedisError, TimeoutError):
            async with asyncio.timeout(START_SECONDS), connected(self.url) as connection:
                await ask(connection, "SHUTDOWN", "NOSAVE")

    def _kill(self) -> None:
        assert self._child is not None, "the first one has started"
        if self._child.returncode is None:
            self._child.kill()
