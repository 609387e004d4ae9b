"""Several server processes on one port, under a supervisor that none of them outlives."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from fairest_server.ops.supervisor import Supervisor, WorkerError
from fairest_server.settings import Settings
from tests.support.certificates import make_certificate
from tests.support.processes import SERVER_COMMAND, end_process, serving_fleet
from tests.support.run_guard import VARIABLE
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, open_client, racing_players

WORKERS = 2


@dataclass
class Served:
    """A supervisor, and its URL once it serves."""

    supervisor: asyncio.subprocess.Process
    url: str = ""

    async def wait_until_it_serves(self) -> None:
        assert self.supervisor.stdout is not None
        async with asyncio.timeout(30):
            self.url = (await self.supervisor.stdout.readline()).decode().strip()
        assert self.url

    def workers(self) -> list[int]:
        """The ids of its living worker processes."""
        children = Path(f"/proc/{self.supervisor.pid}/task/{self.supervisor.pid}/children").read_text()
        return [int(child) for child in children.split()]


def living(workers: list[int]) -> list[int]:
    return [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def open_sockets(process: int) -> set[str]:
    """The sockets that a process has open; a pipe of a child is a pair of them."""
    names = {str(each.readlink()) for each in Path(f"/proc/{process}/fd").iterdir()}
    return {name for name in names if name.startswith("socket:")}


@asynccontextmanager
async def supervising(**settings: object) -> AsyncIterator[Served]:
    """A supervisor with these settings that has just been started; it does not serve yet. Ended in any case."""
    environment = {f"FAIREST_{name.upper()}": str(value) for name, value in settings.items()}
    supervisor = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, stdout=PIPE, stderr=PIPE, env=os.environ | environment
    )
    try:
        yield Served(supervisor)
    finally:
        await end_process(supervisor)


@pytest.fixture
async def served(redis_url: str) -> AsyncIterator[Served]:
    async with supervising(workers=WORKERS, port=0, redis_url=redis_url) as served:
        await served.wait_until_it_serves()
        yield served


@pytest.fixture
async def starting(redis_url: str) -> AsyncIterator[Served]:
    """A supervisor whose workers have been started and do not serve yet."""
    async with supervising(workers=WORKERS, port=0, redis_url=redis_url) as served:

        async def are_started() -> bool:
            return len(served.workers()) == WORKERS

        await until(are_started, "all workers are started")
        yield served


@pytest.mark.long
async def test_players_race_whichever_worker_they_meet(served: Served) -> None:
    assert len(served.workers()) == WORKERS
    for _ in range(5):
        async with racing_players(served.url, options=QUICK) as (first, second):
            await first.play("sa")
            await second.play("sb")
            await first.play("resign")


@pytest.mark.long
async def test_a_worker_that_dies_is_replaced(served: Served) -> None:
    victim = served.workers()[0]
    os.kill(victim, signal.SIGKILL)

    async def is_replaced() -> bool:
        return len(served.workers()) == WORKERS and victim not in served.workers()

    await until(is_replaced, "the dead worker is replaced")
    async with open_client(served.url):
        pass


@pytest.mark.long
async def test_all_workers_end_when_they_are_told_to(served: Served) -> None:
    workers = served.workers()
    async with open_client(served.url):
        served.supervisor.terminate()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await served.supervisor.wait() == 0
    assert living(workers) == []


@pytest.mark.long
async def test_a_supervisor_that_is_told_to_stop_while_its_workers_start_leaves_none(starting: Served) -> None:
    workers = starting.workers()
    starting.supervisor.terminate()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await starting.supervisor.wait() == 0
    assert living(workers) == []


@pytest.mark.long
async def test_workers_that_start_do_not_outlive_a_killed_supervisor(starting: Served) -> None:
    workers = starting.workers()
    starting.supervisor.kill()

    async def are_gone() -> bool:
        return living(workers) == []

    await until(are_gone, "all workers are gone")


@asynccontextmanager
async def supervising_in(
    folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Served, Path]]:
    """A supervisor that serves, and the folder of its workers' sockets, which it has made in this one."""
    monkeypatch.setenv("TMPDIR", str(folder))
    async with supervising(workers=WORKERS, port=0, redis_url=redis_url) as served:
        await served.wait_until_it_serves()
        (sockets,) = folder.glob("fairest-*")
        yield served, sockets


@pytest.mark.long
async def test_only_the_user_of_the_server_may_pass_sockets_to_its_workers(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with supervising_in(tmp_path, redis_url, monkeypatch) as (_, sockets):
        assert sockets.stat().st_mode & 0o777 == 0o700


@pytest.mark.long
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
async def test_no_socket_of_a_worker_is_left_behind(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    async with supervising_in(tmp_path, redis_url, monkeypatch) as (served, sockets):
        served.supervisor.send_signal(ending)
        await until(lambda: asyncio.to_thread(lambda: not sockets.exists()), "the folder of the sockets is removed")


@pytest.mark.long
async def test_no_worker_holds_the_pipes_of_another(served: Served) -> None:
    """A worker would not see the end of its input for as long as another one held the writing end."""
    held = [open_sockets(process) for process in (served.supervisor.pid, *served.workers())]
    assert [first & second for first, second in combinations(held, 2) if first & second] == []


async def test_a_worker_that_the_system_does_not_start_is_named(
    settings_for_tests: Settings, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(WorkerError, match=r"a worker cannot be started: .*No such file"):
        async with Supervisor(settings_for_tests).serving(redis_url):
            pass


@pytest.mark.long
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
async def test_a_port_that_another_server_has_is_named(served: Served, redis_url: str) -> None:
    with_own_port = served.url.rsplit(":", 1)[1]
    command = [*SERVER_COMMAND, "--port", with_own_port, "--redis-url", redis_url]
    other = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(20):
        _, told = await other.communicate()
    assert other.returncode == 1
    assert f"cannot listen on 127.0.0.1:{with_own_port}" in told.decode()


@pytest.mark.long
async def test_workers_log_at_the_level_of_their_supervisor(redis_url: str) -> None:
    async with supervising(workers=2, port=0, redis_url=redis_url, log_level="warning") as served:
        await served.wait_until_it_serves()
        assert all(
            b"FAIREST_LOG_LEVEL=warning" in Path(f"/proc/{worker}/environ").read_bytes().split(b"\0")
            for worker in served.workers()
        )


@pytest.mark.long
async def test_workers_asked_for_in_the_environment_start_none_of_their_own_and_show_no_password(
    redis_url: str, tmp_path: Path
) -> None:
    """Everybody on the machine may read a command line."""
    cert, key = make_certificate(tmp_path)
    async with supervising(workers=2, port=0, redis_url=redis_url, tls_cert=cert, tls_key=key) as served:
        await served.wait_until_it_serves()
        assert served.url.startswith("wss://")
        assert len(served.workers()) == 2
        for worker in served.workers():
            assert not Path(f"/proc/{worker}/task/{worker}/children").read_text()
            assert redis_url not in Path(f"/proc/{worker}/cmdline").read_text()


@pytest.mark.long
async def test_workers_carry_the_name_of_the_test_run(served: Served) -> None:
    """By it the guard of the run finds a worker that hangs and outlives its killed supervisor."""
    environments = [Path(f"/proc/{worker}/environ").read_bytes().split(b"\0") for worker in served.workers()]
    assert all(f"{VARIABLE}={os.environ[VARIABLE]}".encode() in environment for environment in environments)
