"""Players beside a flood of each kind of frame, of handshakes and of handshakes that are never ended.

Twenty rooms race at a person's pace on a server with its default limits. A flood is cut off after one second, not
thirty, so that it comes back several times. It comes from one connection and from 200 of another address.

All share two cores here, and a flooder takes one of them whether our server minds it or not. So the control is the very
same flood, at a bystander that answers the handshake and reads nothing; windows of both take turns. The share of a core
that the server takes for players and flood stands beside it.

The CPU of the turns of the server's event loop beside the flood is measured in windows of its own (`turn_watch`). It
does not depend on what else the machine does. A move waits for three turns at most: until its bytes are read, until its
batch is sent to Redis, and until the reply is read.

With FLOODS_REALTIME=1, which needs root, the server has one core, and players and Redis go before the flooder on the
other one, as if each had a machine of its own, and before everything else that runs.
"""

import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from benchmarks.figure import Figure, written_down
from benchmarks.flooder import KINDS
from benchmarks.under_load import Cost, Loader, Processes, loading, resident_kib
from tests.support.processes import redis_process, serving_fleet

ROOMS = 20
PACE_SECONDS = 0.3
FIRST_MOVES = 2
WINDOW_MOVES = 6
"""Of each player, in one window: one and a half seconds."""
WINDOWS = 3
TURN_MOVES = 4
"""Likewise, in the window in which turns are measured. The end of a race must not lie in it: it takes 2 ms."""
BEGIN_SECONDS = 0.3
"""The time that a flooder has to begin."""
CONNECTIONS = (1, 200)
MAX_RATIO = 2.0
IS_REALTIME = os.environ.get("FLOODS_REALTIME") == "1"
MAX_GROWTH_KIB = 32 * 1024


def measure_floods() -> list[Figure]:
    """The 99th percentile of an answer beside each flood over that beside its control, and the growth of memory."""
    return [figure for kind in KINDS for count in CONNECTIONS for figure in asyncio.run(_measure(kind, count))]


async def _measure(kind: str, connections: int) -> list[Figure]:
    control: list[Cost] = []
    beside: list[Cost] = []
    with redis_process("--appendonly", "yes") as redis, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "turns.json"
        watched = sys.executable, "-m", "benchmarks.turn_watch", str(file)
        async with serving_fleet(redis.url, watched) as fleet, _bystander() as bystander:
            url = await fleet.start("--flood-seconds", "1")
            (server,) = fleet.processes.values()
            _prefer(server.pid, 2, core=0)
            _prefer(redis.pid, 2, core=1)
            served = Processes((server.pid,), redis.pid, int(url.rpartition(":")[2]))
            async with loading("race", served, ROOMS, pace=PACE_SECONDS) as load:
                _prefer(load.pid, 2, core=1)
                await load.move(FIRST_MOVES)
                before_kib = most_kib = resident_kib(server.pid)
                for _ in range(WINDOWS):
                    async with _flooding(kind, bystander, connections):
                        control.append(await load.move(WINDOW_MOVES))
                    async with _flooding(kind, served.port, connections):
                        beside.append(await load.move(WINDOW_MOVES))
                        most_kib = max(most_kib, resident_kib(server.pid))
                async with _flooding(kind, served.port, connections):
                    turn_ms = await _turn_ms(load, server.pid, file)
    p99_ms, control_ms = (statistics.median(cost.p99_ms for cost in costs) for costs in (beside, control))
    ratio, growth_kib = p99_ms / control_ms, most_kib - before_kib
    name = f"flood_{kind}_{connections}"
    return [
        Figure(f"{name}_p99_ratio", ratio, "", f"<= {MAX_RATIO:g}", holds=ratio <= MAX_RATIO),
        written_down(f"{name}_p99_ms", p99_ms, "ms"),
        Figure(f"{name}_p99_ms_control", control_ms, "ms", "(control)", holds=True),
        written_down(f"{name}_turn_ms", turn_ms, "ms"),
        written_down(f"{name}_server_share", statistics.median(map(_share, beside)), "cores"),
        Figure(f"{name}_growth_kib", growth_kib, "KiB", f"<= {MAX_GROWTH_KIB}", holds=growth_kib <= MAX_GROWTH_KIB),
    ]


async def _turn_ms(load: Loader, server: int, file: Path) -> float:
    """Let the players move; return the CPU of the turn of the server's loop in which 99 of 100 moments lie, in ms."""
    file.unlink(missing_ok=True)
    os.kill(server, signal.SIGUSR1)
    await load.move(TURN_MOVES)
    os.kill(server, signal.SIGUSR2)
    async with asyncio.timeout(30):
        while not file.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)
    return float(json.loads(file.read_text())["p99_ms"])


def _prefer(pid: int, priority: int, *, core: int) -> None:
    """Let a process run on one core, before everything without such a priority, if that was asked for."""
    if not IS_REALTIME:
        return
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), {core})
            if priority:
                os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(priority))


def _share(cost: Cost) -> float:
    return cost.server_seconds / cost.seconds


class _Bystander(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002
        self._transport.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        self._transport.pause_reading()


@asynccontextmanager
async def _bystander() -> AsyncIterator[int]:
    """Serve a port that reads nothing, in this process; yields it."""
    server = await asyncio.get_running_loop().create_server(_Bystander, "127.0.0.1", 0)
    yield int(server.sockets[0].getsockname()[1])
    server.close()


@asynccontextmanager
async def _flooding(kind: str, port: int, connections: int) -> AsyncIterator[None]:
    command = [sys.executable, "-m", "benchmarks.flooder", kind, str(port), str(connections)]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    _prefer(process.pid, 0, core=1)
    if IS_REALTIME:
        # It makes itself nicer than the players, and is to come before all that has nothing to do with this.
        os.setpriority(os.PRIO_PROCESS, process.pid, -20)
    await asyncio.sleep(BEGIN_SECONDS)
    try:
        yield
        told, _ = await process.communicate(b"")
        made = json.loads(told)
        print(f"  {kind}: {made['connections']} connections, {made['bytes'] / 1e6:.1f} MB", file=sys.stderr)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
