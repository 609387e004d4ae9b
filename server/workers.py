"""Several server processes on one port: this one starts the others, and a new one for each that dies.

The kernel spreads connections over them. Any of them serves any player of any room, so it does not matter which.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import structlog

from server.settings import Settings

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 6.0
"""Longer than a worker allows itself; then it is killed."""
RESTART_SECONDS: Final = 0.5

_LOG = structlog.get_logger(__name__)


class WorkerError(Exception):
    """A worker does not start; the text says what it complained about."""


class Workers:
    """So many server processes on one Redis and one port, within `serving`."""

    def __init__(self, settings: Settings, redis_url: str) -> None:
        self._settings = settings
        self._redis_url = redis_url
        self._processes: set[asyncio.subprocess.Process] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Yield the URL once all of them serve. Raises `WorkerError`, and OSError for a port that is not to be had."""
        with _reserve(self._settings.host, self._settings.port) as port:
            try:
                async with asyncio.TaskGroup() as tasks:
                    for number in range(self._settings.workers):
                        tasks.create_task(self._start(port), name=f"worker {number + 1}")
                keeping = [asyncio.create_task(self._keep(process, port)) for process in self._processes]
                try:
                    yield f"ws://{self._settings.host}:{port}"
                finally:
                    for task in keeping:
                        task.cancel()
                    await asyncio.gather(*keeping, return_exceptions=True)
            except* WorkerError as reasons:
                raise reasons.exceptions[0] from None
            finally:
                await self._stop()

    async def _start(self, port: int) -> asyncio.subprocess.Process:
        settings = self._settings
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server", "--host", settings.host, "--port", str(port), "--reuse-port"),
            *("--redis-url", self._redis_url, "--hello-seconds", str(settings.hello_seconds)),
            *("--max-frame-bytes", str(settings.max_frame_bytes)),
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._processes.add(process)
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await process.stdout.readline()
        except TimeoutError:
            raise WorkerError(f"a worker did not start within {START_SECONDS:.0f} seconds") from None
        if not line:
            raise WorkerError("a worker did not start; its complaint stands above")
        return process

    async def _keep(self, process: asyncio.subprocess.Process, port: int) -> None:
        """Start a new worker for one that died, again and again."""
        while True:
            await process.wait()
            self._processes.discard(process)
            _LOG.warning("a worker died, another one is started", code=process.returncode)
            await asyncio.sleep(RESTART_SECONDS)
            try:
                process = await self._start(port)
            except WorkerError as reason:
                _LOG.warning("a worker does not start", reason=str(reason))

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


@contextmanager
def _reserve(host: str, port: int) -> Iterator[int]:
    """Hold a port, any free one for 0, on which only our workers may listen. Raises OSError."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((host, port))
        yield int(held.getsockname()[1])
