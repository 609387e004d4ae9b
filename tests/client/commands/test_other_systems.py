"""The commands on a system without the modules and functions that only Unix has, which is simulated by hiding them."""

import asyncio
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.long_tests import parametrize_with_long
from tests.support.processes import START_SECONDS, redis_process

WITHOUT_UNIX = """
# asyncio, filelock and subprocess need some of them on this system; on Windows they look for other ones.
import asyncio, asyncio.subprocess, filelock, signal, sys

for name in ("fcntl", "termios", "tty", "resource", "pwd", "grp", "uvloop", "readline"):
    sys.modules[name] = None
del signal.SIGHUP, asyncio.open_unix_connection, asyncio.start_unix_server


def refuse(*arguments):
    raise NotImplementedError


asyncio.SelectorEventLoop.add_signal_handler = refuse
"""
CLIENT, SERVER = ("-m", "fairest_cli"), ("-m", "fairest_server")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of processes that find no Unix, nor do their children."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_UNIX)
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(tmp_path)}


@pytest.fixture
def tcp_redis_url() -> Iterator[str]:
    """Yield the URL of an engine that listens on a port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with redis_process("--port", str(port)):
        yield f"redis://127.0.0.1:{port}"


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments to its end, without a terminal."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=2 * START_SECONDS,
        stdin=subprocess.DEVNULL,
        env=environment,
    )


@pytest.mark.long
@parametrize_with_long("words", ["--help", "rules", "rules senior", "history"], quick=1)
def test_a_client_without_unix_does_what_needs_no_server(words: str, environment: dict[str, str]) -> None:
    done = run(environment, *CLIENT, *words.split())
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_client_without_unix_reads_a_record(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "record.jsonl").write_text("no record\n")
    done = run(environment, *CLIENT, "verify", str(tmp_path / "record.jsonl"))
    assert done.stdout.startswith("WRONG: ")


@pytest.mark.long
async def test_a_client_without_unix_opens_a_room_on_a_server_of_others(
    server_url: str, environment: dict[str, str]
) -> None:
    command = [sys.executable, *CLIENT, "create", "--plain", "--server", server_url]
    client = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, env=environment)
    assert client.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            while b"fairest join" not in (line := await client.stdout.readline()):
                assert line, "the client has ended"
    finally:
        client.kill()
        await client.communicate()


@pytest.mark.long
def test_the_full_screen_client_is_loaded_without_unix(environment: dict[str, str]) -> None:
    script = "import fairest_cli.tui.app, fairest_cli.tui.terminal as terminal; print(terminal.is_terminal_gone())"
    assert run(environment, "-c", script).stdout == "False\n"


@pytest.mark.long
@parametrize_with_long(
    "command", [(*CLIENT, "play", "--plain"), (*SERVER, "--port", "0")], quick=1, ids=("a race", "a server")
)
def test_a_system_without_unix_sockets_is_told_in_a_sentence_what_it_can_do(
    command: tuple[str, ...], environment: dict[str, str]
) -> None:
    done = run(environment, *command)
    assert done.returncode != 0
    (line,) = done.stderr.strip().splitlines()
    assert "needs Unix sockets" in line and "--server" in line and "--redis-url" in line


@pytest.mark.long
def test_several_workers_without_unix_are_refused_in_a_sentence(environment: dict[str, str]) -> None:
    done = run(environment, *SERVER, "--workers", "2", "--redis-url", "redis://127.0.0.1:1")
    (line,) = done.stderr.splitlines()
    assert line.startswith("fairest-server: --workers needs a Unix; ")


@pytest.mark.long
async def test_a_server_without_unix_serves_on_a_redis_of_others(
    tcp_redis_url: str, environment: dict[str, str]
) -> None:
    command = [sys.executable, *SERVER, "--port", "0", "--redis-url", tcp_redis_url]
    server = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL, env=environment)
    assert server.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            assert (await server.stdout.readline()).startswith(b"ws://127.0.0.1:")
        server.terminate()
        async with asyncio.timeout(START_SECONDS):
            assert await server.wait() == 0
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()
