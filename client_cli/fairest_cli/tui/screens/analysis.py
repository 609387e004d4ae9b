"""The analysis of a match: computed in a process of its own while the page shows how far it is."""

from contextlib import aclosing
from typing import ClassVar

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

NO_SOLUTION = "No line that wins is known for this match."


class AnalysisScreen(FairestScreen):
    """Shows the analysis when it is done; leaving before gives it up and ends its process."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("s", "show_solution", "Step through a line that wins"),
    ]

    def __init__(self, record: Record) -> None:
        super().__init__()
        self._record = record
        self._lines: list[Text] = []

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
        self.run_worker(self._analyse())

    async def _analyse(self) -> None:
        state = ""
        try:
            async with aclosing(analyse_in_process(self._record)) as items:
                async for item in items:
                    if isinstance(item, int):
                        self._show_state(f"{item} % analysed")
                    else:
                        self._lines.append(Text(clean(item), no_wrap=True))
        except (AnalysisFailed, OSError) as reason:
            state = f"The analysis failed: {clean(str(reason))}"
        page = self.query_one("#analysis-text", TextLines)
        page.styles.height = len(self._lines)
        page.update(self._lines)
        self._show_state(state)

    def _show_state(self, state: str) -> None:
        keys = key_line((("Up Down", "scroll"), ("s", "a line that wins"), ("Esc", "back")))
        self.query_one("#key-line", TextLines).update(Text.assemble(keys, (f"  {state}", QUIET)))

    def action_show_solution(self) -> None:
        """Step through a line that wins the first deal of the match; say so if none is known."""
        self.run_worker(self._show_solution(), exclusive=True, group="solution")

    async def _show_solution(self) -> None:
        timeline = await winning_line_timeline(self._record)
        if timeline is None:
            self._show_state(NO_SOLUTION)
        else:
            self.app.push_screen(SolutionScreen(timeline))

    def action_close(self) -> None:
        """Return to the screen below, and give the analysis up if it is not done."""
        self.dismiss()
