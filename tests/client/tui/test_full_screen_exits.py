"""The full-screen client on a real terminal: hostile text is harmless there, and every exit restores the terminal."""

import asyncio
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.test_hostile_text import (
    ROOM,
    SEEN,
    Arguments,
    Script,
    client_environment,
    closes_with_a_steering_reason,
    lobby_of,
    output_against,
    output_against_bytes,
    refuses_hello,
    refuses_with_a_long_sentence,
    sends_a_hostile_option,
    sends_steering_sentences,
)
from tests.support.ports import free_port
from tests.support.processes import CLIENT_COMMAND

PATIENCE_SECONDS = 20.0
CONTROL_SEQUENCES = (
    *(b"\x1b]8;", b"\x1b]52;", b"\x1bP1$r0m", b"\x1b]0;title", b"\x1bc", b"FORGED\n"),
    *(letter.encode() for letter in "\x90\x9b\x9c\x9d\x85\u2028\u202e\u2066\u200b\ufeff"),
)
"""Sequences that the hostile servers of the tests send and that the program itself never writes."""
FAILING = """
import sys
from fairest_cli.tui.app import FairestApp
import asyncio
class Failing(FairestApp):
    async def on_mount(self):
        await super().on_mount()
        self.call_later(lambda: 1 / 0)
from fairest_cli.tui.launch import AtHome
app = Failing(AtHome())
asyncio.run(app.run_until_done())
print(*app.last_words, sep="\\n", file=sys.stderr)
raise SystemExit(app.return_code)
"""


class RealTerminal:
    """A process on a pseudo-terminal, and everything that it has written there."""

    def __init__(self, home: Path, command: list[str], kind: str = "xterm-256color") -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.mode = termios.tcgetattr(theirs)
        self._theirs = theirs
        self._is_gone = False
        environment = {**client_environment(home), "TERM": kind}
        for name in ("CONFIG", "STATE"):
            environment[f"XDG_{name}_HOME"] = str(home / name.lower())
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        self.written = bytearray()

    def read_until(self, condition: Callable[[bytes], bool]) -> None:
        """Read until `condition` holds for the output; fail after `PATIENCE_SECONDS`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition(self.read()):
            assert time.monotonic() < deadline, bytes(self.written[-2_000:])

    def read(self) -> bytes:
        if select.select([self._ours], [], [], 0.02)[0]:
            self.written += os.read(self._ours, 65_536)
        return bytes(self.written)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def wait(self) -> int:
        """Wait for the process to end, read the rest of its output, and return its exit code."""
        self.read_until(lambda _: self.process.poll() is not None)
        self.read_until(lambda seen: len(self.read()) == len(seen))
        return self.process.wait()

    @property
    def is_restored(self) -> bool:
        """Whether the former screen and its cursor are back, the mouse is released, and keys are echoed."""
        text = bytes(self.written)
        modes = [(b"\x1b[?1049l", b"\x1b[?1049h"), (b"\x1b[?25h", b"\x1b[?25l"), (b"\x1b[?1003l", b"\x1b[?1003h")]
        return all(text.rfind(off) > text.rfind(on) for off, on in modes) and self._mode_now() == self.mode

    def _mode_now(self) -> object:
        return termios.tcgetattr(self._theirs)

    def hang_up(self) -> None:
        """Close the terminal without a signal to the process."""
        os.close(self._theirs)
        os.close(self._ours)
        self._is_gone = True

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not self._is_gone:
            self.hang_up()


def on_terminal(home: Path, *arguments: str) -> RealTerminal:
    return RealTerminal(home, [*CLIENT_COMMAND, *arguments])


@pytest.mark.parametrize(
    ("options", "kind"), [(("--plain",), "xterm-256color"), ((), "dumb"), ((), "")], ids=("--plain", "dumb", "no TERM")
)
def test_plain_lines_are_printed_on_request_and_in_terminals_that_know_nothing_else(
    tmp_path: Path, options: tuple[str, ...], kind: str
) -> None:
    command = [*CLIENT_COMMAND, "lobby", "--server", f"ws://127.0.0.1:{free_port()}", *options]
    terminal = RealTerminal(tmp_path, command, kind)
    try:
        assert terminal.wait() == 1
        assert b"No server answers" in terminal.written
        assert b"\x1b" not in terminal.written
    finally:
        terminal.close()


def is_home(written: bytes) -> bool:
    return b"Quit" in written


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=("SIGTERM", "SIGHUP"))
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.process.send_signal(number)
        assert terminal.wait() == code
        assert terminal.is_restored
        assert b"Traceback" not in terminal.written
    finally:
        terminal.close()


@pytest.mark.parametrize("keys", [b"q", b"\x11", b"\x03"], ids=("q", "Ctrl+Q", "Ctrl+C"))
def test_quitting_leaves_the_terminal_as_it_was(tmp_path: Path, keys: bytes) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.type(keys)
        assert terminal.wait() == 0
        assert terminal.is_restored
    finally:
        terminal.close()


def test_the_program_ends_when_its_terminal_disappears(tmp_path: Path) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE_SECONDS) == 129
    finally:
        terminal.close()


def test_an_uncaught_error_is_a_sentence_and_a_file(tmp_path: Path) -> None:
    terminal = RealTerminal(tmp_path, [sys.executable, "-c", FAILING])
    try:
        assert terminal.wait() == 1
        assert terminal.is_restored
        assert b"Traceback" not in terminal.written
        assert b"ZeroDivisionError: division by zero" in terminal.written
        (log,) = (tmp_path / "state" / "fairest").glob("crash-*.log")
        assert "ZeroDivisionError" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600
    finally:
        terminal.close()


def _meet_on_terminal(home: Path, url: str, arguments: Arguments) -> bytes:
    """Quit once the hostile text is on the screen; return everything that was written to the terminal."""
    terminal = on_terminal(home, *arguments, "--server", url)
    try:
        terminal.read_until(lambda written: SEEN.encode() in written)
        terminal.type(b"\x11")
        terminal.type(b"\x11")
        terminal.wait()
        assert terminal.is_restored
        return bytes(terminal.written)
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        (sends_steering_sentences, ("join", ROOM)),
        (refuses_hello, ("watch", ROOM)),
        (refuses_with_a_long_sentence, ("join", ROOM)),
        (closes_with_a_steering_reason, ("create",)),
        (sends_a_hostile_option, ("join", ROOM)),
    ],
    ids=lambda value: getattr(value, "__name__", " ".join(value) if isinstance(value, tuple) else ""),
)
@pytest.mark.long
async def test_the_text_of_a_hostile_server_controls_no_terminal(
    tmp_path: Path, script: Script, arguments: Arguments
) -> None:
    written = await output_against(script, lambda url: asyncio.to_thread(_meet_on_terminal, tmp_path, url, arguments))
    assert [sequence for sequence in (*CONTROL_SEQUENCES, b"Traceback") if sequence in written] == []


async def test_a_hostile_lobby_controls_no_terminal(tmp_path: Path) -> None:
    hostile = f"{SEEN}[@click=app.exit]x[/][bold]"
    written = await output_against_bytes(
        lobby_of(rules=hostile),
        lambda url: asyncio.to_thread(_meet_on_terminal, tmp_path, url, ("lobby",)),
    )
    assert [sequence for sequence in (*CONTROL_SEQUENCES, b"Traceback") if sequence in written] == []
    assert b"OWNED[@click=app.exit]" in written
