"""Boards as styled lines of text: foundations with their sequences, piles as fans, a player's whole side. Pure."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final

from rich.text import Text

from fairest_cli.tui.board.card_input import STOCK, fitting_foundations
from fairest_cli.tui.board.card_style import CARD_COLUMNS, CHIP_COLUMNS, GOLD, QUIET, SLIM_COLUMNS, CardStyle
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, rank, rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS
from fairest_protocol.calculation.rules import Foundation

WANTED: Final = f"bold #1d1d1d on {GOLD}"
LETTER: Final = f"bold {GOLD}"
FULL_SIDE_COLUMNS: Final = 37
"""Columns that a player's side needs to show sequences and fans; with fewer, it shows ranks."""


def foundation_row(
    number: int, board: Board, card_style: CardStyle, *, unconfirmed: frozenset[Card] = frozenset(), hints: bool = False
) -> Text:
    """Return a foundation in one line: digit, step, top card, and the sequence with the needed rank in brackets.

    With `hints`, the turned card and the piles that fit follow.
    """
    foundation, cards = board.layout[number], board.foundations[number]
    top = (
        card_style.chip(cards[-1], is_unconfirmed=cards[-1] in unconfirmed)
        if cards
        else Text("  -".ljust(CHIP_COLUMNS), QUIET)
    )
    row = Text.assemble((f" {FOUNDATION_DIGITS[number]} ", LETTER), (f"{foundation.step:+d} ", QUIET), top, " ")
    row.append(sequence(foundation, len(cards)))
    if hints:
        row.append(_foundation_marks(number, board, card_style))
    return row


def sequence(foundation: Foundation, placed: int) -> Text:
    """Return all ranks of a foundation. Each keeps its place for the whole race; only the brackets move."""
    text = Text()
    for index, number in enumerate(foundation.sequence()):
        if index == placed:
            text.append(f"[{rank_name(number)}]", WANTED)
            continue
        before = "" if index == placed + 1 and placed < foundation.length else " "
        text.append(f"{before}{rank_name(number)}", QUIET if index < placed else "")
    if placed != foundation.length - 1:
        text.append(" ")
    return text


def pile_head(number: int, board: Board, *, is_picked: bool, hints: bool, letter: str = "") -> Text:
    """Return a pile's letter, the number of its cards and, with `hints`, the foundations that need its top card."""
    pile = board.piles[number]
    head = Text(f" {letter or PILE_LETTERS[number]} ", f"{WANTED}" if is_picked else LETTER)
    head.append(f" {len(pile)}" if pile else " -", QUIET)
    targets = fitting_foundations(number, board) if hints else []
    if targets:
        digits = "".join(FOUNDATION_DIGITS[target] for target in targets)
        head.append(f" >{digits}", f"bold {GOLD}")
    return head


def fan(
    pile: Sequence[Card], columns: int, lines: int, card_style: CardStyle, unconfirmed: frozenset[Card] = frozenset()
) -> list[Text]:
    """Return the cards of a pile from the bottom downwards, column by column; where there is little room, only ranks.

    Where ranks need too much room as well, the first entry says how many cards at the bottom are left out.
    """
    if lines < 1 or not pile:
        return []
    width = CHIP_COLUMNS if ceil(len(pile) / lines) * (CHIP_COLUMNS + 1) <= columns + 1 else SLIM_COLUMNS
    room = max(1, (columns + 1) // (width + 1)) * lines
    hidden = 0 if len(pile) <= room else len(pile) - room + 1
    chips = [Text(f"+{hidden}".ljust(width), QUIET)] if hidden else []
    chips += [
        card_style.chip(card, width, is_top=index == len(pile) - 1, is_unconfirmed=card in unconfirmed)
        for index, card in enumerate(pile)
        if index >= hidden
    ]
    rows = [Text() for _ in range(min(lines, len(chips)))]
    for index, chip in enumerate(chips):
        row = rows[index % lines]
        if index >= lines:
            row.append(" ")
        row.append(chip)
    return rows


def large_fan(
    pile: Sequence[Card], columns: int, lines: int, card_style: CardStyle, unconfirmed: frozenset[Card] = frozenset()
) -> list[Text]:
    """Return a pile with large cards: one line of each covered card, and as much of the top card as there is room for.

    Where the lines or columns are too few, return a `fan`.
    """
    if not pile or len(pile) > lines or columns < CARD_COLUMNS:
        return fan(pile, columns, lines, card_style, unconfirmed)
    *covered, top = pile
    rows = [card_style.chip(card, CARD_COLUMNS, is_top=False, is_unconfirmed=card in unconfirmed) for card in covered]
    card_lines = card_style.card(top, is_unconfirmed=top in unconfirmed)
    return [*rows, *card_lines[: lines - len(rows)]]


def stock_line(board: Board, card_style: CardStyle) -> Text:
    """Return the turned card and the size of the stock in one line."""
    line = Text(" ")
    if board.turned is not None:
        line.append(card_style.chip(board.turned)).append(f" turned, {board.stock} in the stock", QUIET)
    elif board.stock:
        line.append(f"nothing turned, {board.stock} in the stock", QUIET)
    else:
        line.append("the stock is empty", QUIET)
    return line


def stock_slot(board: Board, card_style: CardStyle, *, is_picked: bool) -> list[Text]:
    """Return the turned card at full size, the cards left in the stock, and the redeals left if there are any."""
    head = Text(" turned ", WANTED if is_picked else QUIET)
    empty = card_style.back() if board.stock else card_style.slot()
    card = empty if board.turned is None else card_style.card(board.turned)
    left = f"{board.stock} to come" if board.stock else "no more"
    lines = [head, *[Text(" ") + line for line in card], Text(f" {left}", QUIET)]
    if board.redeals:
        lines.append(Text(f" {board.redeals} redeal{'s' * (board.redeals > 1)}", QUIET))
    return lines


def side_lines(head: Text, board: Board, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return a player's board below `head` in at most `lines` lines: sequences and fans if they fit, else ranks."""
    piles_lines = lines - len(board.layout) - 4
    if columns < FULL_SIDE_COLUMNS or piles_lines < 4 or columns < (SLIM_COLUMNS + 1) * len(board.piles):
        return _compact_side(head, board, columns, lines, card_style)
    rows = [head, *(_slim_row(number, board) for number in range(len(board.layout))), stock_line(board, card_style)]
    share = columns // len(board.piles)
    heads = [pile_head(number, board, is_picked=False, hints=False) for number in range(len(board.piles))]
    fans = [fan(pile, share - 2, piles_lines, card_style) for pile in board.piles]
    rows += [Text(), _beside(heads, share)]
    rows += [
        _beside([Text(" ") + each[line] if line < len(each) else Text() for each in fans], share)
        for line in range(max(map(len, fans), default=0))
    ]
    return rows[:lines]


def _slim_row(number: int, board: Board) -> Text:
    foundation = board.layout[number]
    row = Text.assemble((f" {FOUNDATION_DIGITS[number]} ", LETTER), (f"{foundation.step:+d} ", QUIET))
    return row.append(sequence(foundation, len(board.foundations[number])))


def _compact_side(head: Text, board: Board, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return the top ranks of the foundations, and a line for each pile if they fit, else their top ranks."""
    tops = [
        Text.assemble((f" {digit} ", LETTER), f"{rank_name(rank(cards[-1])) if cards else '-':<2}")
        for digit, cards in zip(FOUNDATION_DIGITS, board.foundations, strict=False)
    ]
    rows = [head, *_in_lines(tops, columns)]
    left = lines - len(rows)
    if left >= len(board.piles):
        rows += [_pile_line(number, pile, columns) for number, pile in enumerate(board.piles)]
    else:
        rows += _in_lines(
            [
                Text.assemble((f" {letter} ", LETTER), f"{rank_name(rank(pile[-1])) if pile else '-':<2}")
                for letter, pile in zip(PILE_LETTERS, board.piles, strict=False)
            ],
            columns,
        )
    if len(rows) < lines:
        rows.append(stock_line(board, card_style))
    return rows[:lines]


def _pile_line(number: int, pile: Sequence[Card], columns: int) -> Text:
    """Return the ranks of a pile, bottom first; if there are too many, those nearest to the top."""
    names = [rank_name(rank(card)) for card in pile]
    room = columns - 4
    while names and len(" ".join(names)) > room - 2 * (len(names) < len(pile)):
        names.pop(0)
    text = ("… " if len(names) < len(pile) else "") + (" ".join(names) or "-")
    return Text.assemble((f" {PILE_LETTERS[number]} ", LETTER), text)


def _in_lines(parts: Sequence[Text], columns: int) -> Iterator[Text]:
    """Yield lines of parts of the same width, as many in a line as fit."""
    each = max(1, columns // max(1, *(part.cell_len for part in parts)))
    for start in range(0, len(parts), each):
        yield Text().join(parts[start : start + each])


def _beside(parts: Sequence[Text], share: int) -> Text:
    """Return `parts` side by side, each padded to `share` columns."""
    line = Text()
    for part in parts:
        line.append(part)
        line.append(" " * max(0, share - part.cell_len))
    return line


def _foundation_marks(number: int, board: Board, card_style: CardStyle) -> Text:
    """Return the cards that fit this foundation now: the turned card, and the letters of piles."""
    marks = Text("  ")
    if board.turned is not None and number in fitting_foundations(STOCK, board):
        marks.append(f"<{card_style.name(board.turned)}", f"bold {GOLD}")
    letters = [PILE_LETTERS[pile] for pile in range(len(board.piles)) if number in fitting_foundations(pile, board)]
    if letters:
        marks.append("<" + "".join(letters), f"bold {GOLD}")
    return marks
