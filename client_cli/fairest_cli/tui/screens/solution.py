"""A line that wins a deal, move by move."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TimelineView


class SolutionScreen(FairestScreen):
    """Shows the board of the line; the keys of `TimelineView` play, step, seek and change the speed."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline

    def compose_body(self) -> ComposeResult:
        """Yield a heading and the timeline; there is no second board."""
        yield TextLines(Text(" A line that wins, knowing the order of the stock", QUIET, no_wrap=True), id="heading")
        yield TimelineView(self._timeline, ("the line",), self.card_style)

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
