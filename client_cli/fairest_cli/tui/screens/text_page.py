"""A page of lines that scrolls: what a command prints, word for word, while it is made."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean

PROBLEM_STYLE = "bold #ff8a70"
PROBLEM_WORDS = ("WRONG", "FAULT")
"""Lines that begin with these stand out."""
Lines = Callable[[], AsyncGenerator[str, None]]


class TextPage(FairestScreen):
    """Shows lines below a heading as they come. Text that is wider than the terminal wraps."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, heading: str, make_lines: Lines) -> None:
        """`make_lines` returns the lines; it begins when the page opens, and is cancelled when the page is closed."""
        super().__init__()
        self._heading = heading
        self._make_lines = make_lines
        self._lines: list[str] = []

    def compose_body(self) -> ComposeResult:
        """Yield the heading, the lines, and the keys."""
        yield TextLines(Text(f" {self._heading}", f"bold {GOLD}", no_wrap=True), id="heading")
        with VerticalScroll(id="page"):
            yield Paragraph(id="page-text")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Take the keyboard for scrolling, and begin to make the lines."""
        self.query_one(VerticalScroll).focus()
        self._show_state("reading ...")
        self.run_in_background(self._read)

    async def _read(self) -> None:
        # Closed with the page: what makes the lines may have a process to end.
        async with aclosing(self._make_lines()) as lines:
            async for line in lines:
                self._lines.append(line)
                page = self.query_one("#page-text", Paragraph)
                page.update([_styled(each) for each in self._lines])
                # The page is as high as its text.
                page.refresh(layout=True)
        self._show_state("")

    def _show_state(self, state: str) -> None:
        keys = key_line((("Up Down", "scroll"), ("Esc", "back")))
        self.query_one("#key-line", TextLines).update(Text.assemble(keys, (f"  {state}", QUIET)))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


async def made_in_thread(make_lines: Callable[[], list[str]]) -> AsyncGenerator[str, None]:
    """Yield the lines that `make_lines` returns, which may block: it runs in a thread."""
    for line in await asyncio.to_thread(make_lines):
        yield line


def _styled(line: str) -> Text:
    return Text(clean(line), PROBLEM_STYLE if line.startswith(PROBLEM_WORDS) else "")
