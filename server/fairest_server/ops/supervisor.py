"""Several server processes on one port: this one starts the others, and a new one for each that dies.

The kernel spreads connections over them. Any of them serves any player of any room, so it does not matter which.
"""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import structlog

from fairest_server.settings import ENV_PREFIX, Settings, public_url

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 3.75
"""A little longer than a worker allows itself; then it is killed."""
RESTART_SECONDS: Final = 0.5

_LOG = structlog.get_logger(__name__)


class WorkerError(Exception):
    """A worker does not start; the text says what it complained about."""


class Supervisor:
    """So many server processes on one Redis and one port, within `serving`."""

    def __init__(self, settings: Settings, redis_url: str) -> None:
        self._settings = settings
        self._redis_url = redis_url
        self._processes: set[Process] = set()
        self._slots: dict[int, Process | None] = {}
        self._retired: set[Process] = set()
        self._renewing = asyncio.Lock()
        self._keeping: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Yield the URL once all of them serve. Raises `WorkerError`, and OSError for a port that is not to be had."""
        with _reserve(self._settings.host, self._settings.port) as port:
            try:
                async with asyncio.TaskGroup() as tasks:
                    for number in range(self._settings.workers):
                        tasks.create_task(self._start(port), name=f"worker {number + 1}")
                for process in self._processes:
                    self._spawn(self._respawn(process, port))
                asyncio.get_running_loop().add_signal_handler(
                    signal.SIGHUP, lambda: self._spawn(self._rolling_restart(port))
                )
                try:
                    yield public_url(self._settings, port)
                finally:
                    for task in self._keeping:
                        task.cancel()
                    await asyncio.gather(*self._keeping, return_exceptions=True)
            except* WorkerError as reasons:
                raise reasons.exceptions[0] from None
            finally:
                await self._stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _start(self, port: int) -> Process:
        slot = self._free_slot()
        process = await asyncio.create_subprocess_exec(
            # -P: a `redis.py` in the folder that the operator stands in is not what the worker imports.
            *(sys.executable, "-P", "-m", "fairest_server"),
            env=self._environment(port, slot),
            # A pipe that ends when we do, also by kill -9: no worker stays behind alone.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._processes.add(process)
        self._slots[slot] = process
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await process.stdout.readline()
        except TimeoutError:
            line = b""
        if line:
            return process
        self._processes.discard(process)
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise WorkerError(f"a worker did not start within {START_SECONDS:.0f} seconds, or complained above")

    def _free_slot(self) -> int:
        """The first place that no living worker has, taken with this: it decides on the admin port."""
        slot = 0
        while slot in self._slots and ((holder := self._slots[slot]) is None or holder.returncode is None):
            slot += 1
        self._slots[slot] = None
        return slot

    def _environment(self, port: int, slot: int) -> dict[str, str]:
        """The settings of a worker: ours, on one port and one Redis.

        They go through the environment, which only we may read: everybody on the machine sees command lines, and a
        Redis URL may hold a password.
        """
        chosen = self._settings.model_dump(exclude_none=True)
        chosen |= {"workers": 1, "port": port, "redis_url": self._redis_url}
        chosen |= {"reuse_port": True, "ends_with_input": True}
        if self._settings.admin_port:
            chosen["admin_port"] = self._settings.admin_port + slot
        inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith(ENV_PREFIX)}
        return inherited | {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in chosen.items()}

    async def _respawn(self, process: Process, port: int) -> None:
        """Start a new worker for one that died, again and again."""
        while True:
            await process.wait()
            self._processes.discard(process)
            if process in self._retired:
                self._retired.discard(process)
                return
            _LOG.warning("a worker died, another one is started", code=process.returncode)
            await asyncio.sleep(RESTART_SECONDS)
            try:
                process = await self._start(port)
            except WorkerError as reason:
                _LOG.warning("a worker does not start", reason=str(reason))

    async def _rolling_restart(self, port: int) -> None:
        """Put a new worker in the place of each, one after the other; what cannot be started leaves the old one."""
        async with self._renewing:
            for old in list(self._processes):
                try:
                    new = await self._start(port)
                except WorkerError as reason:
                    _LOG.warning("a worker does not start; the others are not renewed", reason=str(reason))
                    return
                if old in self._processes:
                    self._spawn(self._respawn(new, port))
                    self._retired.add(old)
                    await _end(old)
                else:
                    # It died meanwhile, and has been replaced for that.
                    self._processes.discard(new)
                    await _end(new)
        _LOG.info("all workers are new")

    async def _stop(self) -> None:
        for process in self._processes:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        waiting = [asyncio.create_task(process.wait()) for process in self._processes]
        if waiting:
            await asyncio.wait(waiting, timeout=STOP_SECONDS)
        for process in self._processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _end(process: Process) -> None:
    """Tell a worker to end, and wait until it has."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    await process.wait()


@contextmanager
def _reserve(host: str, port: int) -> Iterator[int]:
    """Hold a port, any free one for 0, on which only our workers may listen. Raises OSError."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((host, port))
        yield int(held.getsockname()[1])
