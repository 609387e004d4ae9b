"""The full-screen client on a real terminal: hostile text is harmless there, and every exit restores the terminal."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.client.test_hostile_text import (
    ROOM,
    SEEN,
    Arguments,
    Script,
    closes_with_a_steering_reason,
    lobby_of,
    output_against,
    output_against_bytes,
    refuses_hello,
    refuses_with_a_long_sentence,
    sends_a_hostile_option,
    sends_steering_sentences,
)
from tests.support.long_tests import parametrize_with_long
from tests.support.ports import free_port
from tests.support.processes import CLIENT_COMMAND
from tests.support.real_terminal import PATIENCE_SECONDS, RealTerminal, on_terminal

CONTROL_SEQUENCES = (
    *(b"\x1b]8;", b"\x1b]52;", b"\x1bP1$r0m", b"\x1b]0;title", b"\x1bc", b"FORGED\n"),
    *(letter.encode() for letter in "\x90\x9b\x9c\x9d\x85\u2028\u202e\u2066\u200b\ufeff"),
)
"""Sequences that the hostile servers of the tests send and that the program itself never writes."""
FAILING = """
import sys
from fairest_cli.tui.app import FairestApp, run_until_done
import asyncio
class Failing(FairestApp):
    async def on_mount(self):
        await super().on_mount()
        self.call_later(lambda: 1 / 0)
from fairest_cli.tui.launch import AtHome
app = Failing(AtHome())
asyncio.run(run_until_done(app))
print(*app.last_words, sep="\\n", file=sys.stderr)
raise SystemExit(app.return_code)
"""


@pytest.mark.long
@parametrize_with_long(
    ("options", "kind"),
    [(("--plain",), "xterm-256color"), ((), "dumb"), ((), "")],
    quick=1,
    ids=("--plain", "dumb", "no TERM"),
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
    return b"Race a bot" in written


@pytest.mark.long
@parametrize_with_long(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], quick=1, ids=("SIGTERM", "SIGHUP")
)
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


@parametrize_with_long("keys", [b"q", b"\x11", b"\x03"], quick=1, ids=("q", "Ctrl+Q", "Ctrl+C"))
def test_quitting_leaves_the_terminal_as_it_was(tmp_path: Path, keys: bytes) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.type(keys)
        assert terminal.wait() == 0
        assert terminal.is_restored
    finally:
        terminal.close()


@pytest.mark.long
def test_the_program_ends_when_its_terminal_disappears(tmp_path: Path) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE_SECONDS) == 129
    finally:
        terminal.close()


@pytest.mark.long
def test_a_program_that_is_stopped_while_its_terminal_disappears_ends_when_it_goes_on(tmp_path: Path) -> None:
    terminal = on_terminal(tmp_path)
    try:
        terminal.read_until(is_home)
        terminal.process.send_signal(signal.SIGSTOP)
        terminal.hang_up()
        terminal.process.send_signal(signal.SIGCONT)
        assert terminal.process.wait(PATIENCE_SECONDS) == 129
    finally:
        terminal.close()


@pytest.mark.long
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
        terminal.type(b"\x03\x03" if "--plain" in arguments else b"\x11\x11")
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
        (sends_steering_sentences, ("join", ROOM, "--plain")),
    ],
    ids=lambda value: getattr(value, "__name__", " ".join(value) if isinstance(value, tuple) else ""),
)
@pytest.mark.long
async def test_the_text_of_a_hostile_server_controls_no_terminal(
    tmp_path: Path, script: Script, arguments: Arguments
) -> None:
    written = await output_against(script, lambda url: asyncio.to_thread(_meet_on_terminal, tmp_path, url, arguments))
    assert [sequence for sequence in (*CONTROL_SEQUENCES, b"Traceback") if sequence in written] == []


@pytest.mark.long
async def test_a_hostile_lobby_controls_no_terminal(tmp_path: Path) -> None:
    hostile = f"{SEEN}[@click=app.exit]x[/][bold]"
    written = await output_against_bytes(
        lobby_of(rules=hostile),
        lambda url: asyncio.to_thread(_meet_on_terminal, tmp_path, url, ("lobby",)),
    )
    assert [sequence for sequence in (*CONTROL_SEQUENCES, b"Traceback") if sequence in written] == []
    assert b"OWNED[@click=app.exit]" in written
