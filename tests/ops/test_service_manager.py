"""A server tells systemd when it is ready, reloads and stops, by the datagrams of sd_notify."""

import asyncio
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from fairest_server.ops import service_manager
from tests.support.processes import SERVER_COMMAND, end_process
from tests.support.waiting import PATIENCE_SECONDS


@contextmanager
def manager_socket(address: str) -> Iterator[socket.socket]:
    """The socket on which a service manager listens; `address` as in NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address.replace("@", "\0", 1))
        listening.setblocking(False)
        yield listening


@pytest.fixture(params=["path", pytest.param("abstract", marks=pytest.mark.long)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "notify") if request.param == "path" else f"@fairest-test-{os.getpid()}"


async def received(listening: socket.socket) -> dict[str, str]:
    """Return the next message other than WATCHDOG=1, as names and values."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            text = (await asyncio.get_running_loop().sock_recv(listening, 4_096)).decode()
            message = dict(line.split("=", 1) for line in text.splitlines())
            if "WATCHDOG" not in message:
                return message


@asynccontextmanager
async def service(redis_url: str, address: str, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A server that was started by a service manager."""
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url, *options]
    environment = os.environ | {"NOTIFY_SOCKET": address}
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL, env=environment)
    try:
        yield process
    finally:
        await end_process(process)


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_server_reports_that_it_is_ready_and_that_it_stops(redis_url: str, address: str, workers: str) -> None:
    with manager_socket(address) as listening:
        async with service(redis_url, address, "--workers", workers) as process:
            assert process.stdout is not None
            url = (await process.stdout.readline()).decode().strip()
            assert await received(listening) == {"READY": "1", "STATUS": f"serving {url}"}
            process.terminate()
            assert (await received(listening))["STOPPING"] == "1"


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
async def test_a_reload_is_reported_from_its_begin_to_its_end(redis_url: str, tmp_path: Path, workers: str) -> None:
    address = str(tmp_path / "notify")
    with manager_socket(address) as listening:
        async with service(redis_url, address, "--workers", workers) as process:
            await received(listening)
            process.send_signal(signal.SIGHUP)
            begin = await received(listening)
            assert begin["RELOADING"] == "1"
            assert begin["MONOTONIC_USEC"].isdecimal()
            assert (await received(listening))["READY"] == "1"


async def test_the_watchdog_is_fed_twice_in_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    with manager_socket(address) as listening:
        feeding = asyncio.create_task(service_manager.feed_watchdog())
        async with asyncio.timeout(PATIENCE_SECONDS):
            for _ in range(3):
                assert await asyncio.get_running_loop().sock_recv(listening, 4_096) == b"WATCHDOG=1"
        feeding.cancel()


@pytest.mark.parametrize(("microseconds", "process_id"), [("", ""), ("20000", "1"), ("soon", "")])
async def test_a_watchdog_of_another_process_is_not_fed(
    monkeypatch: pytest.MonkeyPatch, microseconds: str, process_id: str
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    monkeypatch.setenv("WATCHDOG_PID", process_id)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await service_manager.feed_watchdog()


def test_a_manager_that_is_gone_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    service_manager.notify_stopping()


def test_nothing_is_sent_without_a_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    service_manager.notify_stopping()
