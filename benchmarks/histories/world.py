"""The processes of a scenario: engines, server processes, the link between servers and Redis, and the clients' links.

Everything here is a real process and a real socket; the client and the checker know nothing of it.
"""

import asyncio
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairest_server.store.log_entries import read_entry

START_SECONDS = 40.0
SERVER = sys.executable, "-P", "-m", "fairest_server"
LIMITS = "--messages-per-second=1000", "--connections-per-address=10000", "--players-per-address=1000000"
"""All clients come from one address, and are to be slowed down by nothing but faults."""


def call(address: Path | int, *words: str | int | bytes, seconds: float = 5.0) -> Any:
    """Send one command to an engine, by its Unix socket or its port, and return the reply. Raises OSError."""
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.settimeout(seconds)
        connection.connect(str(address) if isinstance(address, Path) else ("127.0.0.1", address))
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        request = b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        connection.sendall(b"*%d\r\n%s" % (len(parts), request))
        with connection.makefile("rb") as lines:
            return _reply(lines)


def _reply(lines: Any) -> Any:
    line = lines.readline()
    if not line.endswith(b"\r\n"):
        raise OSError("the connection ended")
    kind, text = line[:1], line[1:-2]
    if kind == b"-":
        raise OSError(text.decode())
    if kind == b":":
        return int(text)
    if kind == b"$":
        return None if text == b"-1" else lines.read(int(text) + 2)[:-2]
    if kind == b"*":
        return [_reply(lines) for _ in range(int(text))]
    return text.decode()


@dataclass
class Engine:
    """A Redis or Valkey on a folder of its own. It listens on a Unix socket, and on a port if it has one."""

    program: str
    folder: Path
    options: tuple[str, ...] = ()
    port: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    data: Path | None = None
    """The folder of its data, if it is another one."""
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it on its data and wait until it has read them. Raises RuntimeError if it does not."""
        self.socket.unlink(missing_ok=True)
        command = [self.program, "--port", str(self.port), "--unixsocket", str(self.socket), "--save", ""]
        command += ["--dir", str(self.data or self.folder), "--logfile", str(self.folder / "redis.log"), *self.options]
        self.process = subprocess.Popen(command, env=os.environ | dict(self.environment), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"{self.program} did not start: {(self.folder / 'redis.log').read_text()[-500:]}")
            time.sleep(0.02)

    def answers(self) -> bool:
        try:
            return bool(call(self.socket, "PING") == "PONG")
        except OSError:
            return False

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it with SIGKILL and wait for its end."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)

    def restart(self) -> None:
        """Kill it and start it again on its data."""
        self.kill()
        self.start()


@dataclass
class Server:
    """One command `fairest-server`, which may run several workers; its log is in a file."""

    options: tuple[str, ...]
    log: Path
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it and wait for its URL. Raises RuntimeError if it ends instead."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [*SERVER, "--port", "0", *LIMITS, *self.options], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"a server did not start: {self.log.read_text()[-1000:]}")

    def kill(self) -> None:
        """Kill it with SIGKILL and wait for its end."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)

    def workers(self) -> list[int]:
        """Return the process ids of its workers."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in children.read_text().split()] if children.exists() else []

    def end(self) -> None:
        """End it with SIGTERM, or kill it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            for worker in self.workers():
                os.kill(worker, signal.SIGKILL)
            self.kill()


@dataclass(eq=False)
class Relay:
    """A TCP link to a target that may change. It cuts connections after a number of bytes, in the middle of a frame."""

    target: Callable[[], tuple[str, int] | Path]
    port: int = 0
    bytes_until_cut: Callable[[], float] = lambda: float("inf")
    cuts: int = 0
    is_down: bool = False
    """Whether new connections are refused."""
    loses_answers: bool = False
    """Whether bytes from the far end vanish, while those to it arrive."""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Cut every connection now."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def end(self) -> None:
        if self._server is not None:
            self._server.close()
            self.cut()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = self.target()
        try:
            if self.is_down:
                raise ConnectionRefusedError
            if isinstance(target, Path):
                far_reader, far_writer = await asyncio.open_unix_connection(target)
            else:
                far_reader, far_writer = await asyncio.open_connection(*target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, far_writer}
        self._writers |= both
        left = self.bytes_until_cut()
        try:
            there = self._pass(reader, far_writer, float("inf"), is_request=True)
            await asyncio.gather(there, self._pass(far_reader, writer, left, is_request=False))
        except (OSError, EOFError):
            pass
        finally:
            for each in both:
                each.transport.abort()
            self._writers -= both

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: float, *, is_request: bool
    ) -> None:
        while chunk := await reader.read(65536):
            if len(chunk) >= left:
                self.cuts += 1
                writer.write(chunk[: int(left)])
                await writer.drain()
                raise EOFError
            left -= len(chunk)
            if self.loses_answers and not is_request:
                continue
            writer.write(chunk)
            await writer.drain()
        raise EOFError


@dataclass
class World:
    """The processes and links of one scenario, and a folder for them."""

    program: str
    folder: Path
    chance: random.Random
    engines: list[Engine] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    relays: list[Relay] = field(default_factory=list)
    mounts: list[Path] = field(default_factory=list)
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)
    find_master: Callable[[], tuple[str, int]] | None = None
    """The address of the master, where there are several engines."""
    ended_engines: int = 0
    """Engines that ended by themselves."""

    def engine(self, *options: str, **more: Any) -> Engine:
        """Add an engine; it is not started."""
        folder = Path(tempfile.mkdtemp(prefix="engine-", dir=self.folder))
        engine = Engine(more.pop("program", self.program), folder, options, **more)
        self.engines.append(engine)
        return engine

    async def serve(self, count: int, redis_url: str, *options: str) -> None:
        """Start server processes on a Redis."""
        for number in range(count):
            server = Server(("--redis-url", redis_url, *options), self.folder / f"server-{number}.log")
            self.servers.append(server)
            await asyncio.to_thread(server.start)

    async def relay(self, target: Callable[[], tuple[str, int] | Path], port: int = 0) -> Relay:
        """Start a link."""
        relay = Relay(target, port)
        await relay.start()
        self.relays.append(relay)
        return relay

    def urls(self) -> list[str]:
        """Return the addresses of all servers, as clients know them."""
        return [server.url for server in self.servers]

    def read_log(self, room: str) -> list[tuple[int, int, str]] | None:
        """Return the entries of a room's log, raw; None if no engine answers or has it."""
        for engine in self.engines:
            with suppress(OSError):
                if call(engine.socket, "ROLE")[0] != b"master":
                    continue
                for key in call(engine.socket, "KEYS", f"fairest:*:log:{room}"):
                    read = [read_entry(text) for text in call(engine.socket, "LRANGE", key, "0", "-1")]
                    return [
                        (index, entry.at_ms, text.decode())
                        for entry in read
                        for index, text in enumerate(entry.texts, entry.index)
                    ]
        return None

    async def end(self) -> None:
        """End all processes, unmount, remove the folder."""
        for relay in self.relays:
            await relay.end()
        for server in self.servers:
            await asyncio.to_thread(server.end)
        for engine in self.engines:
            with suppress(ProcessLookupError):
                engine.send_signal(signal.SIGCONT)
            await asyncio.to_thread(engine.kill)
        for other in self.others:
            other.kill()
            await asyncio.to_thread(other.wait, 10)
        for mount in reversed(self.mounts):
            await asyncio.to_thread(subprocess.run, ["umount", "-l", str(mount)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def faults_logged(servers: list[Server]) -> list[str]:
    """Return the lines of the servers' logs that tell of a fault in the program."""
    pattern = re.compile(r'"event": "fault"')
    return [line for server in servers if server.log.exists() for line in server.log.read_text().splitlines()
            if pattern.search(line)]  # fmt: skip


def free_port() -> int:
    """Return a port below those that the system gives out; its neighbour 10,000 above is free too."""
    chance = random.Random(os.urandom(8))
    while True:
        port = chance.randrange(12_000, 22_000)
        with socket.socket() as first, socket.socket() as second, suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 10_000))
            return port
