"""The other player's board in few lines: the wanted ranks, and the ranks of the piles as text. Pure."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rich.text import Text

from fairest_cli.tui.board.card_style import LETTER, QUIET, CardStyle, fitted, longest_fit
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.cards import Card, rank, rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS, PILE_LETTERS


@lru_cache(maxsize=32)
def _compact(board: Board, columns: int, lines: int, card_style: CardStyle) -> tuple[Text, ...]:
    wants = _wanted_parts(board, card_style)
    rows = [*_in_lines(wants, columns)]
    if len(rows) + len(board.piles) <= lines:
        rows += [_pile_line(number, pile, columns, card_style) for number, pile in enumerate(board.piles)]
    else:
        rows += [*_in_lines(_top_parts(board, card_style), columns)]
    if len(rows) < lines:
        rows.append(_stock_line(board, columns, card_style))
    return tuple(fitted(row, columns) for row in rows[:lines])


def compact_side(head: Text, board: Board, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return the wanted ranks below `head`, and a line for each pile if they fit, else the tops of the piles.

    In two lines or one, the head and the wanted ranks, then the tops, stand side by side as far as they fit.
    """
    if lines <= 2:
        wanted = Text().join(_wanted_parts(board, card_style))
        if head.cell_len + 1 + wanted.cell_len > columns:
            wanted = _wanted_ranks(board, card_style)
        first = fitted(head, max(0, min(head.cell_len, columns - wanted.cell_len)))
        first = Text().append_text(first).append_text(wanted)
        second = Text(" tops", QUIET).append_text(Text().join(_top_parts(board, card_style)))
        return [fitted(row, columns) for row in (first, second)][:lines]
    return [fitted(head, columns), *_compact(board, columns, lines - 1, card_style)]


def head_columns(board: Board, columns: int, lines: int, card_style: CardStyle) -> int:
    """Return the columns that the head of the side board has, beside the wanted ranks where these stand in its line."""
    return columns - _wanted_ranks(board, card_style).cell_len if lines <= 2 else columns


def _wanted_parts(board: Board, card_style: CardStyle) -> list[Text]:
    """Return for each foundation its digit and the rank that it needs next."""
    parts = []
    for digit, wanted in zip(FOUNDATION_DIGITS, board.next_ranks(), strict=False):
        needs = "done " if wanted is None else f"{card_style.arrow}{rank_name(wanted):<4}"
        parts.append(Text.assemble((f" {digit} ", LETTER), needs))
    return parts


def _wanted_ranks(board: Board, card_style: CardStyle) -> Text:
    """Return the wanted ranks without the digits, which are those of the board above in the same order."""
    names = ["done" if wanted is None else f"{card_style.arrow}{rank_name(wanted)}" for wanted in board.next_ranks()]
    return Text(f"  {' '.join(names)}")


def _top_parts(board: Board, card_style: CardStyle) -> list[Text]:
    """Return for each pile its letter and its top card."""
    parts = []
    for letter, pile in zip(PILE_LETTERS, board.piles, strict=False):
        part = Text(f" {letter} ", LETTER)
        parts.append(part.append_text(_chip(pile[-1], card_style) if pile else Text(" -   ", QUIET)))
    return parts


def _chip(card: Card, card_style: CardStyle) -> Text:
    return Text(f" {rank_name(rank(card))} ", card_style.style(card)).append("" if rank(card) == 10 else " ", "default")


def _pile_line(number: int, pile: Sequence[Card], columns: int, card_style: CardStyle) -> Text:
    """Return the number of cards of a pile and their ranks, bottom first; if there are too many, those near the top."""
    line = Text(f" {PILE_LETTERS[number]} ", LETTER)
    if not pile:
        return line.append(" -", QUIET)
    names = [rank_name(rank(card)) for card in pile[:-1]]
    room = columns - line.cell_len - 6
    while names and len(" ".join(names)) > room - 4 * (len(names) < len(pile) - 1):
        names.pop(0)
    hidden = len(pile) - 1 - len(names)
    if hidden:
        line.append(f"+{hidden} ", QUIET)
    if names:
        line.append(f"{' '.join(names)} ")
    return line.append(f" {rank_name(rank(pile[-1]))} ", card_style.style(pile[-1]))


def _stock_line(board: Board, columns: int, card_style: CardStyle) -> Text:
    line = Text(" ")
    if board.turned is not None:
        line.append_text(card_style.chip(board.turned))
        wordings = (f" turned, {board.stock} to come", f" turned, {board.stock} left")
        return line.append(longest_fit(wordings, columns - line.cell_len), QUIET)
    return line.append(f"{board.stock} to come" if board.stock else "stock empty", QUIET)


def _in_lines(parts: Sequence[Text], columns: int) -> Iterator[Text]:
    """Yield lines of parts of the same width, as many in a line as fit."""
    each = max(1, columns // max(1, *(part.cell_len for part in parts)))
    for start in range(0, len(parts), each):
        yield Text().join(parts[start : start + each])
