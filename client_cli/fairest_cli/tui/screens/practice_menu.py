"""The menus behind Esc of games without an opponent in a room. Their first entry goes back to the game."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class PracticeMenu(ModalScreen[str]):
    """Dismissed with `back`, `again`, `new`, `other`, `stop`, `home` or `quit`, or with None, which means `back`."""

    ENTRIES: ClassVar[tuple[tuple[str, str], ...]] = (
        ("back", "Back to the game"),
        ("again", "The same deal from its start"),
        ("new", "Another deal of this variant"),
        ("other", "Another variant or seed ..."),
        ("stop", "Stop: end this game here"),
        ("home", "Home"),
        ("quit", "Quit"),
    )
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
        yield OptionList(
            *(Option(Text(label), id=name) for name, label in self.ENTRIES if name != "stop" or not self._is_over),
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


class DailyMenu(PracticeMenu):
    """Dismissed with `back`, `stop`, `yesterday`, `home` or `quit`, or with None, which means `back`."""

    ENTRIES = (
        ("back", "Back to the deal, whose time goes on meanwhile"),
        ("stop", "Stop: end your attempt; the cards you have placed count"),
        ("yesterday", "Yesterday's table"),
        ("home", "Leave: the same command leads back"),
        ("quit", "Quit"),
    )


class TournamentMenu(PracticeMenu):
    """Dismissed with `back`, `leave`, `home` or `quit`, or with None, which means `back`."""

    ENTRIES = (
        ("back", "Back to the tournament"),
        ("leave", "Leave the tournament for good"),
        ("home", "Home: the same command leads back"),
        ("quit", "Quit"),
    )


class TournamentRaceMenu(PracticeMenu):
    """Dismissed with `back`, `stop`, `standings` or `quit`, or with None, which means `back`."""

    ENTRIES = (
        ("back", "Back to the race, whose time goes on meanwhile"),
        ("stop", "Stop: end your race; the cards you have placed count"),
        ("standings", "Standings: Enter leads back to the race"),
        ("quit", "Quit"),
    )


class GhostMenu(PracticeMenu):
    """Dismissed with `back`, `again`, `stop`, `home` or `quit`, or with None, which means `back`."""

    ENTRIES = (
        ("back", "Back to the race, which goes on meanwhile"),
        ("again", "The same race from its start"),
        ("stop", "Stop: end your race; your placed cards count"),
        ("home", "Leave the race"),
        ("quit", "Quit"),
    )
