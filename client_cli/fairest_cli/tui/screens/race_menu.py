"""What Esc shows in a race: nothing there is chosen by accident."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.tui.widgets.text_lines import TextLines


class RaceMenu(ModalScreen[str]):
    """Dismissed with the chosen word: stop, resign, quit; or with none, and the race goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back to the race"),
        Binding("ctrl+q,ctrl+c", "quit_now", "Quit"),
    ]

    def __init__(self, is_at_house: bool) -> None:
        super().__init__()
        self._is_at_house = is_at_house

    def compose(self) -> ComposeResult:
        """The race goes on meanwhile; going back to it is what Enter does first."""
        yield OptionList(
            Option(Text("Back to the race"), id="back"),
            Option(Text("Stop: end your race and keep what you have placed"), id="stop"),
            Option(Text("Resign: give this round up"), id="resign"),
            Option(
                Text(
                    "Quit: the race at home ends" if self._is_at_house else "Quit: your seat waits for you to come back"
                ),
                id="quit",
            ),
            id="menu",
            markup=False,
        )
        yield TextLines(Text("The race goes on while this is open."), id="menu-note")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Done."""
        self.dismiss(event.option.id)

    def action_back(self) -> None:
        """Nothing happens."""
        self.dismiss(None)

    def action_quit_now(self) -> None:
        """Who says it twice means it."""
        self.dismiss("quit")
