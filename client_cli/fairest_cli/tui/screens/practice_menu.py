"""The menu of a practice game behind Esc. Its first entry goes back to the game."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class PracticeMenu(ModalScreen[str]):
    """Dismissed with `back`, `again`, `new`, `other`, `stop`, `home` or `quit`, or with None, which means `back`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back to the game"),
        Binding("ctrl+q,ctrl+c", "quit_now", "Quit"),
    ]

    def __init__(self, *, is_over: bool) -> None:
        """`is_over` says that the game is over, so that it cannot be stopped."""
        super().__init__()
        self._is_over = is_over

    def compose(self) -> ComposeResult:
        """Show the entries."""
        entries = [
            ("back", "Back to the game"),
            ("again", "The same deal from its start"),
            ("new", "Another deal of this variant"),
            ("other", "Another variant or seed ..."),
            ("stop", "Stop: end this game here"),
            ("home", "Home"),
            ("quit", "Quit"),
        ]
        yield OptionList(
            *(Option(Text(label), id=name) for name, label in entries if name != "stop" or not self._is_over),
            id="menu",
            markup=False,
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the selected entry."""
        self.dismiss(event.option.id)

    def action_back(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def action_quit_now(self) -> None:
        """Close with `quit`."""
        self.dismiss("quit")
