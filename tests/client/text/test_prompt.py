"""The prompt of the text client in a real terminal: what arrives never writes into what is being typed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from fairest_cli.exit_codes import INTERRUPTED
from fairest_protocol.messages.from_client import Join
from fairest_protocol.messages.options import RoomOptions
from tests.support.long_tests import parametrize_with_long
from tests.support.processes import CLIENT_COMMAND
from tests.support.real_terminal import RealTerminal, shell_on_terminal
from tests.support.wire_client import WireClient, open_client

CALM = RoomOptions(countdown_seconds=0, limit_seconds=7200)


def in_thread(test: Callable[..., None]) -> Callable[..., Awaitable[None]]:
    """Run a test that waits for a terminal in a thread, while the server of the tests goes on in the event loop."""

    @wraps(test)
    async def run(*arguments: Any, **named: Any) -> None:
        await asyncio.to_thread(test, *arguments, **named)

    return run


@contextmanager
def player_at(url: str, home: Path, kind: str = "xterm-256color") -> Iterator[RealTerminal]:
    player = RealTerminal(home, [*CLIENT_COMMAND, "create", "--plain", "--countdown", "0", "--server", url], kind)
    try:
        yield player
    finally:
        player.close()


def room_code(player: RealTerminal) -> str:
    """Return the code of the room that the player has opened, from the screen."""
    player.sees("Waiting for the other player", "fairest join")
    line = next(line for line in player.lines if "fairest join" in line)
    return line.split()[2]


@asynccontextmanager
async def racing(url: str, player: RealTerminal) -> AsyncIterator[WireClient]:
    """Bring the player into a race against a rival on the wire."""
    code = await asyncio.to_thread(room_code, player)
    async with open_client(url) as rival:
        await rival.enter(Join(room=code))
        await asyncio.to_thread(player.sees, "Press Enter when you are ready")
        player.type(b"\r")
        await rival.take_part_in_deal()
        await asyncio.to_thread(player.sees, "Turned: ")
        yield rival


async def test_what_arrives_is_printed_above_what_is_being_typed(server_url: str, tmp_path: Path) -> None:
    with player_at(server_url, tmp_path) as player:
        async with racing(server_url, player) as rival:
            player.type(b"wan")
            await asyncio.to_thread(player.sees, "> wan")
            await rival.play("stop")
            await asyncio.to_thread(player.sees, "has stopped")
            await asyncio.to_thread(player.read_until, lambda _: player.cursor_line == "> wan")
            player.type(b"ted\r")
            await asyncio.to_thread(player.sees, "1 wants ")


@pytest.mark.long
@in_thread
def test_a_line_can_be_edited_and_called_back(server_url: str, tmp_path: Path) -> None:
    with player_at(server_url, tmp_path) as player:
        player.sees("Waiting for")
        player.type(b"tme\x1b[D\x1b[Di\r")
        player.sees("There is no time limit right now.")
        # Between two prompts the terminal echoes what is typed by itself.
        player.read_until(lambda _: player.cursor_line.strip() == ">")
        player.type(b"\x1b[A")
        player.read_until(lambda _: player.cursor_line == "> time")


def _type_ctrl_c(player: RealTerminal) -> None:
    player.type(b"\x03")


def _send_sigint(player: RealTerminal) -> None:
    player.process.send_signal(signal.SIGINT)


@parametrize_with_long("interrupt", [_type_ctrl_c, _send_sigint], quick=1)
@in_thread
def test_ctrl_c_ends_the_program_and_the_seat_waits(
    server_url: str, tmp_path: Path, interrupt: Callable[[RealTerminal], None]
) -> None:
    with player_at(server_url, tmp_path) as player:
        player.sees("Waiting for", "\n>")
        interrupt(player)
        assert player.wait() == INTERRUPTED
        player.sees("Your seat waits 60 seconds", "fairest join")
        assert player.is_restored


@pytest.mark.long
@in_thread
def test_ctrl_d_ends_the_input_and_the_seat_waits(server_url: str, tmp_path: Path) -> None:
    with player_at(server_url, tmp_path) as player:
        player.sees("Waiting for", "\n>")
        player.type(b"\x04")
        assert player.wait() == 0
        player.sees("Your seat waits 60 seconds")


@in_thread
def test_ctrl_z_suspends_the_program_and_fg_brings_it_back(server_url: str, tmp_path: Path) -> None:
    shell = shell_on_terminal(tmp_path)
    try:
        shell.sees("shell:")
        shell.type(f"$client create --plain --server {server_url}\r".encode())
        shell.sees("Waiting for", "\n>")
        shell.type(b"ti\x1a")
        shell.read_until(lambda _: shell.cursor_line == "shell:")
        shell.type(b"fg\r")
        shell.read_until(lambda _: shell.cursor_line == "> ti")
        shell.type(b"me\r")
        shell.sees("There is no time limit right now.")
    finally:
        shell.close()


@pytest.mark.long
@in_thread
def test_a_terminal_that_cannot_draw_has_no_prompt(server_url: str, tmp_path: Path) -> None:
    with player_at(server_url, tmp_path, "dumb") as player:
        player.sees("Waiting for")
        player.type(b"time\n")
        player.sees("There is no time limit right now.")
        assert b"\x1b" not in player.written and b"> " not in player.written
