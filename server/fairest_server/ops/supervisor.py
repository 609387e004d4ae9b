"""The supervisor of several server processes on one port: it starts the workers, and replaces one that dies.

The kernel spreads connections over the workers. Any worker serves any player of any room; a worker hands connections
that name their room over to the worker that serves it by preference, which finds it in a folder (`edge/room_handover`).
"""

import asyncio
import os
import shutil
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import structlog

from fairest_server.ops import service_manager
from fairest_server.ops.events import Event
from fairest_server.settings import ENV_PREFIX, Settings, public_url

START_SECONDS: Final = 20.0
"""A worker that has not said where it serves by then is killed."""
STOP_SECONDS: Final = 3.75
"""A little longer than the time that a worker allows itself to stop; then it is killed."""
DRAINING_LINE: Final = b"draining\n"
"""The line that a worker writes to the supervisor when it begins to drain."""
RESTART_SECONDS: Final = 0.5
"""Pause before a worker that died is replaced."""

_LOG = structlog.get_logger(__name__)


class WorkerError(Exception):
    """A worker does not start; the text says why, or that the worker has said it on standard error."""


class Supervisor:
    """`settings.workers` server processes on one Redis and one port, within `serving`.

    No worker outlives the supervisor. Each has a pipe from it as standard input, and stops when that ends, which it
    does even if the supervisor is killed; and the supervisor kills a worker that it has told to stop and that hangs.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._redis_url = ""
        self._handover_folder: Path | None = None
        """The folder in which workers find each other, None if none can be made."""
        self._processes: set[Process] = set()
        """The workers that were started and whose end was not seen yet."""
        self._slots: dict[int, Process | None] = {}
        """The worker in each slot, None while it is being started. Slots count from 0: they decide on admin ports."""
        self._deaths: dict[int, int] = {}
        """How many workers have died in each slot."""
        self._retired: set[Process] = set()
        """Workers that are stopped on purpose, so that they are not replaced when they end."""
        self._draining: set[Process] = set()
        """Workers that end by themselves when their races have ended; each was replaced when it began to drain."""
        self._port = 0
        """The port of all workers, known once they serve."""
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self, redis_url: str) -> AsyncIterator[str]:
        """Yield the URL once all workers serve. Raises WorkerError, and OSError for a port that cannot be bound."""
        self._redis_url = redis_url
        with _reserve(self._settings.host, self._settings.port) as port, _handover_folder() as self._handover_folder:
            try:
                await self._start_all(port)
                for process in self._processes:
                    self._spawn(self._respawn(process, port))
                self._port = port
                try:
                    yield public_url(self._settings, port)
                finally:
                    for task in self._tasks:
                        task.cancel()
                    await asyncio.gather(*self._tasks, return_exceptions=True)
            finally:
                await _stop(self._processes)

    def report_engine_death(self) -> None:
        """Report to every worker, by a byte on its standard input, that the embedded engine has died: the metrics of a
        worker say so, since the supervisor has none.
        """
        for process in self._processes:
            if process.returncode is None and process.stdin is not None:
                process.stdin.write(b".")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_all(self, port: int) -> None:
        """Start the workers and wait until they serve. Raises WorkerError; when cancelled, `_stop` ends the workers."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in range(self._settings.workers):
                    tasks.create_task(self._start(port), name=f"worker {number + 1}")
        except ExceptionGroup as reasons:
            # Not by `except*`: Python 3.11.2, which Debian 12 has, makes a group of what is raised there.
            raise reasons.exceptions[0] from None

    async def _start(self, port: int) -> Process:
        """Start a worker and wait until it serves. Raises WorkerError; when cancelled, `_stop` ends the worker."""
        slot = self._free_slot()
        try:
            process = await self._create(port, slot)
        except OSError as reason:
            del self._slots[slot]
            raise WorkerError(f"a worker cannot be started: {reason}") from reason
        self._slots[slot] = process
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await process.stdout.readline()
        except TimeoutError:
            line = b""
        if line:
            return process
        if process.returncode is None:
            process.kill()
            await process.wait()
        self._processes.discard(process)
        raise WorkerError(f"a worker did not start within {START_SECONDS:.0f} seconds, or complained above")

    async def _create(self, port: int, slot: int) -> Process:
        """Create the process of a worker, which `_stop` ends even if this is cancelled. Raises OSError."""
        creation = asyncio.create_task(
            asyncio.create_subprocess_exec(
                # -P: a `redis.py` in the folder that the operator stands in is not what the worker imports.
                *(sys.executable, "-P", "-m", "fairest_server"),
                env=self._environment(port, slot),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        )
        try:
            # The process exists before this returns: cancelled in between, this must not forget it.
            process = await asyncio.shield(creation)
        except asyncio.CancelledError:
            with suppress(OSError):
                self._processes.add(await creation)
            raise
        self._processes.add(process)
        return process

    def _free_slot(self) -> int:
        """Take the first slot that no living worker has."""
        slot = 0
        while slot in self._slots and ((holder := self._slots[slot]) is None or holder.returncode is None):
            slot += 1
        self._slots[slot] = None
        return slot

    def _environment(self, port: int, slot: int) -> dict[str, str]:
        """Return the environment of a worker: the supervisor's, with its settings, one port and one Redis.

        Settings go through the environment, which only this user may read: command lines are readable by everybody on
        the machine, and a Redis URL may hold a password.
        """
        chosen = self._settings.model_dump(exclude_none=True)
        chosen |= {"workers": 1, "port": port, "redis_url": self._redis_url}
        chosen |= {"reuse_port": True, "ends_with_input": True, "worker_deaths": self._deaths.get(slot, 0)}
        if self._handover_folder is not None:
            chosen["handover_folder"] = self._handover_folder
        if self._settings.admin_port:
            chosen["admin_port"] = self._settings.admin_port + slot
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(ENV_PREFIX) and name not in service_manager.VARIABLES
        }
        return inherited | {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in chosen.items()}

    async def _respawn(self, process: Process, port: int) -> None:
        """Start a new worker whenever this one, or one that replaced it, dies. Ends with a worker that is retired."""
        while True:
            if await _drains(process):
                _LOG.info(Event.WORKER_DRAINS)
                self._draining.add(process)
                self._spawn(self._see_off(process))
            else:
                self._processes.discard(process)
                if process in self._retired:
                    self._retired.discard(process)
                    return
                self._count_death(process)
                _LOG.warning(Event.WORKER_DIED, code=process.returncode)
                await asyncio.sleep(RESTART_SECONDS)
            process = await self._start_at_last(port)

    def _count_death(self, process: Process) -> None:
        for slot, holder in self._slots.items():
            if holder is process:
                self._deaths[slot] = self._deaths.get(slot, 0) + 1

    async def _start_at_last(self, port: int) -> Process:
        """Start a worker; try again until one starts."""
        while True:
            try:
                return await self._start(port)
            except WorkerError as reason:
                _LOG.warning(Event.WORKER_NOT_STARTED, reason=str(reason))
                await asyncio.sleep(RESTART_SECONDS)

    async def _see_off(self, process: Process) -> None:
        """Wait for the end of a worker that drains, and was replaced already."""
        code = await process.wait()
        self._processes.discard(process)
        self._draining.discard(process)
        _LOG.info(Event.WORKER_DRAINED, code=code)

    async def rolling_restart(self) -> None:
        """Replace the workers one after the other. If a new one does not start, the remaining old ones stay.

        Call it within `serving`, and not again before it has returned. When cancelled, the workers stay as they are;
        `serving` ends those that exist.
        """
        for old in self._processes - self._draining:
            try:
                new = await self._start(self._port)
            except WorkerError as reason:
                _LOG.warning(Event.WORKERS_NOT_RENEWED, reason=str(reason))
                return
            if old in self._processes - self._draining:
                self._spawn(self._respawn(new, self._port))
                self._retired.add(old)
                await _stop([old])
            else:
                # The old worker died or drains by now, and `_respawn` replaces it: this new one is too many.
                await _stop([new])
                self._processes.discard(new)
        _LOG.info(Event.WORKERS_RENEWED)


async def _drains(process: Process) -> bool:
    """Wait until a worker ends, and return False; or until it writes that it drains, and return True."""
    assert process.stdout is not None
    async for line in process.stdout:
        if line == DRAINING_LINE:
            return True
    await process.wait()
    return False


async def _stop(processes: Iterable[Process]) -> None:
    """Tell workers to stop and wait until all have ended; kill those that have not after STOP_SECONDS."""
    living = [process for process in processes if process.returncode is None]
    for process in living:
        process.send_signal(signal.SIGTERM)
    ends = [asyncio.create_task(process.wait()) for process in living]
    if ends:
        await asyncio.wait(ends, timeout=STOP_SECONDS)
    for process in living:
        if process.returncode is None:
            process.kill()
            await process.wait()


@contextmanager
def _handover_folder() -> Iterator[Path | None]:
    """Make a folder that only this user may read; None if that fails. The last worker removes it after a kill."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="fairest-"))
    except OSError as reason:
        _LOG.warning(Event.NO_HANDOVER, reason=str(reason))
        yield None
        return
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _reserve(host: str, port: int) -> Iterator[int]:
    """Bind a port, any free one for 0, so that only this user's processes may listen on it. Raises OSError."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((host, port))
        yield int(held.getsockname()[1])
