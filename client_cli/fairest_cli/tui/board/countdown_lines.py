"""The countdown in the middle of the terminal: the seconds in large figures, the check words, the foundations. Pure."""

from collections.abc import Sequence
from functools import lru_cache

from rich.text import Text

from fairest_cli.tui.board.board_lines import foundation_row, sequence_rows
from fairest_cli.tui.board.card_style import GOLD, LETTER, QUIET, CardStyle, longest_fit
from fairest_cli.tui.board.large_ranks import large_number
from fairest_protocol.calculation.board import Board

FULL_COLUMNS = 64
"""From this width on, a foundation has its step, its starter and wide gaps."""


@lru_cache(maxsize=4)
def countdown_lines(
    seconds: int | None, words: Sequence[str], board: Board | None, columns: int, lines: int, card_style: CardStyle
) -> tuple[Text, ...]:
    """Return `lines` lines with everything in their middle. Blanks give way first where there is little room.

    A deal without a seal has no check words.
    """
    rows: list[Text] = []
    if board is not None:
        rows = (
            [foundation_row(number, board, card_style) for number in range(len(board.layout))]
            if columns >= FULL_COLUMNS
            else sequence_rows(board, columns, card_style)
        )
    heads = (f"{card_style.arrow} is the rank that each foundation needs next, in any suit", "What each needs next")
    checks = ("Everybody with this deal sees the same check words:", "Check words, the same for both:")
    check = [
        Text(longest_fit(checks, columns), QUIET),
        Text(longest_fit((" ".join(words), " ".join(words[:2])), columns), f"bold {GOLD}"),
    ]
    block = [
        *(check if words else ()),
        Text(longest_fit(heads, columns), QUIET),
        *rows,
    ]
    room = lines - len(block)
    figure: Sequence[str] = (
        () if seconds is None else large_number(seconds, columns, room, is_ascii=card_style.is_ascii)
    )
    spare = room - len(figure)
    if spare >= 3:
        block.insert(2 if words else 0, Text())
        block.insert(0, Text())
        spare -= 2
    width = max((row.cell_len for row in rows), default=0)
    left = [" " * ((columns - (width if row in rows else row.cell_len)) // 2) for row in block]
    centred = [Text.assemble(gap, row) for gap, row in zip(left, block, strict=True)]
    large = [Text(line.center(columns), LETTER) for line in figure]
    return (*[Text()] * (spare // 2), *large, *centred)
