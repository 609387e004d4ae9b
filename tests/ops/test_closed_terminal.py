"""A terminal that is closed takes its server along, and everything that the server has started."""

import asyncio
import fcntl
import os
import pty
import re
import shutil
import signal
import sys
import tempfile
import termios
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from fairest_protocol.messages.from_client import Create, Leave, Watch
from fairest_protocol.messages.refusals import CloseCode
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import CLIENT_COMMAND, SERVER_COMMAND, START_SECONDS, STOP_SECONDS, Fleet
from tests.support.real_terminal import skip_tutorial
from tests.support.waiting import until
from tests.support.wire_client import WireClient, open_client

SHELL = ("sh", "-c", '"$@"; true', "sh")
"""Runs a command as a shell does: the shell leads the session, and the command is in the foreground."""


class Terminal:
    """A program on a terminal of its own, all of whose files are the terminal, as in a window or over ssh."""

    def __init__(self, process: asyncio.subprocess.Process, ours: int) -> None:
        self.process = process
        self._ours = ours
        self.shown = ""

    async def url(self) -> str:
        """Read what a server writes until its address is there; return the address."""
        async with asyncio.timeout(START_SECONDS):
            while (found := re.search(r"ws://[0-9.:]+(?=\s)", self.shown)) is None:
                self.shown += (await asyncio.to_thread(os.read, self._ours, 4096)).decode(errors="replace")
        return found[0]

    def close(self) -> None:
        """Close the terminal, as the window that shows it does."""
        os.close(self._ours)


@asynccontextmanager
async def on_a_terminal(*command: str) -> AsyncIterator[Terminal]:
    """Start a program as the leader of a session with a terminal of its own."""
    ours, theirs = pty.openpty()

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    process = await asyncio.create_subprocess_exec(
        *command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=own_terminal
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        with suppress(OSError):
            os.close(ours)
        if process.returncode is None:
            process.kill()
        await process.wait()


def users_of(folder: Path) -> list[str]:
    """Return the processes that work in this folder, as the engine does, or name it in their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            works_in, command = (process / "cwd").readlink(), (process / "cmdline").read_bytes()
            if works_in.is_relative_to(folder) or str(folder).encode() in command:
                found.append(process.name)
    return found


async def is_used(folder: Path) -> bool:
    return len(users_of(folder)) >= 2


async def everything_ends(folder: Path) -> None:
    async def is_gone() -> None:
        assert users_of(folder) == []

    await until(is_gone, "no process of the server is left")


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder for the embedded engine: the path of a socket is limited to about 100 bytes."""
    made = Path(tempfile.mkdtemp(prefix="fairest-")).resolve()
    yield made
    shutil.rmtree(made)


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.mark.long
@needs_proc
@parametrize_with_long("shell", [(), SHELL], quick=1, ids=("a window", "a shell"))
@parametrize_with_long("workers", ["1", "2"], quick=1)
async def test_a_server_and_its_engine_end_when_their_terminal_is_closed(
    short_folder: Path, shell: Sequence[str], workers: str
) -> None:
    options = ["--port", "0", "--data-dir", str(short_folder), "--workers", workers]
    async with on_a_terminal(*shell, *SERVER_COMMAND, *options) as terminal:
        await terminal.url()
        assert len(users_of(short_folder)) >= 2
        terminal.close()
        await everything_ends(short_folder)


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_an_engine_that_hangs_ends_when_the_terminal_of_its_server_is_closed(
    short_folder: Path, workers: str
) -> None:
    """The server gives up waiting for it, since a request of a player is under way."""
    options = ["--port", "0", "--data-dir", str(short_folder), "--workers", workers]
    async with on_a_terminal(*SERVER_COMMAND, *options) as terminal, open_client(await terminal.url()) as player:
        await player.enter(Create())
        for engine in users_of(short_folder):
            if (Path("/proc") / engine / "cwd").readlink() == short_folder:
                os.kill(int(engine), signal.SIGSTOP)
        await player.send(Leave())
        terminal.close()
        await everything_ends(short_folder)


@asynccontextmanager
async def server_and_player(redis_url: str) -> AsyncIterator[tuple[Terminal, WireClient]]:
    """The terminal of a server that runs on this Redis, and a client of that server."""
    async with (
        on_a_terminal(*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url) as terminal,
        open_client(await terminal.url()) as player,
    ):
        yield terminal, player


@pytest.mark.long
@needs_proc
async def test_players_of_a_closed_terminal_are_told_to_connect_elsewhere(redis_url: str) -> None:
    async with server_and_player(redis_url) as (terminal, player):
        await player.enter(Create())
        terminal.close()
        await player.socket.wait_closed()
        assert player.socket.close_code == CloseCode.RESTARTING


@pytest.mark.long
@needs_proc
async def test_a_server_whose_terminal_is_closed_ends_without_an_error(redis_url: str) -> None:
    async with server_and_player(redis_url) as (terminal, player):
        await player.enter(Create())
        terminal.close()
        async with asyncio.timeout(STOP_SECONDS):
            assert await terminal.process.wait() == 0


@pytest.mark.long
@needs_proc
async def test_the_seats_of_a_server_whose_terminal_is_closed_are_detached(redis_url: str, fleet: Fleet) -> None:
    async with server_and_player(redis_url) as (terminal, player):
        room = (await player.enter(Create())).room
        terminal.close()
        async with asyncio.timeout(STOP_SECONDS):
            await terminal.process.wait()
    async with open_client(await fleet.start()) as spectator:
        assert not (await spectator.enter(Watch(room=room))).scene.seats[0].is_connected


@pytest.mark.long
@needs_proc
@parametrize_with_long("options", [["--plain"], []], quick=1, ids=("lines of text", "full screen"))
async def test_a_local_server_ends_when_the_terminal_of_its_client_is_closed(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("TMPDIR", str(short_folder))
    monkeypatch.setenv("HOME", str(short_folder))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(short_folder / "config"))
    skip_tutorial(short_folder)
    async with on_a_terminal(*CLIENT_COMMAND, "play", *options) as terminal:
        await until(lambda: is_used(short_folder), "the local server and its engine run")
        terminal.close()
        await everything_ends(short_folder)
