"""The list of past matches, each of which can be replayed."""

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
    """Lists the matches in the records folder, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self) -> None:
        super().__init__()
        self._matches: list[PastMatch] = []

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the list, and the path of the folder."""
        with Vertical(id="history"):
            yield TextLines(Text(" Past matches: Enter replays one, Esc goes back", "bold"), id="history-head")
            yield OptionList(id="matches", markup=False)
            yield TextLines(Text(f" {clean(str(records_folder()))}", QUIET), id="history-where")

    def on_mount(self) -> None:
        """Read the folder in the background, so that the screen opens at once."""
        self.query_one(OptionList).focus()
        self.run_worker(self._read())

    async def _read(self) -> None:
        self._matches = await asyncio.to_thread(past_matches, records_folder())
        matches = self.query_one(OptionList)
        matches.add_options([Option(Text(f" {describe_match(match)}", no_wrap=True)) for match in self._matches])
        if self._matches:
            matches.highlighted = 0
        else:
            self.query_one("#history-where", TextLines).update(
                " There are no matches yet. To race a bot, press b on the first screen."
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Replay the selected match, if its record could be read."""
        match = self._matches[event.option_index]
        if match.record is not None:
            self.app.push_screen(ReplayScreen(match.record, timeline_of(match.record)))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
