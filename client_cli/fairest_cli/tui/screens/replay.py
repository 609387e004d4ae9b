"""The record of a match, moment by moment."""

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.text.replay import describe_record
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TimelineView
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import Record


class ReplayScreen(FairestScreen):
    """Play, pause, step, speed, seek."""

    NEEDS: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, record: Record, timeline: Timeline, path: Path | None = None) -> None:
        super().__init__()
        self._record = record
        self._reel = timeline
        self._path = path

    def parts(self) -> ComposeResult:
        """A heading and the stage."""
        *_, rules = describe_record(self._record)
        yield TextLines(Text(f" Replay: {rules}", QUIET, no_wrap=True), id="heading")
        first, second = (clean(name) for name in self._record.names)
        yield TimelineView(self._reel, (first, second), self.card_style)

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.dismiss()
