"""The analysis of a match: computed in a process of its own while the page shows how far it is."""

from contextlib import aclosing
from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from fairest_cli.text.analysis_process import AnalysisFailed, analyse_in_process
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.board.winning_line_timeline import winning_line_timeline
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.solution import SolutionScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import Record

EDGE_COLUMNS: Final = 3
"""The columns of the scroll bar and of a blank."""
UNDERWAY: Final = (
    "From each position of the race, a simple player finishes sampled games. That gives the chance to win after each "
    "move, and the moves that cost most of it. It takes some seconds for each round and player."
)
NO_SOLUTION = "No line that wins is known for this match."


class AnalysisScreen(FairestScreen):
    """Shows the analysis when it is done; leaving before gives it up and ends its process."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("s", "show_solution", "Step through a line that wins"),
    ]

    def __init__(self, record: Record) -> None:
        super().__init__()
        self._record = record
        self._lines: list[str] = []
        self._state = ""
        self._is_underway = True

    def compose_body(self) -> ComposeResult:
        """Yield the heading, the page, which scrolls, and the keys with the progress."""
        yield TextLines(Text(" Analysis", f"bold {GOLD}"), id="heading")
        with VerticalScroll(id="analysis"):
            yield TextLines(id="analysis-text")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Begin the analysis. Its worker, and with it the process, ends with the screen."""
        self.query_one(VerticalScroll).focus()
        self._show_state("0 % analysed")
        self.run_in_background(self._analyse)

    async def _analyse(self) -> None:
        state = ""
        try:
            async with aclosing(analyse_in_process(self._record)) as items:
                async for item in items:
                    if isinstance(item, int):
                        self._show_state(f"{item} % analysed")
                    else:
                        self._lines.append(clean(item))
        except (AnalysisFailed, OSError) as reason:
            state = f"The analysis failed: {clean(str(reason))}"
        self._is_underway = False
        self._show_state(state)

    def draw(self) -> None:
        """Redraw the analysis for the width, and the keys."""
        if not self.is_mounted:
            return
        page, width = self.query_one("#analysis-text", TextLines), max(20, self.size.width - EDGE_COLUMNS)
        rows = [Text(row, no_wrap=True) for line in self._lines for row in _wrapped(line, width)]
        if self._is_underway:
            rows = [Text(f" {row}", QUIET) for row in ("", *wrap(UNDERWAY, width - 1))]
        page.styles.height = len(rows)
        page.update(rows)
        wordings = (
            (("Up Down", "scroll"), ("s", "a line that wins"), ("Esc", "back")),
            (("s", "winning line"), ("Esc", "")),
        )
        lines = [Text.assemble(key_line(keys), (f"  {self._state}", QUIET)) for keys in wordings]
        fits = [line for line in lines if line.cell_len <= self.size.width]
        self.query_one("#key-line", TextLines).update((fits or lines[-1:])[0])

    def _show_state(self, state: str) -> None:
        self._state = state
        self.draw()

    def action_show_solution(self) -> None:
        """Step through a line that wins the first deal of the match; say so if none is known."""
        self.run_in_background(self._show_solution, exclusive=True, group="solution")

    async def _show_solution(self) -> None:
        timeline = await winning_line_timeline(self._record)
        if timeline is None:
            self._show_state(NO_SOLUTION)
        else:
            self.app.push_screen(SolutionScreen(timeline))

    def action_close(self) -> None:
        """Return to the screen below, and give the analysis up if it is not done."""
        self.dismiss()


def _wrapped(line: str, columns: int) -> list[str]:
    """Return a line in rows of at most `columns` columns, the later ones indented as the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    rows = wrap(line, columns, subsequent_indent=indent, break_on_hyphens=False, replace_whitespace=False)
    return [line] if len(line) <= columns else rows
