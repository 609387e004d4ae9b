"""The replay of a match from its record, moment by moment."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.text.replay import describe_record
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.screens.analysis import AnalysisScreen
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TimelineView
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import Record

HINT_COLUMNS: Final = 100
"""Columns from which the heading has room for the key of the analysis."""


class ReplayScreen(FairestScreen):
    """Shows both boards of a match; the keys of `TimelineView` play, step, seek and change the speed."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("a", "analyse", "Analysis"),
    ]

    def __init__(self, record: Record, timeline: Timeline) -> None:
        super().__init__()
        self._record = record
        self._timeline = timeline

    def compose_body(self) -> ComposeResult:
        """Yield the rules of the match and its timeline."""
        *_, rules = describe_record(self._record)
        hint = "   (a: analysis)" if self.app.size.width >= HINT_COLUMNS else ""
        yield TextLines(Text(f" Replay: {rules}{hint}", QUIET, no_wrap=True), id="heading")
        first, second = (clean(name) for name in self._record.names)
        yield TimelineView(self._timeline, (first, second), self.card_style)

    def action_analyse(self) -> None:
        """Analyse the match."""
        self.app.push_screen(AnalysisScreen(self._record))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
