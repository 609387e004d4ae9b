"""Writes a crash file for an error that nothing caught; for this, it overrides a private method of Textual.

Names of Textual that are not public, why each is used, and what breaks without it:

- `App._handle_exception(error)`: Textual calls it with each exception that escapes a message handler, a timer or a
  worker. Textual's own version prints a traceback with the values of local variables, and tokens are among them; the
  override puts a file without values in its place. If Textual calls another method instead, then that traceback is on
  the terminal again and no file is written. Textual has no public hook for this.

The override hands Textual's version an exception with a `__rich__` method. Textual sends such an exception to its
public `App.panic`, in place of a traceback, and ends the program. tests/drivers/test_textual_driver.py asserts all of
this on the installed version; pyproject.toml pins Textual to the minor version that was tried.
"""

import os
import time
import traceback
from pathlib import Path
from typing import Final

from rich.console import Group
from textual.app import App
from textual.worker import WorkerFailed

from fairest_cli.untrusted_text import clean

PRIVATE_NAMES: Final = ("_handle_exception",)
"""The private names of Textual that this file overrides. No other file of the program may use any."""


class Crash(Exception):
    """Stands for an uncaught error (its `__cause__`) when Textual ends the program."""

    def __rich__(self) -> Group:
        """Return an empty renderable: Textual would crop the sentence about the crash to the terminal's width."""
        return Group()


class CrashReportingApp(App[None]):
    """An app that writes the traceback of an uncaught error to a file and keeps a sentence about it for the end."""

    def __init__(self, crash_folder: Path) -> None:
        super().__init__()
        self.last_words: list[str] = []
        """Lines for stderr, to be printed once the terminal is restored."""
        self._crash_folder = crash_folder
        self._has_crashed = False

    def _handle_exception(self, error: Exception) -> None:
        """End the program with exit code 1. Only the first error is reported: others follow from it."""
        if self._has_crashed:
            return
        self._has_crashed = True
        # Textual wraps the error of a worker without chaining it, so the wrapper has no traceback of its own.
        fault = error.error if isinstance(error, WorkerFailed) else error
        self.last_words.append(save_traceback(fault, self._crash_folder))
        crash = Crash(str(fault))
        crash.__cause__ = fault
        super()._handle_exception(crash)


def save_traceback(error: BaseException, folder: Path) -> str:
    """Write the traceback of `error` to a new file that only its user can read; return a sentence that names it.

    If the file cannot be written, the sentence says so.
    """
    summary = clean(f"{type(error).__name__}: {error}")[:200]
    path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            # Without the values of variables: among them are tokens.
            file.write("".join(traceback.format_exception(error)))
    except OSError as reason:
        why = reason.strerror
        return f"fairest: the program failed ({summary}), and {clean(str(path))} could not be written: {why}"
    return f"fairest: the program failed ({summary}). The traceback is in {path}"
