"""The places of a race table in a terminal of any size: a rectangle for each foundation, the stock and each pile. Pure.

Two steps: `race_layout` shares the room between both boards, and `table_layout` shares a board's room between its
slots. Both boards use the second step, so that a board looks the same on either side, in a replay and while watching.
"""

from functools import cache
from typing import Final

from fairest_protocol.value import Value

EQUAL_COLUMNS: Final = 160
"""From this width on, both boards have the same size."""
BESIDE_COLUMNS, BESIDE_LINES = 100, 20
"""From this size on, the other board stands at the right in full, with smaller cards."""
CORNER_COLUMNS: Final = 76
"""From this width on, the other board has the corner at the right of the foundations."""
CHART_LINES: Final = 34
"""From this height on, a chart of the race so far stands below the other board, or below both."""
HEAD_LINES: Final = 15
"""From this height on, a line above the foundations says what their signs mean."""

FRAME_COLUMNS: Final = 9
"""The narrowest framed foundation: `►10` beside a card of five columns."""
ROW_COLUMNS: Final = 24
"""The narrowest foundation in one line without a frame."""
MIN_TABLE: Final = (36, 13)
"""The smallest room, in columns and lines, in which a whole board is drawn. Less shows ranks as text (`side_board`)."""


class Rect(Value):
    """A rectangle of the terminal, in columns and lines."""

    x: int
    y: int
    columns: int
    lines: int

    def moved(self, x: int, y: int) -> "Rect":
        """Return the rectangle that many columns to the right and lines down."""
        return Rect(self.x + x, self.y + y, self.columns, self.lines)


class TableLayout(Value):
    """The places of one board. With trays, the stock and the piles have frames, which fill a high table."""

    foundations: tuple[Rect, ...]
    stock: Rect
    piles: tuple[Rect, ...]
    has_trays: bool = False

    def moved(self, x: int, y: int) -> "TableLayout":
        """Return the places that many columns to the right and lines down."""
        return TableLayout(
            tuple(each.moved(x, y) for each in self.foundations),
            self.stock.moved(x, y),
            tuple(each.moved(x, y) for each in self.piles),
            self.has_trays,
        )

    @property
    def slots(self) -> tuple[Rect, ...]:
        """The places of the foundations, of the stock, and of the piles."""
        return (*self.foundations, self.stock, *self.piles)


class RaceLayout(Value):
    """The places of a race: our own board below its head, and the side region with the other board.

    `head` and `chart` have no lines where there is no room for them. `sequences` lies over the board while it is shown.
    """

    head: Rect
    own: TableLayout
    side: Rect
    sequences: Rect
    chart: Rect


@cache
def race_layout(
    columns: int, lines: int, foundations: int, piles: int, *, has_markers: bool = False, has_rival: bool = True
) -> RaceLayout:
    """Return the places for a terminal of that size. Without a rival, the side region is never half of it."""
    head_lines = 1 if lines >= HEAD_LINES or has_markers else 0
    sequences = Rect(0, 0, columns if columns < 80 else 66, min(lines, foundations + 2))
    own_columns, own_lines, corner = columns, lines - head_lines, 0
    chart = Rect(0, 0, 0, 0)
    chart_lines = min(10, lines // 4) if has_rival and lines >= CHART_LINES else 0
    if has_rival and columns >= EQUAL_COLUMNS:
        own_columns = (columns - 1) // 2
        own_lines -= chart_lines
        side = Rect(columns - own_columns, 0, own_columns, lines - chart_lines)
        chart = Rect(0, lines - chart_lines, columns, chart_lines)
    elif columns >= BESIDE_COLUMNS and lines >= BESIDE_LINES:
        side_columns = max(36, min(56, columns * 36 // 100))
        own_columns = columns - side_columns - 1
        side = Rect(columns - side_columns, 0, side_columns, lines - chart_lines)
        chart = Rect(side.x, side.lines, side_columns, chart_lines)
    elif columns >= CORNER_COLUMNS:
        corner = max(34, columns * 45 // 100)
        own = table_layout(columns, own_lines, foundations, piles, corner)
        side = Rect(columns - corner, 0, corner, own.stock.y + head_lines)
    else:
        side_lines = 1 if lines < 15 else 2 if lines < 22 else min(10, lines // 4)
        own_lines -= side_lines
        side = Rect(0, lines - side_lines, columns, side_lines)
    own = table_layout(own_columns, own_lines, foundations, piles, corner)
    head = Rect(0, 0, own_columns - corner, head_lines)
    return RaceLayout(head, own.moved(0, head_lines), side, sequences, chart)


@cache
def table_layout(columns: int, lines: int, foundations: int, piles: int, corner: int = 0) -> TableLayout:
    """Return the places of one board. `corner` columns at the right of the foundations stay free."""
    rows = _foundation_rects(columns - corner, lines, foundations)
    top = max(rect.y + rect.lines for rect in rows)
    height = max(1, lines - top)
    # The stock is as wide as a pile, but never too narrow for the number of its cards.
    stock = max(8, min(22, columns // (piles + 1)))
    share = min(max(3, (columns - stock) // piles), 66)
    stock = min(columns - share * piles, 24)
    return TableLayout(
        rows,
        Rect(0, top, stock, height),
        tuple(Rect(stock + share * number, top, share, height) for number in range(piles)),
        has_trays=share >= 8 and height >= 20,
    )


def _foundation_rects(columns: int, lines: int, count: int) -> tuple[Rect, ...]:
    rows = 1 if count <= 4 or columns // count >= 14 else 2
    in_row = -(-count // rows)
    width = columns // in_row
    height = _foundation_lines(lines, rows, width)
    if height < 3 or width < FRAME_COLUMNS:
        in_row = max(1, min(count, columns // ROW_COLUMNS))
        width, height = columns // in_row, 1
    width = min(width, 30)
    return tuple(Rect(number % in_row * width, number // in_row * height, width, height) for number in range(count))


def _foundation_lines(lines: int, rows: int, width: int) -> int:
    """Return the height of a framed foundation: about a third of the board for all of them, and not a tower."""
    steps = ((44, 11), (36, 10), (30, 9), (26, 7), (19, 5), (12, 4), (11, 3)) if rows == 1 else (
        (44, 9), (34, 7), (28, 5), (19, 4), (15, 3)
    )  # fmt: skip
    height = next((high for least, high in steps if lines >= least), 1)
    return min(height, max(5, width * 6 // 10))
