"""Piles, the turned card and the stock: each card of a pile in a row, or its ranks side by side above the top. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rich.text import Text

from fairest_cli.tui.board.advice import Wordings
from fairest_cli.tui.board.card_style import (
    LETTER,
    QUIET,
    SLIM_COLUMNS,
    WANTED,
    CardStyle,
    fitted,
    longest_fit,
)
from fairest_protocol.calculation.cards import Card
from fairest_protocol.value import Value

MAX_CARD_COLUMNS, MAX_CARD_LINES = 30, 13
MOST_PEEK_LINES: Final = 4
"""The most lines of a covered card: its name, and blank paper below it."""
USUAL_PILE: Final = 8
"""Room is kept for so many cards in each pile, so that the cards seldom change their height."""


class PileState(Value):
    """All that the drawing of one pile depends on. `letter` is the key of the pile, `dead` the cards to be dimmed."""

    letter: str
    cards: tuple[Card, ...]
    peek_lines: int = 1
    unconfirmed: frozenset[Card] = frozenset()
    dead: frozenset[Card] = frozenset()
    advice: Wordings = ()
    is_picked: bool = False
    is_lit: bool = False


class StockState(Value):
    """All that the drawing of the turned card and of the stock depends on. `advice` has the wordings of each line."""

    turned: Card | None
    left: int
    redeals: int
    advice: tuple[Wordings, ...] = ()
    is_picked: bool = False
    is_lit: bool = False


def card_lines_of(columns: int) -> int:
    """Return the height of a card of that width."""
    return max(2, min(MAX_CARD_LINES, round(columns * 0.65)))


def peek_lines_of(longest: int, columns: int, lines: int) -> int:
    """Return how many lines of a covered card are seen where the longest pile has that many cards."""
    covered = max(longest, USUAL_PILE) - 1
    return max(1, min(MOST_PEEK_LINES, (lines - card_lines_of(columns)) // covered))


@lru_cache(maxsize=512)
def pile_lines(
    state: PileState, columns: int, lines: int, card_style: CardStyle, *, has_tray: bool
) -> tuple[Text, ...]:
    """Return a pile of that size: its head, its cards from the bottom downwards, and in a tray the frame round them."""
    mark = _mark(card_style, is_picked=state.is_picked, is_lit=state.is_lit)
    head_style = WANTED if state.is_picked or state.is_lit else LETTER
    count = str(len(state.cards)) if state.cards else "-"
    if has_tray:
        inner = fan(state, columns - 3, lines - 2, card_style, has_slot=False)
        gap = " " if columns >= 10 else ""
        title = Text.assemble((f"{mark}{state.letter}", head_style), (f" {gap}{count}{gap}", QUIET))
        footer = longest_fit([f" {words} " for words in state.advice], columns - 3)
        foot, width = Text(footer, LETTER), columns - 1
        return tuple(card_style.framed(inner, width, lines, title=title, footer=foot, is_lit=state.is_lit, margin=1))
    head = Text(f"{mark}{state.letter} ", head_style)
    room = columns - head.cell_len
    words = longest_fit(state.advice, room - len(count) - 1)
    if words or not state.advice:
        counted = f"{count:>2}" if len(words) + 3 <= room else count
        head.append(counted, QUIET).append(f" {words}" if words else "", LETTER)
    else:
        head.append(longest_fit(state.advice, room), LETTER)
    return tuple(fitted(line, columns) for line in (head, *fan(state, columns - 1, lines - 1, card_style)))


def fan(state: PileState, columns: int, lines: int, card_style: CardStyle, *, has_slot: bool = True) -> list[Text]:
    """Return the cards of a pile. The top card is last and lies over the whole width.

    Each covered card has a row of its own, or more. If the rows are too few, the covered cards lie side by side in
    rows, in the order in which they were laid. If even these do not fit, the first entry counts the cards left out.
    """
    if lines < 1:
        return []
    if not state.cards:
        return (
            card_style.slot(min(columns, MAX_CARD_COLUMNS), min(lines, card_lines_of(columns)))
            if has_slot and lines > 1
            else []
        )
    *covered, top = state.cards
    width = min(columns, MAX_CARD_COLUMNS)
    if not covered or len(covered) + 2 <= lines:
        rows = _in_rows(state, covered, width, lines, card_style)
    else:
        rows = _in_cells(state, covered, columns, lines, card_style)
    height = min(lines - len(rows), card_lines_of(width))
    if top in state.dead:
        face = [card_style.chip(top, width, is_dead=True)]
    else:
        face = card_style.card(top, width, height, is_unconfirmed=top in state.unconfirmed)
    return [*rows, *face]


@lru_cache(maxsize=64)
def stock_lines(
    state: StockState, columns: int, lines: int, card_style: CardStyle, *, has_tray: bool
) -> tuple[Text, ...]:
    """Return the turned card with its advice below it, the number of cards in the stock, and its back where it fits."""
    mark = _mark(card_style, is_picked=state.is_picked, is_lit=state.is_lit)
    title = Text(f"{mark}turned ", WANTED if state.is_picked or state.is_lit else QUIET)
    width, height = (columns - 3, lines - 2) if has_tray else (columns - 1, lines - 1)
    left = (f"{state.left} to come", f"{state.left} left") if state.left else ("stock empty", "empty")
    redeals = (f"{state.redeals} redeal{'s' * (state.redeals > 1)}", f"redeal {state.redeals}", f"r x{state.redeals}")
    notes = [_note(words, width, LETTER) for words in state.advice] + [_note(left, width, QUIET)]
    if state.redeals:
        notes.append(_note(redeals, width, QUIET))
    face_lines = max(1, min(card_lines_of(width), height - len(notes)))
    if state.turned is not None:
        face = card_style.card(state.turned, width, face_lines)
    else:
        face = card_style.back(width, face_lines) if state.left else card_style.slot(width, face_lines)
    inner = [*face, *notes]
    spare = height - len(inner) - 1
    if state.turned is not None and state.left and spare >= face_lines:
        # The stock itself lies where there is room for it, with its number above.
        inner = [*inner, Text(), *card_style.back(width, face_lines)]
    if has_tray:
        return tuple(card_style.framed(inner, columns - 1, lines, title=title, is_lit=state.is_lit, margin=1))
    return tuple(fitted(line, columns) for line in (title, *inner)[:lines])


def _in_rows(state: PileState, covered: Sequence[Card], columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return a row for each covered card, or as many as `peek_lines` says if the top card still has two lines."""
    peek = state.peek_lines if len(covered) * state.peek_lines + 2 <= lines else 1
    rows: list[Text] = []
    for index, card in enumerate(covered):
        is_dead = card in state.dead
        row = card_style.chip(
            card, columns, is_top=False, is_unconfirmed=card in state.unconfirmed, is_dead=is_dead, tone=index
        )
        blank = Text(" " * columns, "" if is_dead else card_style.style(card, is_top=False, tone=index))
        rows += [row, *[blank] * (peek - 1)]
    return rows


def _in_cells(state: PileState, covered: Sequence[Card], columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return the covered cards side by side, with suits if they fit, else ranks; the top has two lines left, or one."""
    width, in_row, room = SLIM_COLUMNS, 1, 1
    for width, top_lines in ((4, 2), (4, 1), (SLIM_COLUMNS, 2), (SLIM_COLUMNS, 1)):
        if width > columns:
            continue
        gap = 1 if width == 4 else 0
        in_row = max(1, (columns + gap) // (width + gap))
        room = max(0, lines - top_lines) * in_row
        if len(covered) <= room:
            break
    hidden = len(covered) - room + 1 if len(covered) > room else 0
    if not room:
        return []
    cells = [Text(f"+{hidden}".ljust(width), QUIET)] if hidden else []
    cells += [
        card_style.chip(
            card,
            width,
            is_top=False,
            is_unconfirmed=card in state.unconfirmed,
            is_dead=card in state.dead,
            tone=index + index // in_row,
        )
        for index, card in enumerate(covered)
        if index >= hidden
    ]
    separator = Text(" " if width == 4 else "")
    return [separator.join(cells[start : start + in_row]) for start in range(0, len(cells), in_row)]


def _note(wordings: Wordings, columns: int, style: str) -> Text:
    """Return the longest of `wordings` that fits, after a blank if there is room for one."""
    words = longest_fit(wordings, columns)
    return Text(f" {words}" if len(words) < columns else words, style)


def _mark(card_style: CardStyle, *, is_picked: bool, is_lit: bool) -> str:
    """Return the sign before a head: picked up, lit, or nothing."""
    if is_picked:
        return "^" if card_style.is_ascii else "▲"
    return "*" if is_lit else " "
