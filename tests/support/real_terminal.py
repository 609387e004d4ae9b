"""A process on a pseudo-terminal, with everything that it has written there and the screen that this makes."""

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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from tests.support.processes import CLIENT_COMMAND

PATIENCE_SECONDS = 20.0
IN_SHELL = "import fcntl, os, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp('sh', ['sh', '-i'])"
"""Python code that becomes a shell with job control, for which the terminal must be that of its session."""


class RealTerminal:
    """A process on a pseudo-terminal of 80 columns and 24 lines, unless it gets another size."""

    def __init__(
        self,
        home: Path,
        command: Sequence[str],
        kind: str = "xterm-256color",
        *,
        size: tuple[int, int] = (80, 24),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is added to that of the tests; `size` is in columns and lines."""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.mode = termios.tcgetattr(theirs)
        self._theirs = theirs
        self._is_gone = False
        skip_tutorial(home)
        folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "STATE")}
        # A worker of pytest-xdist names the size of its own terminal, which programs believe before they ask theirs.
        inherited = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
        base = {**inherited, "HOME": str(home), "PYTHONPATH": str(Path.cwd()), "TERM": kind, **folders}
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**base, **(environment or {})},
            start_new_session=True,
        )
        self.written = bytearray()
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without blanks at their ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def cursor_line(self) -> str:
        """The line of the screen in which the cursor is."""
        return self.lines[self._screen.cursor.y]

    def read_until(self, condition: Callable[[bytes], object]) -> None:
        """Read until `condition` holds for the output; fail after `PATIENCE_SECONDS`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition(self.read()):
            assert time.monotonic() < deadline, bytes(self.written[-2_000:]).decode(errors="replace")

    def sees(self, *texts: str) -> None:
        """Read until all `texts` are on the screen."""
        try:
            self.read_until(lambda _: all(text in "\n".join(self.lines) for text in texts))
        except AssertionError as reason:
            raise AssertionError(f"{texts} are not on the screen:\n" + "\n".join(self.lines)) from reason

    def read_more(self) -> None:
        """Read until something more was written."""
        before = len(self.written)
        self.read_until(lambda written: len(written) > before)

    def read(self) -> bytes:
        if select.select([self._ours], [], [], 0.02)[0]:
            chunk = os.read(self._ours, 65_536)
            self.written += chunk
            self._stream.feed(chunk)
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
        return self.is_left and self._mode_now() == self.mode

    @property
    def is_left(self) -> bool:
        """Whether the former screen and its cursor are back, and the mouse is released."""
        text = bytes(self.written)
        modes = [(b"\x1b[?1049l", b"\x1b[?1049h"), (b"\x1b[?25h", b"\x1b[?25l"), (b"\x1b[?1003l", b"\x1b[?1003h")]
        return all(text.rfind(off) >= text.rfind(on) for off, on in modes)

    def _mode_now(self) -> object:
        return termios.tcgetattr(self._theirs)

    def hang_up(self) -> None:
        """Close the terminal without a signal to the process."""
        os.close(self._theirs)
        os.close(self._ours)
        self._is_gone = True

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if not self._is_gone:
            self.hang_up()


def skip_tutorial(home: Path) -> None:
    """Write the settings of a player that has seen the tutorial, unless there are settings in `home`."""
    path = home / "config" / "fairest" / "settings.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"has_seen_tutorial": true}')


def on_terminal(home: Path, *arguments: str) -> RealTerminal:
    """Return the client on a terminal of its own."""
    return RealTerminal(home, [*CLIENT_COMMAND, *arguments])


def shell_on_terminal(home: Path) -> RealTerminal:
    """Return a shell with job control on a terminal of its own; `client` in its environment starts the client."""
    return RealTerminal(
        home, [sys.executable, "-c", IN_SHELL], environment={"client": " ".join(CLIENT_COMMAND), "PS1": "shell: "}
    )
