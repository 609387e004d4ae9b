"""The matches so far, each a replay away."""

import asyncio
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.records.files import records_folder
from fairest_cli.records.history import PastMatch, describe_match, past_matches
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean


class HistoryScreen(FairestScreen):
    """What lies in the records folder, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self) -> None:
        super().__init__()
        self._matches: list[PastMatch] = []

    def parts(self) -> ComposeResult:
        """The list."""
        with Vertical(id="history"):
            yield TextLines(Text(" Matches so far: Enter shows one again, Esc goes back", "bold"), id="history-head")
            yield OptionList(id="matches", markup=False)
            yield TextLines(Text(f" {clean(str(records_folder()))}", QUIET), id="history-where")

    def on_mount(self) -> None:
        """Read the folder without holding up the screen."""
        self.query_one(OptionList).focus()
        self.run_worker(self._read())

    async def _read(self) -> None:
        self._matches = await asyncio.to_thread(past_matches, records_folder())
        matches = self.query_one(OptionList)
        matches.add_options([Option(Text(f" {describe_match(match)}", no_wrap=True)) for match in self._matches])
        if self._matches:
            matches.highlighted = 0
        else:
            self.query_one("#history-where", TextLines).show(
                " No match was kept yet. Race a bot: b on the first screen."
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show it again."""
        match = self._matches[event.option_index]
        if match.record is not None:
            self.app.push_screen(ReplayScreen(match.record, timeline_of(match.record), match.path))

    def action_close(self) -> None:
        """Back."""
        self.dismiss()
