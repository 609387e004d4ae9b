"""The common parts of the tables of one player without a server: practice, and a race against a ghost."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.standing import completed_foundations, describe_play
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import Move


class TableScreen(FairestScreen):
    """A head, a table, and below it the end of the game, a notice, and the keys. Subclasses draw them in `draw`."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "menu", "Menu"),
        Binding("tab", "sequences", "All ranks", priority=True),
    ]

    def __init__(
        self,
        boards: RaceBoards,
        board: Callable[[], Board | None],
        apply: Callable[[InputResult], None],
        open_menu: Callable[[], None],
    ) -> None:
        """`boards` is the table, and `board` returns the present board, or None while no card can be moved.

        `apply` makes the move that a key or a click stands for, or shows its sentence; `open_menu` opens the menu.
        """
        super().__init__()
        self._boards = boards
        self._board = board
        self._apply_input = apply
        self._open_menu = open_menu
        self._picked: int | None = None
        """The source that is picked up: the index of a pile, or `card_input.STOCK`."""

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

    def show_play(self, move: Move, before: Board, now: Board) -> str:
        """Let the card of a move travel, and return the sentences for the move and for what it completes."""
        card, completed = before.card_of(move), completed_foundations(before, now)
        if card is not None and not self.settings.reduced_motion:
            self._boards.start_flight(move, card, completed, self.card_style)
        return describe_play(move, card, completed, self.card_style)

    @on(TableSlot.Clicked)
    def click(self, message: TableSlot.Clicked) -> None:
        """Pick up the clicked card, or move the card that is picked up to the clicked slot."""
        board, slot = self._board(), message.slot
        if board is not None and not self.is_too_small:
            self._apply_input(card_input.click_slot(slot.kind, slot.number, self._picked, board))

    def board_for_help(self) -> Board | None:
        """Return the board, whose sequences the page of keys shows."""
        return self._board()

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
            self._open_menu()
