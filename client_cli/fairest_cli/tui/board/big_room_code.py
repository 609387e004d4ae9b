"""A room code in letters three lines high, to be read from across the room. Pure."""

from collections.abc import Sequence
from typing import Final

LINES: Final = 3
DOTS: Final = {
    "a": ".#. #.# ### #.# #.#", "b": "##. #.# ##. #.# ##.", "c": ".## #.. #.. #.. .##", "d": "##. #.# #.# #.# ##.",
    "e": "### #.. ##. #.. ###", "f": "### #.. ##. #.. #..", "g": ".## #.. #.# #.# .##", "h": "#.# #.# ### #.# #.#",
    "i": "### .#. .#. .#. ###", "j": "..# ..# ..# #.# .#.", "k": "#.# #.# ##. #.# #.#", "l": "#.. #.. #.. #.. ###",
    "m": "#...# ##.## #.#.# #...# #...#", "n": "#..# ##.# #.## #..# #..#", "o": ".#. #.# #.# #.# .#.",
    "p": "##. #.# ##. #.. #..", "q": ".##. #..# #..# #.## .###", "r": "##. #.# ##. #.# #.#", "s": ".## #.. .#. ..# ##.",
    "t": "### .#. .#. .#. .#.", "u": "#.# #.# #.# #.# ###", "v": "#.# #.# #.# #.# .#.",
    "w": "#...# #...# #.#.# ##.## #...#", "x": "#.# #.# .#. #.# #.#", "y": "#.# #.# .#. .#. .#.",
    "z": "### ..# .#. #.. ###", "-": "... ... ### ... ...",
}  # fmt: skip
"""For each letter, five rows of dots from the top."""
BLOCKS: Final = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def in_large_letters(code: str, columns: int, lines: int) -> list[str]:
    """Return `code` in large letters: in one row if it fits, else in a row for each word.

    If that does not fit either, return it `in_spaced_capitals`.
    """
    words = code.split("-")
    for rows in ([code], [f"{word}-" for word in words[:-1]] + words[-1:]):
        drawn = [_row(row) for row in rows]
        if len(rows) * LINES <= lines and all(len(row[0]) <= columns for row in drawn):
            return [line for row in drawn for line in row]
    return in_spaced_capitals(code, columns)


def in_spaced_capitals(code: str, columns: int) -> list[str]:
    """Return `code` in capitals of normal size, with blanks between them if there is room."""
    capitals = code.upper()
    wide = " ".join(capitals)
    return [wide if len(wide) <= columns else capitals]


def _row(text: str) -> Sequence[str]:
    letters = [DOTS[letter].split() for letter in text if letter in DOTS]
    dots = [".".join(letter[row] for letter in letters) for row in range(5)] + [""]
    width = len(dots[0])
    return [
        "".join(
            BLOCKS[dots[line * 2][column] == "#", dots[line * 2 + 1][column : column + 1] == "#"]
            for column in range(width)
        )
        for line in range(LINES)
    ]
