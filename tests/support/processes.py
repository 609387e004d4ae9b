"""Real processes that tests and benchmarks start, stop and kill: server processes, and a Redis of their own."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import redis as plain_redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.support.engine import engine_program
from tests.support.waiting import INTERVAL_SECONDS

START_SECONDS = 40.0
"""A server starts in a second; a machine with ten times as much to do as it has cores takes its time."""
STOP_SECONDS = 30.0
"""A server gives up waiting after 3.5 s, a supervisor after the time of its workers and one second more."""
SERVER_COMMAND = (sys.executable, "-P", "-m", "fairest_server")
"""Starts a server. With -P, nothing is imported from the current folder of the tests."""
CLIENT_COMMAND = (sys.executable, "-P", "-m", "fairest_cli")


class Fleet:
    """Server processes on one Redis, which a test starts, freezes, kills and ends."""

    def __init__(self, redis_url: str, command: Sequence[str] = SERVER_COMMAND) -> None:
        self.redis_url = redis_url
        self._command = command
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, *options: str, port: int = 0) -> str:
        """Start a process; return its URL, with `#` and its process id if another process has the same URL."""
        command = [*self._command, "--port", str(port), "--redis-url", self.redis_url, *options]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        # Until it serves it has its process id for a name, so that one which never does is killed at the end as well.
        self.processes[f"#{process.pid}"] = process
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            url = (await process.stdout.readline()).decode().strip()
        assert url, f"{command} did not start"
        del self.processes[f"#{process.pid}"]
        name = url if url not in self.processes else f"{url}#{process.pid}"
        self.processes[name] = process
        return name

    def freeze(self, url: str) -> None:
        """Stop a process with SIGSTOP."""
        self.processes[url].send_signal(signal.SIGSTOP)

    def thaw(self, url: str) -> None:
        """Continue a process with SIGCONT."""
        self.processes[url].send_signal(signal.SIGCONT)

    async def kill(self, url: str) -> None:
        """Kill a process with SIGKILL and wait for its end."""
        process = self.processes.pop(url)
        process.kill()
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()

    async def end(self, url: str) -> int:
        """End a process with SIGTERM; return its exit code."""
        process = self.processes.pop(url)
        process.terminate()
        async with asyncio.timeout(STOP_SECONDS):
            return await process.wait()

    async def wait_for_end(self, url: str) -> int:
        """Wait for a process that ends by itself; return its exit code."""
        process = self.processes.pop(url)
        async with asyncio.timeout(START_SECONDS):
            return await process.wait()

    async def kill_all(self) -> None:
        for url in list(self.processes):
            await self.kill(url)


async def end_process(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """End a process: SIGTERM, SIGKILL if it is still there after `STOP_SECONDS`; return what was left in its pipes.

    Raises AssertionError when the process has ended and its pipes stay open, held by a process that it has started.
    """
    for end in (process.terminate, process.kill):
        if process.returncode is None:
            end()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                written, errors = await process.communicate()
                return written or b"", errors or b""
    raise AssertionError(f"process {process.pid} has ended, and a process that it has started holds its pipes open")


@asynccontextmanager
async def serving_fleet(redis_url: str, command: Sequence[str] = SERVER_COMMAND) -> AsyncIterator[Fleet]:
    """A fleet without processes; all that the test starts, by `command`, are killed at the end."""
    fleet = Fleet(redis_url, command)
    try:
        yield fleet
    finally:
        await fleet.kill_all()


class RedisProcess:
    """A real engine, a Valkey or a Redis, on a folder of its own, which a test kills, freezes and starts again."""

    def __init__(self, folder: Path, *options: str, wrapper: Sequence[str] = ()) -> None:
        program = engine_program()
        self._folder = folder
        self._socket = folder / "redis.sock"
        self._command = [*wrapper, program, "--port", "0", "--unixsocket", str(self._socket)]
        self._command += ["--dir", str(folder), "--save", "", *options]
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._socket}"
        # A connection that an ended engine has left behind is opened anew, once and at once.
        self._client: Any = plain_redis.Redis.from_url(self.url, protocol=2, retry=Retry(NoBackoff(), 1))
        self._client.set_response_callback("INFO", lambda text, **_: text)
        self.start()

    @property
    def socket(self) -> Path:
        return self._socket

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start Redis on the data in its folder, and wait until it has loaded them."""
        self._socket.unlink(missing_ok=True)
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert time.monotonic() < deadline and self._process.poll() is None, f"{self._command[0]} did not start"
            time.sleep(INTERVAL_SECONDS)

    def kill(self) -> None:
        """Kill Redis with SIGKILL and wait for its end."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_SECONDS)
        self._client.close()

    def end(self) -> None:
        """End Redis with SIGTERM and wait for its end."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(STOP_SECONDS)
        self._client.close()

    def freeze(self) -> None:
        """Stop Redis with SIGSTOP."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue Redis with SIGCONT."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def call(self, *words: str | int) -> object:
        """Send a command and return its reply."""
        return self._client.execute_command(*words)

    def info(self, section: str) -> bytes:
        """Return the text of an INFO section."""
        return bytes(self._client.execute_command("INFO", section))

    def _answers(self) -> bool:
        try:
            return self.call("PING") is not None
        except plain_redis.RedisError:
            return False


@contextmanager
def redis_process(*options: str, wrapper: Sequence[str] = ()) -> Iterator[RedisProcess]:
    """A Redis with these options, started by the command `wrapper` if that is given; it and its folder are removed at
    the end.
    """
    # The path of a Unix socket is limited to about 100 bytes; pytest's folders may be longer.
    folder = Path(tempfile.mkdtemp(prefix="fairest-test-"))
    process = RedisProcess(folder, *options, wrapper=wrapper)
    try:
        yield process
    finally:
        process.kill()
        shutil.rmtree(folder)
