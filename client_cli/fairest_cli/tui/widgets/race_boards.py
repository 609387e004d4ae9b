"""The table of a race: the player's own board, whose slots can be clicked, and beside it the other player's board."""

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from fairest_cli.text.board_text import ranks
from fairest_cli.tui.board.board_lines import TableLook, draw_sequences, draw_slots, side_lines
from fairest_cli.tui.board.card_style import QUIET, CardStyle, card_style_of, longest_fit
from fairest_cli.tui.board.layout import RaceLayout, Rect, race_layout
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.messages.scene import SeatScene

NO_SLOTS: frozenset[str] = frozenset()


class RaceBoards(Container):
    """Lays out the foundations, the stock and the piles of one player, and a region at the side.

    In a race, the side region shows the other player's board (`draw_other`); alone, lines of the caller (`draw_side`).
    """

    def __init__(self, foundations: int, piles: int, *, has_rival: bool = True) -> None:
        """`foundations` and `piles` are their numbers. Without a rival, the own board never shares the room equally."""
        super().__init__(id="race")
        self._foundations = foundations
        self._piles = piles
        self._has_rival = has_rival
        self._has_markers = False
        self._placed: RaceLayout | None = None
        """The places that the widgets were given."""
        self.shows_sequences = False
        """Whether the whole sequences lie over the board; read by the next `draw_own`."""

    def compose(self) -> ComposeResult:
        """Yield the head, a slot for each foundation, for the stock and for each pile, the side, and the sequences."""
        yield TextLines(id="board-head")
        for number in range(self._foundations):
            yield TableSlot("foundation", number)
        yield TableSlot("stock")
        for number in range(self._piles):
            yield TableSlot("pile", number)
        yield TextLines(id="other-board")
        yield TextLines(id="sequences")

    @property
    def side_size(self) -> tuple[int, int]:
        """The columns and lines of the side region at the present size of the terminal."""
        side = self._layout().side
        return side.columns, side.lines

    def draw_own(
        self,
        ours: OptimisticBoard,
        markers: Sequence[Card],
        picked: int | None,
        settings: Settings,
        lit: frozenset[str] = NO_SLOTS,
    ) -> None:
        """Redraw the player's own board.

        `picked` is the source that is picked up, `markers` are out of play, and the slots whose ids are in `lit` (such
        as `foundation-0`, `pile-2` or `stock`) are highlighted.
        """
        self._has_markers = bool(markers)
        layout, board = self._layout(), ours.board
        self._place(layout)
        look = TableLook(
            card_style_of(settings), settings.keys, settings.hints, settings.dim_dead, picked, ours.unconfirmed, lit
        )
        for slot, lines in zip(self.query(TableSlot), draw_slots(board, layout.own, look), strict=True):
            slot.update(lines)
        self.query_one("#board-head", TextLines).update(_head(markers, layout.head.columns, look.card_style))
        self._draw_sequences(board, layout.sequences, look.card_style)

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
        columns, lines = self.side_size
        self.draw_side(side_lines(head, seat.board, columns, lines, card_style))

    def draw_side(self, lines: Sequence[Text]) -> None:
        """Show `lines` in the side region, which has `side_size`."""
        self.query_one("#other-board", TextLines).update(lines)

    def _layout(self) -> RaceLayout:
        return race_layout(
            max(self.size.width, 1),
            max(self.size.height, 1),
            self._foundations,
            self._piles,
            has_markers=self._has_markers,
            has_rival=self._has_rival,
        )

    def _place(self, layout: RaceLayout) -> None:
        """Move each widget to its place; widgets that are in place are not touched, so nothing is laid out again."""
        if layout == self._placed:
            return
        self._placed = layout
        for slot, rect in zip(self.query(TableSlot), layout.own.slots, strict=True):
            _move(slot, rect)
        _move(self.query_one("#board-head"), layout.head)
        _move(self.query_one("#other-board"), layout.side)
        _move(self.query_one("#sequences"), layout.sequences)

    def _draw_sequences(self, board: Board, rect: Rect, card_style: CardStyle) -> None:
        sequences = self.query_one("#sequences", TextLines)
        sequences.display = self.shows_sequences
        if self.shows_sequences:
            sequences.update(draw_sequences(board, rect.columns, rect.lines, card_style))


def _head(markers: Sequence[Card], columns: int, card_style: CardStyle) -> Text:
    """Return the line above the foundations: the meaning of the arrow, and the cards that are out of play."""
    arrow = card_style.arrow
    if markers:
        words = (
            f" {arrow} is wanted next, any suit; out of play: {ranks(markers)}",
            f" {arrow} is wanted; out of play: {ranks(markers)}",
            f" out of play: {ranks(markers)}",
        )
    else:
        words = (
            f" Build these up: {arrow} is wanted next, of any suit",
            f" {arrow} is wanted next, of any suit",
            f" {arrow} is wanted next",
        )
    return Text(longest_fit(words, columns), QUIET)


def _move(widget: Widget, rect: Rect) -> None:
    widget.styles.offset = (rect.x, rect.y)
    widget.styles.width = rect.columns
    widget.styles.height = rect.lines
    widget.display = rect.lines > 0
