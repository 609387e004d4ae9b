"""The menu of a race behind Esc. Its first entry goes back to the race, so that Enter by accident loses nothing."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.tui.widgets.text_lines import TextLines


class RaceMenu(ModalScreen[str]):
    """Dismissed with `back`, `stop`, `resign` or `quit`, or with None, which means `back`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back to the race"),
        Binding("ctrl+q,ctrl+c", "quit_now", "Quit"),
    ]

    def __init__(self, uses_local_server: bool, chosen: str = "back") -> None:
        """`uses_local_server` says that the race is on the local server, which ends with this program.

        `chosen` is the entry under the cursor.
        """
        super().__init__()
        self._chosen = chosen
        self._uses_local_server = uses_local_server

    def compose(self) -> ComposeResult:
        """Show the entries, with the harmless one first."""
        leaving = (
            "Quit: the race against the bot ends" if self._uses_local_server else "Quit: your seat is kept for a while"
        )
        yield OptionList(
            Option(Text("Back to the race"), id="back"),
            Option(Text("Stop: end your race; your placed cards count"), id="stop"),
            Option(Text("Resign: give up this round"), id="resign"),
            Option(Text(leaving), id="quit"),
            id="menu",
            markup=False,
        )
        yield TextLines(Text("The race goes on while this menu is open."), id="menu-note")

    def on_mount(self) -> None:
        """Put the cursor onto the chosen entry."""
        menu = self.query_one("#menu", OptionList)
        menu.highlighted = menu.get_option_index(self._chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the selected entry."""
        self.dismiss(event.option.id)

    def action_back(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def action_quit_now(self) -> None:
        """Quit without asking again: Ctrl+Q opened this menu in place of quitting."""
        self.dismiss("quit")
