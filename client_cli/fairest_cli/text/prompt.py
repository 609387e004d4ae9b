"""The prompt of the text client on a terminal: a line that can be edited, below everything that is printed."""

import asyncio
import io
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

PROMPT: Final = "> "


class Interrupted(BaseException):
    """Ctrl-C was typed at the prompt."""


class Prompt:
    """A prompt with a history and the usual keys.

    Ctrl-C ends the program as elsewhere, Ctrl-D on an empty line ends the input, Ctrl-Z suspends. What is
    printed within `printing` while somebody types goes above the prompt, and the typed text stays as it is.
    """

    def __init__(self) -> None:
        self._session: PromptSession[str] = PromptSession(
            PROMPT, enable_suspend=True, interrupt_exception=Interrupted, output=_output()
        )

    async def lines(self) -> AsyncIterator[str]:
        """Yield the typed lines until Ctrl-D. Cancelling it restores the terminal."""
        while True:
            try:
                line = await self._session.prompt_async(handle_sigint=False)
            except EOFError:
                return
            except Interrupted:
                # The program ends as it does by a signal from elsewhere, which cancels this task as well.
                signal.raise_signal(signal.SIGINT)
                await asyncio.Event().wait()
                return
            yield line.strip()

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Print all that goes to standard output above the prompt, or as always while there is none."""
        above = _AbovePrompt(self._session)
        try:
            with redirect_stdout(above):
                yield
        finally:
            above.write_now()


class _AbovePrompt(io.StringIO):
    """Gathers what is printed, and writes it above the prompt as soon as the event loop goes on."""

    def __init__(self, session: PromptSession[str]) -> None:
        super().__init__()
        self._session = session
        self._stdout = sys.stdout
        self._waiting: list[str] = []
        self._writing: asyncio.Task[None] | None = None

    def write(self, text: str) -> int:
        """Write `text` at once if there is no prompt, else as soon as it has made room."""
        self._waiting.append(text)
        if not self._session.app.is_running:
            self.write_now()
        elif self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_above())
        return len(text)

    def write_now(self) -> None:
        """Write what has waited, so that no line is lost when the prompt ends first."""
        text = "".join(self._waiting)
        self._waiting.clear()
        self._stdout.write(text)
        self._stdout.flush()

    async def _write_above(self) -> None:
        async with in_terminal():
            self.write_now()


def _output() -> Output:
    output = create_output()
    if isinstance(output, Vt100_Output):
        # A prompt of one line needs no answer about the cursor's position, and not every terminal gives one.
        output.enable_cpr = False
    return output
