"""A chart of the cards that both players had placed over time: two step curves in braille dots or digits. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from fairest_cli.session.progress import Points
from fairest_cli.tui.board.card_style import GOLD

STYLES: Final = (f"bold {GOLD}", "bold #6ec6ff")
DIGITS: Final = "12"
"""The curves of the first and the second player where only ASCII is wanted."""
DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a braille character: for each of its four rows from the top, the left and the right dot."""
SCALE_COLUMNS: Final = 4
"""The numbers at the left edge, with a blank."""


def draw_chart(players: Sequence[Points], goal: int, columns: int, lines: int, *, is_ascii: bool = False) -> list[Text]:
    """Return both curves on a scale from 0 to `goal` cards; where they meet, the first player's colour is shown.

    A round that was over at once has level curves. Returns nothing if there is too little room, or no point.
    """
    width, height = columns - SCALE_COLUMNS, lines
    if width < 4 or height < 2 or not goal or not any(players):
        return []
    end_ms = max(1, *(points[-1][0] for points in players if points))
    grids = [braille_cells(step_dots(points, end_ms, goal, width * 2, height * 4)) for points in players]
    rows = []
    for line in range(height):
        row = Text(f"{scale_label(line, height, goal):>3} ", "dim")
        for column in range(width):
            cells = [grid.get((column, line), 0) for grid in grids]
            seat = next((number for number, cell in enumerate(cells) if cell), None)
            if seat is None:
                row.append(" ")
            elif is_ascii:
                row.append(DIGITS[seat], STYLES[seat])
            else:
                row.append(chr(0x2800 + (cells[0] | cells[1] if len(cells) > 1 else cells[0])), STYLES[seat])
        rows.append(row)
    return rows


def step_dots(points: Points, end_ms: int, goal: int, width: int, height: int) -> set[tuple[int, int]]:
    """Return the dots of a step curve: along to the time of the next point, then up to it."""
    dots: set[tuple[int, int]] = set()
    column = level = None
    for at_ms, placed in points:
        to_column = round(at_ms * (width - 1) / end_ms)
        to_level = height - 1 - round(min(placed, goal) * (height - 1) / goal)
        if column is not None and level is not None:
            dots |= {(each, level) for each in range(column, to_column + 1)}
            dots |= {(to_column, each) for each in range(min(level, to_level), max(level, to_level) + 1)}
        dots.add((to_column, to_level))
        column, level = to_column, to_level
    if column is not None and level is not None:
        dots |= {(each, level) for each in range(column, width)}
    return dots


def braille_cells(dots: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the bits of the braille character of each column and line of text that has a dot."""
    cells: dict[tuple[int, int], int] = {}
    for x, y in dots:
        place = (x // 2, y // 4)
        cells[place] = cells.get(place, 0) | DOTS[y % 4][x % 2]
    return cells


def scale_label(line: int, height: int, goal: int) -> str:
    """Return the count that a line stands for, on the first, the middle and the last line; else nothing."""
    if line in (0, height - 1, (height - 1) // 2):
        return str(round(goal * (height - 1 - line) / (height - 1)))
    return ""
