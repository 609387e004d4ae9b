"""The common parts of the tables of one player without a server: practice, and a race against a ghost."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TextLines


class TableScreen(FairestScreen):
    """A head, a table, and below it the end of the game, a notice, and the keys. Subclasses draw them."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "menu", "Menu"),
        Binding("tab", "sequences", "All ranks", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._boards = self.make_boards()
        self._picked: int | None = None
        """The source that is picked up: the index of a pile, or `card_input.STOCK`."""

    def make_boards(self) -> RaceBoards:
        """Return a table of the shape of the game."""
        raise NotImplementedError

    def compose_body(self) -> ComposeResult:
        """Yield the head, the table, the end of the game, the notice, and the keys."""
        yield TextLines(id="head")
        yield self._boards
        yield TextLines(id="advice")
        yield TextLines(id="notice")
        yield TextLines(id="key-line")

    def show_notice(self, sentence: str, *, is_error: bool = False) -> None:
        """Show `sentence` in the line below the table, until the next notice replaces it."""
        style = "bold #ff8a70" if is_error else QUIET
        self.query_one("#notice", TextLines).update(Text(f" {sentence}", style, no_wrap=True))

    def action_sequences(self) -> None:
        """Show the whole sequence of every foundation over the table, or hide it again."""
        self._boards.shows_sequences = not self._boards.shows_sequences
        self.draw()

    def action_menu(self) -> None:
        """Put a picked-up card back; with none picked up, open the menu."""
        if self._picked is not None:
            self._picked = None
            self.show_notice("The card is put back.")
            self.draw()
        else:
            self.open_menu()

    def open_menu(self) -> None:
        """Open the menu of this kind of game."""
        raise NotImplementedError
