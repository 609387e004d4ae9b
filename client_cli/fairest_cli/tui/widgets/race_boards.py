"""Both boards of a race: the player's own one, whose slots can be clicked, and the other player's beside it."""

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical

from fairest_cli.text.board_text import ranks
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.board_lines import foundation_row, large_fan, pile_head, side_lines, stock_slot
from fairest_cli.tui.board.card_style import QUIET, CardStyle, card_style_of
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.cards import Card
from fairest_protocol.messages.scene import SeatScene

LADDER_HEAD = " Build these up: [ ] is needed next, any suit"
OTHER_BOARD_LINES = 7
"""Lines of the other player's board in a small terminal: name, foundations, a line for each of four piles, stock."""


class RaceBoards(Container):
    """Lays out the foundations, the stock and the piles of one player, and the other player's board as text."""

    def __init__(self, foundations: int, piles: int) -> None:
        """`foundations` and `piles` are their numbers, the same on both boards."""
        super().__init__(id="race")
        self._foundations = foundations
        self._piles = piles

    def compose(self) -> ComposeResult:
        """Yield a slot for each foundation, for the stock and for each pile, and the other player's board."""
        with Vertical(id="ladder"):
            yield TextLines(LADDER_HEAD, id="ladder-head")
            for number in range(self._foundations):
                yield TableSlot("foundation", number)
        yield TextLines(id="other-board")
        with Horizontal(id="table"):
            yield TableSlot("stock")
            for number in range(self._piles):
                yield TableSlot("pile", number)

    def on_mount(self) -> None:
        """Give the foundations as many lines as the rules need."""
        self.styles.grid_rows = f"{max(self._foundations + 2, OTHER_BOARD_LINES)} 1fr"

    def draw_own(self, ours: OptimisticBoard, markers: Sequence[Card], picked: int | None, settings: Settings) -> None:
        """Redraw the player's own board. `picked` is the source that is picked up, `markers` are out of play."""
        if markers:
            head = f" [ ] is needed next; out of play: {ranks(markers)}"
            self.query_one("#ladder-head", TextLines).update(head)
        board, card_style, hints = ours.board, card_style_of(settings), settings.hints
        for slot in self.query(TableSlot):
            lines = max(slot.size.height, 1)
            if slot.kind == "foundation":
                slot.update(foundation_row(slot.number, board, card_style, unconfirmed=ours.unconfirmed, hints=hints))
            elif slot.kind == "pile":
                letter = card_input.PILE_KEYS[settings.keys][slot.number]
                is_picked = picked == slot.number
                head_line = pile_head(slot.number, board, is_picked=is_picked, hints=hints, letter=letter)
                pile = board.piles[slot.number]
                fan = large_fan(pile, slot.size.width - 1, lines - 1, card_style, ours.unconfirmed)
                slot.update([head_line, *fan])
            else:
                slot.update(stock_slot(board, card_style, is_picked=picked == card_input.STOCK))

    def draw_other(self, name: str, seat: SeatScene, card_style: CardStyle) -> None:
        """Redraw the other player's board under the player's `name`; leave it as it is if `seat` shows no board."""
        if seat.board is None:
            return
        if seat.until_ms is not None:
            state = "is away"
        elif seat.has_stopped:
            state = "has stopped"
        else:
            state = f"{seat.board.placed} of {seat.board.goal} shown"
        head = Text.assemble((f" {name} ", "bold"), (state, QUIET))
        board = self.query_one("#other-board", TextLines)
        columns, lines = max(board.size.width - 1, 1), max(board.size.height, 1)
        board.update(side_lines(head, seat.board, columns, lines, card_style))
