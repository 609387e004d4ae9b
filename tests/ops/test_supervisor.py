"""Several server processes on one port."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.certificates import make_certificate
from tests.support.processes import SERVER_COMMAND, end_process, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players

WORKERS = 3


@dataclass
class Served:
    """Workers under way: their URL, and the process that keeps them."""

    url: str
    keeper: asyncio.subprocess.Process

    def workers(self) -> list[int]:
        """The process ids of those that live."""
        children = Path(f"/proc/{self.keeper.pid}/task/{self.keeper.pid}/children").read_text()
        return [int(child) for child in children.split()]


@pytest.fixture
async def served(redis_url: str) -> AsyncIterator[Served]:
    command = [
        sys.executable,
        "-m",
        "fairest_server",
        "--workers",
        str(WORKERS),
        "--port",
        "0",
        "--redis-url",
        redis_url,
    ]
    keeper = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    assert keeper.stdout is not None
    async with asyncio.timeout(30):
        url = (await keeper.stdout.readline()).decode().strip()
    yield Served(url, keeper)
    if keeper.returncode is None:
        await end_process(keeper)


async def test_players_race_whichever_worker_they_meet(served: Served) -> None:
    assert len(served.workers()) == WORKERS
    for _ in range(5):
        async with racing_players(served.url, options=QUICK) as (first, second):
            await first.play("sa")
            await second.play("sb")
            await first.play("resign")


async def test_a_worker_that_dies_is_replaced(served: Served) -> None:
    victim = served.workers()[0]
    os.kill(victim, signal.SIGKILL)

    async def is_replaced() -> bool:
        return len(served.workers()) == WORKERS and victim not in served.workers()

    await until(is_replaced, "the dead worker is replaced")
    async with open_client(served.url):
        pass


async def test_all_workers_end_when_they_are_told_to(served: Served) -> None:
    workers = served.workers()
    async with open_client(served.url):
        served.keeper.terminate()
        async with asyncio.timeout(10):
            assert await served.keeper.wait() == 0
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


async def test_workers_with_a_certificate_speak_tls_and_say_so(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--workers", "2", "--tls-cert", str(cert), "--tls-key", str(key))
        assert url.startswith("wss://127.0.0.1:")
        async with racing_players(url.replace("127.0.0.1", "localhost")) as (first, _):
            await first.play("sa")


@pytest.mark.long
async def test_a_port_that_somebody_else_has_is_named(served: Served, redis_url: str) -> None:
    with_own_port = served.url.rsplit(":", 1)[1]
    command = [*SERVER_COMMAND, "--port", with_own_port, "--redis-url", redis_url]
    other = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(20):
        _, told = await other.communicate()
    assert other.returncode == 1
    assert f"cannot listen on 127.0.0.1:{with_own_port}" in told.decode()


@pytest.mark.long
async def test_workers_asked_for_in_the_environment_start_none_of_their_own_and_show_no_password(
    redis_url: str, tmp_path: Path
) -> None:
    """Everybody on the machine may read a command line."""
    cert, key = make_certificate(tmp_path)
    asked = {"WORKERS": "2", "PORT": "0", "REDIS_URL": redis_url, "TLS_CERT": cert, "TLS_KEY": key}
    environment = os.environ | {f"FAIREST_{name}": str(value) for name, value in asked.items()}
    keeper = await asyncio.create_subprocess_exec(*SERVER_COMMAND, stdout=PIPE, stderr=PIPE, env=environment)
    assert keeper.stdout is not None
    async with asyncio.timeout(30):
        served = Served((await keeper.stdout.readline()).decode().strip(), keeper)
    try:
        assert served.url.startswith("wss://")
        assert len(served.workers()) == 2
        for worker in served.workers():
            assert not Path(f"/proc/{worker}/task/{worker}/children").read_text()
            assert redis_url not in Path(f"/proc/{worker}/cmdline").read_text()
    finally:
        await end_process(keeper)
