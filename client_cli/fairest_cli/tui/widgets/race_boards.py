"""The table of a race: the player's own board, whose slots can be clicked, and beside it the other player's board.

A timer draws what moves on the table, and runs only meanwhile.
"""

from collections.abc import Callable, Sequence
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from fairest_cli.session.own_clock import now_ms
from fairest_cli.text.board_text import ranks
from fairest_cli.tui.board.board_lines import TableLook, draw_sequences, draw_slots, side_lines
from fairest_cli.tui.board.card_style import CHIP_COLUMNS, QUIET, CardStyle, card_style_of, longest_fit
from fairest_cli.tui.board.layout import RaceLayout, Rect, race_layout
from fairest_cli.tui.board.lead_bar import RIVAL
from fairest_cli.tui.board.motion import FRAME_MS, LONG_FLASH_MS, Motion, place_between
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.board.race_chart import RaceCurves, race_chart
from fairest_cli.tui.board.side_board import head_columns
from fairest_cli.tui.board.standing import describe_other
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.scene import SeatScene
from fairest_protocol.value import replace

NO_SLOTS: frozenset[str] = frozenset()
FLYING_CARD: Final = (6, 3)
"""Columns and lines of a card that travels, less where the slots are smaller."""


class RaceBoards(Container):
    """Lays out the foundations, the stock and the piles of one player, and a region at the side.

    In a race, the side region shows the other player's board (`draw_other`); alone, lines of the caller (`draw_side`).
    """

    class Resized(Message):
        """Posted when the table has another size, to which the screen draws it again."""

    def __init__(
        self, foundations: int, piles: int, *, has_rival: bool = True, clock: Callable[[], int] = now_ms
    ) -> None:
        """`foundations` and `piles` are their numbers. Without a rival, the own board never shares the room equally.

        `clock` returns milliseconds, by which motions are drawn.
        """
        super().__init__(id="race")
        self._clock = clock
        self._foundations = foundations
        self._piles = piles
        self._has_rival = has_rival
        self._has_markers = False
        self._placed: RaceLayout | None = None
        """The places that the widgets were given."""
        self._motion = Motion()
        self._moving: Timer | None = None
        """Draws the frames of `_motion`; None while nothing moves."""
        self._redraw: Callable[[frozenset[str]], None] | None = None
        """Draws our board again as it was drawn last, with these slots lit as well."""
        self._shown_lit = NO_SLOTS
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
        yield TextLines(id="race-chart")
        yield TextLines(id="sequences")
        yield TextLines(id="flying-card")

    def on_resize(self) -> None:
        """Post `Resized` to the screen."""
        self.post_message(self.Resized())

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
            card_style_of(settings), settings.keys, settings.hints, settings.dim_dead, picked, ours.unconfirmed
        )

        def redraw(moving: frozenset[str]) -> None:
            slots = draw_slots(board, layout.own, replace(look, lit=lit | moving))
            for slot, lines in zip(self.query(TableSlot), slots, strict=True):
                slot.update(lines)

        self._redraw, self._shown_lit = redraw, self._motion.lit(self._clock())
        redraw(self._shown_lit)
        self.query_one("#board-head", TextLines).update(_head(markers, layout.head.columns, look.card_style))
        self._draw_sequences(board, layout.sequences, look.card_style)

    def start_flight(self, move: Move, card: Card, completed: Sequence[int], card_style: CardStyle) -> None:
        """Begin to draw `card` on the way of `move`, and flash the foundations that are `completed` by it.

        Drawn from the next frame on, so that the key that caused it is not delayed.
        """
        start_ms = self._clock()
        self._motion = self._motion.with_move(move, card, start_ms)
        for number in completed:
            self._motion = self._motion.with_flash(f"foundation-{number}", start_ms, LONG_FLASH_MS)
        columns, lines = FLYING_CARD if self._layout().own.has_trays else (CHIP_COLUMNS, 1)
        self.query_one("#flying-card", TextLines).update(card_style.card(card, columns, lines))
        if self._moving is None:
            self._moving = self.set_interval(FRAME_MS / 1000, self._draw_frame)

    @property
    def is_moving(self) -> bool:
        """Whether frames are being drawn."""
        return self._moving is not None

    def _draw_frame(self) -> None:
        """Draw the present frame; after the last one, stop the timer."""
        at_ms, flying = self._clock(), self.query_one("#flying-card")
        progress, flight = self._motion.progress(at_ms), self._motion.flight
        if flight is None or progress is None:
            flying.display = False
        else:
            layout = self._layout().own
            slots = {slot.id: rect for slot, rect in zip(self.query(TableSlot), layout.slots, strict=True)}
            source, target = slots[flight.source], slots[flight.target]
            columns, lines = FLYING_CARD if layout.has_trays else (CHIP_COLUMNS, 1)
            _move(flying, place_between(source, target, progress, columns, lines).moved(1, 1))
        lit = self._motion.lit(at_ms)
        if lit != self._shown_lit and self._redraw is not None:
            self._shown_lit = lit
            self._redraw(lit)
        if self._motion.is_over(at_ms) and self._moving is not None:
            self._moving.stop()
            self._moving = None

    def draw_other(self, name: str, seat: SeatScene, counts: tuple[int, int], card_style: CardStyle) -> None:
        """Redraw the other player's board under the player's `name`; leave it as it is if `seat` shows no board.

        `counts` are the newest ones, ours first.
        """
        if seat.board is None:
            return
        columns, lines = self.side_size
        state = describe_other(
            name,
            counts[1] if seat.has_stopped else seat.board.placed,
            seat.board.goal,
            counts[0],
            has_stopped=seat.has_stopped,
            is_away=seat.until_ms is not None,
        )
        room = head_columns(seat.board, columns, lines, card_style)
        head = Text(f" {longest_fit(state, room - 1)} ", f"bold {RIVAL}" if seat.has_stopped else QUIET)
        head.stylize("bold", 1, 1 + len(name) if head.plain.startswith(f" {name}") else 1)
        self.draw_side(side_lines(head, seat.board, columns, lines, card_style))

    def draw_chart(self, curves: RaceCurves, names: tuple[str, str], card_style: CardStyle) -> None:
        """Redraw the chart of the race so far, where there is room for it."""
        rect = self._layout().chart
        if rect.lines:
            self.query_one("#race-chart", TextLines).update(
                race_chart(curves, names, rect.columns, rect.lines, card_style)
            )

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
        _move(self.query_one("#race-chart"), layout.chart)
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
