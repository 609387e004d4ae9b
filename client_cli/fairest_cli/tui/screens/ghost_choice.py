"""The choice of the ghost in a record: each seat of each round that can be raced, the best one first."""

from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.analysis.ghost import best_seat, seats_to_race, summon
from fairest_cli.records.history import seat_of
from fairest_cli.records.own_names import own_names
from fairest_cli.text.ghost import describe_seat
from fairest_cli.tui.screens.ghost import GhostCountdown
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.record import Record


def choose_ghost(app: App[object], record: Record, round_number: int, settings: Settings) -> None:
    """Let the player choose a seat of the record to race, one of `round_number` at first, and start that race."""
    own_seat = seat_of(record.names, own_names(settings.name))

    def start(chosen: tuple[int, int] | None) -> None:
        if chosen is not None:
            app.push_screen(GhostCountdown(summon(record, *chosen)))

    app.push_screen(GhostChoice(record, round_number, own_seat), start)


class GhostChoice(ModalScreen[tuple[int, int] | None]):
    """Dismissed with the number of a round and a seat, both from 0, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, record: Record, round_number: int, own_seat: int | None) -> None:
        """The better seat of `round_number` is highlighted at first; `own_seat` is that of this machine's player."""
        super().__init__()
        self._record = record
        self._seats = list(seats_to_race(record))
        self._first = (round_number, best_seat(record, round_number))
        self._own_seat = own_seat

    def compose(self) -> ComposeResult:
        """Show a line for each seat."""
        labels = [
            describe_seat(self._record, number, seat, is_own=seat == self._own_seat) for number, seat in self._seats
        ]
        yield OptionList(*(Option(Text(label, no_wrap=True)) for label in labels), id="menu", markup=False)
        yield TextLines(Text("The ghost to race: Enter starts the countdown."), id="menu-note")

    def on_mount(self) -> None:
        """Highlight the seat to begin with."""
        menu = self.query_one(OptionList)
        menu.highlighted = self._seats.index(self._first) if self._first in self._seats else 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the selected seat."""
        self.dismiss(self._seats[event.option_index])

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
