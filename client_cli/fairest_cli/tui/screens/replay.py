"""The replay of a match from its record, moment by moment."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.model.practice import start_from_record
from fairest_cli.text.replay import describe_record
from fairest_cli.tui.board.card_style import QUIET, longest_fit
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.screens.analysis import AnalysisScreen
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.ghost_choice import choose_ghost
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TIMELINE_KEYS, TimelineView
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.record import Record

HINT_COLUMNS: Final = 100
"""Columns from which the heading has room for the key of the analysis."""


class ReplayScreen(FairestScreen):
    """Shows both boards of a match; the keys of `TimelineView` play, step, seek and change the speed."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in a replay",
        (
            *TIMELINE_KEYS,
            ("p", "practise the deal of the shown round"),
            ("g", "race a player of the match as a ghost"),
            ("a", "analyse the match"),
            ("Esc", "back"),
        ),
        is_race=False,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("p", "practise", "Practise this deal"),
        Binding("a", "analyse", "Analysis"),
        Binding("g", "race", "Race a ghost"),
    ]

    def __init__(self, record: Record, timeline: Timeline, own_seat: int = 0) -> None:
        """The board of `own_seat` stands on the left."""
        super().__init__()
        self._record = record
        self._timeline = timeline
        self._own_seat = own_seat

    def compose_body(self) -> ComposeResult:
        """Yield the rules of the match and its timeline."""
        *_, rules = describe_record(self._record)
        hint = "   (a: analysis, g: race a ghost)" if self.app.size.width >= HINT_COLUMNS else ""
        wordings = (f" Replay: {rules}{hint}", f" {rules}", f" Replay: {clean(self._record.rules.name)}")
        yield TextLines(Text(longest_fit(wordings, self.app.size.width), QUIET, no_wrap=True), id="heading")
        first, second = (clean(name) for name in self._record.names)
        yield TimelineView(self._timeline, (first, second), self.card_style, left_seat=self._own_seat)

    def board_for_help(self) -> Board | None:
        """Return the shown board on the left, whose sequences the page of keys shows."""
        moment = self.query_one(TimelineView).timeline.shown
        return None if moment is None else moment.boards[self._own_seat]

    def action_practise(self) -> None:
        """Practise the deal of the shown round."""
        moment = self.query_one(TimelineView).timeline.shown
        if moment is not None:
            self.app.push_screen(PracticeScreen(start_from_record(self._record, moment.round_number - 1)))

    def action_analyse(self) -> None:
        """Analyse the match."""
        self.app.push_screen(AnalysisScreen(self._record))

    def action_race(self) -> None:
        """Race a player of the match, one of the shown round at first."""
        moment = self.query_one(TimelineView).timeline.shown
        if moment is not None:
            choose_ghost(self.app, self._record, moment.round_number - 1, self.settings)

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
