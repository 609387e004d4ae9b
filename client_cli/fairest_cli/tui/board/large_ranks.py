"""Ranks in figures three or five lines high, to be read from a distance. Pure."""

from functools import cache
from typing import Final

from fairest_protocol.calculation.cards import rank_name

DOTS: Final = {
    "A": ".##. #..# #### #..# #..#", "2": "###. ...# .##. #... ####", "3": "###. ...# .##. ...# ###.",
    "4": "#..# #..# #### ...# ...#", "5": "#### #... ###. ...# ###.", "6": ".##. #... ###. #..# .##.",
    "7": "#### ...# ..#. .#.. .#..", "8": ".##. #..# .##. #..# .##.", "9": ".##. #..# .### ...# .##.",
    "10": ".#..##. ##.#..# .#.#..# .#.#..# .#..##.", "J": "..## ...# ...# #..# .##.",
    "Q": ".##. #..# #..# #.#. .#.#", "K": "#..# #.#. ##.. #.#. #..#",
}  # fmt: skip
"""For each rank, five rows of dots from the top."""
FIGURES: Final = {"0": ".##. #..# #..# #..# .##.", "1": ".#. ##. .#. .#. ###"}
"""The figures that no rank shows by itself."""
BLOCKS: Final = {"..": " ", "#.": "▀", ".#": "▄", "##": "█"}
WIDEST: Final = 7
"""The dots across of a ten. A size is chosen for the widest rank, so that all ranks of a board have the same size."""


@cache
def large_number(number: int, columns: int, lines: int, *, is_ascii: bool = False) -> tuple[str, ...]:
    """Return a number in the largest figures that fit into the room, or in one line of normal size."""
    figures = [(FIGURES.get(figure) or DOTS[figure]).split() for figure in str(number)]
    rows = [".".join(parts) for parts in zip(*figures, strict=True)]
    return _inked(rows, columns, lines, len(rows[0]), is_ascii=is_ascii) or (str(number),)[: max(0, lines)]


@cache
def large_rank(number: int, columns: int, lines: int, *, is_ascii: bool = False) -> tuple[str, ...]:
    """Return a rank in the largest figure that fits into the room, all lines of one width; none if there is no room."""
    return _inked(DOTS[rank_name(number)].split(), columns, lines, WIDEST, is_ascii=is_ascii)


def _inked(rows: list[str], columns: int, lines: int, widest: int, *, is_ascii: bool) -> tuple[str, ...]:
    """Return five rows of dots, a dot in two columns or in half a line, or nothing, by the room for `widest` dots."""
    if lines >= 5 and columns >= 2 * widest:
        ink = "##" if is_ascii else "██"
        return tuple(row.replace(".", "  ").replace("#", ink) for row in rows)
    if is_ascii:
        return tuple(row.replace(".", " ") for row in rows) if lines >= 5 and columns >= widest else ()
    if lines < 3 or columns < widest:
        return ()
    rows = [*rows, "." * len(rows[0])]
    return tuple(
        "".join(BLOCKS[top + bottom] for top, bottom in zip(rows[line], rows[line + 1], strict=True))
        for line in (0, 2, 4)
    )
