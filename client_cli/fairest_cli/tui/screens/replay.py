"""The record of a match, moment by moment."""

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.text.board_text import clean
from fairest_cli.text.replay import draw_heading
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import Reel
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import Picture
from fairest_cli.tui.widgets.timeline_view import Stage
from fairest_protocol.calculation.record import Record


class ReplayScreen(FairestScreen):
    """Play, pause, step, speed, seek."""

    NEEDS: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, record: Record, reel: Reel, path: Path | None = None) -> None:
        super().__init__()
        self._record = record
        self._reel = reel
        self._path = path

    def parts(self) -> ComposeResult:
        """A heading and the stage."""
        *_, rules = draw_heading(self._record)
        yield Picture(Text(f" Replay: {rules}", QUIET, no_wrap=True), id="heading")
        first, second = (clean(name) for name in self._record.names)
        yield Stage(self._reel, (first, second), self.deck)

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.dismiss()
