"""The full screen on real terminals: it suspends and comes back, and draws only what the terminal can show."""

import asyncio
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairest_protocol.messages.from_client import Create
from tests.client.tui.test_full_screen import CALM
from tests.support.processes import CLIENT_COMMAND, Fleet
from tests.support.real_terminal import RealTerminal, shell_on_terminal
from tests.support.wire_client import open_client

WITHOUT_UTF8 = [
    {"LC_ALL": "C"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "", "LC_CTYPE": "", "LANG": "en_US.ISO-8859-1", "PYTHONIOENCODING": ""},
]
GREYS = range(232, 256)
"""The greys among the 256 colours of a terminal."""
TALL_LINES = 40
"""Lines of a terminal on which home shows its cards."""
UTF8 = {"LC_ALL": "C.UTF-8"}


@contextmanager
def client(home: Path, *arguments: str, kind: str = "xterm-256color", **environment: str) -> Iterator[RealTerminal]:
    player = RealTerminal(home, [*CLIENT_COMMAND, *arguments], kind, size=(80, TALL_LINES), environment=environment)
    try:
        yield player
    finally:
        player.close()


async def test_ctrl_z_suspends_a_race_which_goes_on_after_fg(server_url: str, tmp_path: Path) -> None:
    shell = shell_on_terminal(tmp_path)
    try:
        async with open_client(server_url, name="rival") as rival:
            shown = await rival.enter(Create(options=CALM))
            await asyncio.to_thread(shell.sees, "shell:")
            shell.type(f"$client join {shown.room} --server {server_url}\r".encode())
            await asyncio.to_thread(shell.sees, "Press Enter when you are ready")
            shell.type(b"\r")
            await rival.take_part_in_deal()
            await asyncio.to_thread(shell.sees, "Esc menu")
            shell.type(b"\x1a")
            await asyncio.to_thread(shell.read_until, lambda written: written.endswith(b"shell: "))
            assert shell.is_left
            await rival.play("stop")
            shell.type(b"fg\r")
            await asyncio.to_thread(shell.sees, "Esc menu", "has stopped")
            shell.type(b"a")
            await asyncio.to_thread(shell.sees, "on pile a")
    finally:
        shell.close()


@pytest.mark.long
async def test_a_client_that_stood_still_is_back_in_its_race_and_says_for_how_long(
    fleet: Fleet, tmp_path: Path
) -> None:
    """As on a machine that sleeps: the server gives the connection up while the client cannot notice."""
    url = await fleet.start("--heartbeat-seconds", "1")
    async with open_client(url, name="rival") as rival:
        shown = await rival.enter(Create(options=CALM))
        with client(tmp_path, "join", shown.room, "--server", url) as player:
            await asyncio.to_thread(player.sees, "Press Enter when you are ready")
            player.type(b"\r")
            await rival.take_part_in_deal()
            await asyncio.to_thread(player.sees, "Esc menu")
            player.process.send_signal(signal.SIGSTOP)
            await rival.receive_until(lambda scene: scene.seats[1].until_ms is not None)
            player.process.send_signal(signal.SIGCONT)
            await rival.receive_until(lambda scene: scene.seats[1].until_ms is None)
            await asyncio.to_thread(player.sees, "You were away for")
            player.type(b"a")
            await asyncio.to_thread(player.sees, "on pile a")


@pytest.mark.long
@pytest.mark.parametrize("environment", WITHOUT_UTF8, ids=lambda chosen: "".join(chosen.values()))
def test_a_terminal_without_utf8_gets_ascii(tmp_path: Path, environment: dict[str, str]) -> None:
    with client(tmp_path, **environment) as player:
        player.sees("Quit", "AS", "2H", "3C", "4D")
        assert player.written.isascii() and b"\\u" not in player.written


@pytest.mark.long
def test_a_form_on_a_terminal_without_utf8_is_framed_in_ascii(tmp_path: Path) -> None:
    with client(tmp_path, LC_ALL="C") as player:
        player.sees("Quit")
        player.type(b"c")
        player.sees("Open the room", "+---")
        assert player.written.isascii()


@pytest.mark.long
def test_a_terminal_with_utf8_gets_suits(tmp_path: Path) -> None:
    with client(tmp_path, **UTF8) as player:
        player.sees("Quit", "A♠", "2♥")


@pytest.mark.long
def test_no_color_is_obeyed(tmp_path: Path) -> None:
    with client(tmp_path, NO_COLOR="1", **UTF8) as player:
        player.sees("Quit")
        numbers = {int(number) for number in re.findall(rb"[34]8;5;(\d+)[;m]", player.written)}
        assert numbers and all(number in GREYS for number in numbers)


@pytest.mark.long
def test_a_terminal_of_16_colours_is_given_no_others(tmp_path: Path) -> None:
    with client(tmp_path, kind="xterm", COLORTERM="", **UTF8) as player:
        player.sees("Quit")
        assert b"38;5;" not in player.written and b"38;2;" not in player.written


@pytest.mark.long
async def test_lines_are_ascii_too(server_url: str, tmp_path: Path) -> None:
    with client(tmp_path, "create", "--plain", "--server", server_url, LC_ALL="C") as player:
        await asyncio.to_thread(player.sees, "Waiting for")
        assert player.written.isascii()
