"""A whole board as styled lines of text: each slot in its place, or all slots put together to one text. Pure."""

from collections.abc import Sequence
from functools import cache

from rich.text import Span, Text

from fairest_cli.model.dead_cards import dead_cards
from fairest_cli.tui.board.advice import foundation_advice, pile_advice, stock_advice
from fairest_cli.tui.board.card_input import PILE_KEYS, STOCK
from fairest_cli.tui.board.card_style import LETTER, QUIET, CardStyle, fitted
from fairest_cli.tui.board.foundation_cards import FoundationState, foundation_lines, sequence, sequence_lines
from fairest_cli.tui.board.layout import MIN_TABLE, TableLayout, table_layout
from fairest_cli.tui.board.pile_cards import PileState, StockState, peek_lines_of, pile_lines, stock_lines
from fairest_cli.tui.board.side_board import compact_side
from fairest_cli.tui.settings import Keys
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS
from fairest_protocol.value import Value

__all__ = ["TableLook", "draw_sequences", "draw_slots", "foundation_row", "join_slots", "sequence", "side_lines"]

SlotLines = tuple[tuple[Text, ...], ...]
"""The lines of each slot, in the order of `TableLayout.slots`."""


class TableLook(Value):
    """How a board is drawn besides its cards. `lit` holds ids of slots, such as `foundation-0`, `pile-2`, `stock`.

    `picked` is the source that is picked up: the index of a pile, or `card_input.STOCK`.
    """

    card_style: CardStyle
    keys: Keys = Keys.LETTERS
    hints: bool = False
    dim_dead: bool = False
    picked: int | None = None
    unconfirmed: frozenset[Card] = frozenset()
    lit: frozenset[str] = frozenset()


def draw_slots(board: Board, layout: TableLayout, look: TableLook) -> SlotLines:
    """Return the lines of all slots of `board` in their places of `layout`."""
    style = look.card_style
    drawn = [
        foundation_lines(state, rect.columns, rect.lines, style)
        for state, rect in zip(_foundation_states(board, look), layout.foundations, strict=True)
    ]
    stock = StockState(
        board.turned,
        board.stock,
        board.redeals,
        tuple(stock_advice(board, look.keys)) if look.hints else (),
        is_picked=look.picked == STOCK,
        is_lit=bool(look.lit & {"stock", "stock-0"}),
    )
    has_tray = layout.has_trays
    drawn.append(stock_lines(stock, layout.stock.columns, layout.stock.lines, style, has_tray=has_tray))
    dead = dead_cards(board) if look.dim_dead else frozenset()
    first, edge = layout.piles[0], 3 if has_tray else 1
    longest = max(map(len, board.piles))
    peek = peek_lines_of(longest, first.columns - edge, first.lines - (2 if has_tray else 1))
    for number, (pile, rect) in enumerate(zip(board.piles, layout.piles, strict=True)):
        cards = frozenset(pile)
        state = PileState(
            PILE_KEYS[look.keys][number],
            pile,
            peek,
            look.unconfirmed & cards,
            dead & cards,
            pile_advice(number, board, look.keys, style) if look.hints else (),
            is_picked=look.picked == number,
            is_lit=f"pile-{number}" in look.lit,
        )
        drawn.append(pile_lines(state, rect.columns, rect.lines, style, has_tray=has_tray))
    return tuple(drawn)


def draw_sequences(board: Board, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return the whole sequences of all foundations, in a frame where there is room for it."""
    states = tuple(_foundation_states(board, TableLook(card_style)))
    if lines < len(states) + 2:
        return sequence_lines(states, columns, card_style)[:lines]
    rows = sequence_lines(states, columns - 2, card_style)
    title, footer = Text(" Every foundation, rank by rank ", LETTER), Text(" Tab closes this ", QUIET)
    return card_style.framed(rows, columns, lines, title=title, footer=footer)


def join_slots(slots: SlotLines, layout: TableLayout, columns: int, lines: int) -> list[Text]:
    """Return one text for each line of the board, with every slot in its place."""
    return [
        _row([(x, slots[slot][line]) for slot, line, x in parts if line < len(slots[slot])], columns)
        for parts in _line_parts(layout, lines)
    ]


def side_lines(head: Text, board: Board, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return a player's board below `head` in at most `lines` lines of at most `columns` columns.

    Where the room is too small for cards, return the wanted ranks and the ranks of the piles as text.
    """
    if columns < MIN_TABLE[0] or lines - 1 < MIN_TABLE[1] or columns < 8 + 4 * len(board.piles):
        return compact_side(head, board, columns, lines, card_style)
    layout = table_layout(columns, lines - 1, len(board.layout), len(board.piles))
    slots = draw_slots(board, layout, TableLook(card_style))
    return [fitted(head, columns), *join_slots(slots, layout, columns, lines - 1)]


def foundation_row(number: int, board: Board, card_style: CardStyle) -> Text:
    """Return a foundation in one line: digit, step, top card, and the whole sequence with the wanted rank marked."""
    foundation, cards = board.layout[number], board.foundations[number]
    top = card_style.chip(cards[-1]) if cards else Text("  -  ", QUIET)
    row = Text.assemble((f" {FOUNDATION_DIGITS[number]} ", LETTER), (f"by {foundation.step}", QUIET), top)
    return row.append_text(sequence(foundation, len(cards), card_style.arrow))


def sequence_rows(board: Board, columns: int, card_style: CardStyle) -> list[Text]:
    """Return a line with the whole sequence of each foundation, as wide as fits."""
    return sequence_lines(tuple(_foundation_states(board, TableLook(card_style))), columns, card_style)


def _foundation_states(board: Board, look: TableLook) -> list[FoundationState]:
    return [
        FoundationState(
            number,
            foundation,
            cards,
            bool(cards) and cards[-1] in look.unconfirmed,
            foundation_advice(number, board, look.keys, look.card_style) if look.hints else (),
            f"foundation-{number}" in look.lit,
        )
        for number, (foundation, cards) in enumerate(zip(board.layout, board.foundations, strict=True))
    ]


def _row(parts: Sequence[tuple[int, Text]], columns: int) -> Text:
    """Return one text with each part at its column, from the left, filled up or cut to `columns`.

    The spans are moved here, all at once: appending texts to one another takes three times as long.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    width = length = 0
    for x, text in parts:
        plain = text.plain
        pieces += (" " * (x - width), plain)
        length += max(0, x - width)
        if text.style:
            spans.append(Span(length, length + len(plain), text.style))
        spans += [Span(start + length, end + length, style) for start, end, style in text.spans]
        length += len(plain)
        width = max(x, width) + text.cell_len
    return fitted(Text("".join(pieces), spans=spans), columns)


@cache
def _line_parts(layout: TableLayout, lines: int) -> Sequence[Sequence[tuple[int, int, int]]]:
    """Return for each line of the board which line of which slot stands at which column, from the left."""
    return [
        sorted(
            (
                (slot, line - rect.y, rect.x)
                for slot, rect in enumerate(layout.slots)
                if rect.y <= line < rect.y + rect.lines
            ),
            key=lambda part: part[2],
        )
        for line in range(lines)
    ]
