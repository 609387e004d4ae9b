"""The page about oneself: the figures over all past matches, and the list of them, to replay, practise or verify.

The same list serves to choose the record to replay or to verify from the home screen; then the figures are left out,
and the first line asks for a path or for the id of a match.
"""

import asyncio
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.records.files import records_folder, short_path
from fairest_cli.records.history import PastMatch, each_past_match
from fairest_cli.records.own_names import own_names
from fairest_cli.records.statistics import statistics_of
from fairest_cli.text.history import describe_statistics, fit_match
from fairest_cli.tui.board.card_style import GOLD, QUIET, fitted_key_line, longest_fit
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.record_opening import Use, open_record
from fairest_cli.tui.screens.text_page import TextPage, made_in_thread
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean

HEADINGS: Final = {None: "You, by your records", Use.REPLAY: "Replay a match", Use.VERIFY: "Verify a record"}
OTHER: Final = "other"
"""The id of the line that asks for a path or an id."""
LIST_LINES: Final = 8
"""Lines that the list of matches keeps where the figures would fill the terminal."""
EDGE_COLUMNS: Final = 6
"""The columns of a row that its match does not have: the blanks at both edges, and the scroll bar."""
PROGRESS_STEP: Final = 250
"""The progress of reading is shown after this many files."""


class HistoryScreen(FairestScreen):
    """Lists the matches in the records folder, the newest first, below the figures of this machine's player."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys in the history",
        (
            ("Enter", "replay the match"),
            ("p", "practise its deal: that of its last round"),
            ("g", "race a player of the match as a ghost"),
            ("v", "verify its record, as fairest verify does"),
            ("f", "all figures on a page of their own"),
            ("o", "open a record by its path, or by the id of its match"),
            ("Esc", "back"),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("p", "use('practise')", "Practise"),
        Binding("g", "use('ghost')", "Race a ghost"),
        Binding("v", "use('verify')", "Verify"),
        Binding("r", "use('replay')", "Replay"),
        Binding("o", "other", "Other record"),
        Binding("f", "figures", "All figures"),
    ]

    def __init__(self, use: Use | None = None) -> None:
        """`use` is what the chosen record is for; without one, this is the history, where Enter replays."""
        super().__init__()
        self._use = use
        self._matches: list[PastMatch] = []
        self._figures: list[str] = []
        self._fitted_columns = 0
        """The columns of the terminal for which the rows of the list were made."""

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the figures, the list, a notice, and the keys."""
        yield TextLines(Text(f" {HEADINGS[self._use]}", f"bold {GOLD}"), id="heading")
        with Vertical(id="history"):
            yield TextLines(id="figures")
            yield OptionList(id="matches", markup=False)
            yield TextLines(id="history-where")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Read the folder in the background, so that the screen opens at once."""
        matches = self.query_one(OptionList)
        if self._use is not None:
            matches.add_option(Option(Text(" Type a path, or the id of a match ...", f"bold {GOLD}"), id=OTHER))
            matches.highlighted = 0
        matches.focus()
        self.show_notice("Reading the records ...")
        self.run_in_background(self._read)

    def show_notice(self, sentence: str, *, is_error: bool = False) -> None:
        """Show `sentence` below the list."""
        style = "bold #ff8a70" if is_error else QUIET
        self.query_one("#history-where", TextLines).update(Text(f" {clean(sentence)}", style))

    async def _read(self) -> None:
        names = own_names(self.settings.name)
        self._matches = await asyncio.to_thread(self._read_matches, names)
        matches = self.query_one(OptionList)
        matches.add_options([Option(_row(each, self.size.width)) for each in self._matches])
        self._fitted_columns = self.size.width
        if self._matches and self._use is None:
            matches.highlighted = 0
            self._figures = list(describe_statistics(statistics_of(self._matches), is_ascii=self.card_style.is_ascii))
        if self._matches:
            count = f"{len(self._matches)} record{'s' * (len(self._matches) > 1)}"
            wordings = (f"{count} in {clean(short_path(records_folder()))}", count)
            self.show_notice(longest_fit(wordings, self.size.width - EDGE_COLUMNS))
        else:
            self.show_notice("No matches yet: Esc, then b races a bot.")
        self.draw()

    def _read_matches(self, names: list[str]) -> list[PastMatch]:
        """Return all matches; called in a thread."""

        def on_progress(number: int, total: int) -> None:
            if number % PROGRESS_STEP == 0:
                self.app.call_from_thread(self.show_notice, f"Reading the records: {number} of {total} ...")

        return list(each_past_match(records_folder(), names, on_progress))

    def draw(self) -> None:
        """Redraw the figures, as many lines as leave room for the list."""
        if not self.is_mounted or self.is_too_small:
            return
        if self._fitted_columns not in (0, self.size.width):
            # The rows are made again for another width of the terminal.
            self._fitted_columns = self.size.width
            for number, match in enumerate(self._matches, 0 if self._use is None else 1):
                self.query_one(OptionList).replace_option_prompt_at_index(number, _row(match, self.size.width))
        room = max(2, self.size.height - LIST_LINES - 4)
        shown = self._figures if len(self._figures) <= room else self._figures[:room]
        figures = self.query_one("#figures", TextLines)
        figures.styles.height = len(shown)
        figures.update([Text(f" {line}", "bold" if number == 0 else "") for number, line in enumerate(shown)])
        enter = (self._use or Use.REPLAY).value
        others = [pair for pair in (("p", "practise"), ("g", "ghost"), ("v", "verify")) if pair[1] != enter]
        keys = [("Enter", enter), *others] if self._matches else []
        keys.append(("o", "other"))
        keys += [("f", "figures")] if self._figures else []
        self.query_one("#key-line", TextLines).update(fitted_key_line([*keys, ("Esc", "back")], self.size.width))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Use the selected record, or ask for another one."""
        if event.option.id == OTHER:
            self.action_other()
        else:
            self._open_selected(self._use or Use.REPLAY)

    def action_use(self, use: str) -> None:
        """Use the highlighted record."""
        self._open_selected(Use(use))

    def _open_selected(self, use: Use) -> None:
        highlighted, first = self.query_one(OptionList).highlighted, 0 if self._use is None else 1
        if highlighted is not None and highlighted >= first:
            self._open(str(self._matches[highlighted - first].path), use)

    def action_other(self) -> None:
        """Ask for the path of a record or the id of a match."""
        use = self._use or Use.REPLAY
        question = TextPrompt(
            f"Record to {use.value}", note="the path of a file, or the id of a match, for which the server is asked"
        )
        self.app.push_screen(question, lambda source: self._open(source, use) if source else None)

    def _open(self, source: str, use: Use) -> None:
        self.show_notice("Opening the record ...")
        self.run_in_background(partial(self._open_record, source, use), exclusive=True, group="open")

    async def _open_record(self, source: str, use: Use) -> None:
        problem = await open_record(self.app, source, use, self.program.rooms.server_url, self.settings)
        self.show_notice(problem, is_error=bool(problem))

    def action_figures(self) -> None:
        """Show all figures on a page that scrolls."""
        if self._figures:
            figures = list(self._figures)
            self.app.push_screen(TextPage(HEADINGS[None], lambda: made_in_thread(lambda: figures)))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def _row(match: PastMatch, columns: int) -> Text:
    return Text(f" {fit_match(match, columns - EDGE_COLUMNS)}", no_wrap=True)
