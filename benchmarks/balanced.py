"""One server process or two, or a control, behind HAProxy with the configuration of docker-compose.yml."""

import asyncio
import os
import shutil
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import yaml

from benchmarks.under_load import Processes, control, start_servers
from tests.support.ports import free_port
from tests.support.processes import end_process, redis_process, serving_fleet
from tests.support.waiting import until

COMPOSE: Final = Path(__file__).parents[1] / "docker-compose.yml"
HAPROXY = shutil.which("haproxy", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
"""None where HAProxy is not installed."""


@asynccontextmanager
async def serving_balanced(processes: int) -> AsyncIterator[Processes]:
    """Run one server or two on one Redis, and HAProxy before them, whose port is the one to load."""
    with redis_process("--appendonly", "yes") as redis:
        async with serving_fleet(redis.url) as fleet:
            ports = [await start_servers(fleet, 1, "--trusted-proxies", "127.0.0.1") for _ in range(processes)]
            async with _balancing(ports) as port:
                yield Processes(tuple(each.pid for each in fleet.processes.values()), redis.pid, port)


@asynccontextmanager
async def controls_balanced(kind: str, count: int) -> AsyncIterator[Processes]:
    """Run one of `benchmarks.controls` or two, and one HAProxy before them. The CPU of their Redis is not measured.

    They have no page that says whether they are ready.
    """
    async with AsyncExitStack() as stack:
        served = [await stack.enter_async_context(control(kind)) for _ in range(count)]
        ports = [each.port for each in served]
        port = await stack.enter_async_context(_balancing(ports, ["option httpchk GET /readyz"]))
        yield Processes(tuple(pid for each in served for pid in each.servers), None, port)


@asynccontextmanager
async def _balancing(ports: Sequence[int], left_out: Sequence[str] = ()) -> AsyncIterator[int]:
    """Run HAProxy before the servers on these ports, one or two, without the lines `left_out`; yield its port."""
    assert HAPROXY is not None
    port, text = free_port(), yaml.safe_load(COMPOSE.read_text())["configs"]["door"]["content"]
    # Docker's names become addresses.
    changes = {
        "resolvers docker\n  parse-resolv-conf\n": "",
        "bind :8765": f"bind 127.0.0.1:{port}",
        "server-template server 2 server:8765 check resolvers docker init-addr none": (
            f"server one 127.0.0.1:{ports[0]} check\n  server two 127.0.0.1:{ports[-1]} check"
        ),
        **dict.fromkeys(left_out, ""),
    }
    for old, new in changes.items():
        assert old in text, f"{COMPOSE.name} has no {old!r} any more"
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        configuration = Path(folder) / "haproxy.cfg"
        configuration.write_text(text)
        balancer = await asyncio.create_subprocess_exec(
            *(HAPROXY, "-db", "-f", str(configuration)), stdout=DEVNULL, stderr=DEVNULL
        )
        try:
            await _accepting(port)
            yield port
        finally:
            await end_process(balancer)


async def _accepting(port: int) -> None:
    async def is_open() -> bool:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        return False

    await until(is_open, "HAProxy accepts connections")
