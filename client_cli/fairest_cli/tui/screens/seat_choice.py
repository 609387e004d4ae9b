"""The choice of one of our seats: each room and each tournament of the server in which this player has one."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.tui.widgets.text_lines import TextLines


class SeatChoice(ModalScreen[str | None]):
    """Dismissed with the code of a room or a tournament, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, rooms: Sequence[str]) -> None:
        super().__init__()
        self._rooms = rooms

    def compose(self) -> ComposeResult:
        """Show a line for each of them."""
        yield OptionList(*(Option(Text(room, no_wrap=True), id=room) for room in self._rooms), id="menu", markup=False)
        yield TextLines(Text("Your seats: Enter takes one."), id="menu-note")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the one that was chosen."""
        self.dismiss(event.option.id)

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
