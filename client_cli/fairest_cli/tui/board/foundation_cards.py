"""Foundations as cards: the top card, the wanted rank, the ranks that follow, and how much is done. Pure."""

from functools import lru_cache
from typing import Final

from rich.text import Text

from fairest_cli.tui.board.card_style import (
    CHIP_COLUMNS,
    GOLD,
    LETTER,
    QUIET,
    WANTED,
    CardStyle,
    fitted,
    longest_fit,
)
from fairest_cli.tui.board.large_ranks import WIDEST, large_rank
from fairest_protocol.calculation.cards import Card, rank_name
from fairest_protocol.calculation.moves import FOUNDATION_DIGITS
from fairest_protocol.calculation.rules import Foundation
from fairest_protocol.value import Value

FOLLOWING: Final = 6
"""The most ranks after the wanted one that are shown."""
RANK_COLUMNS: Final = 4
"""The columns of a rank in a sequence: the arrow or a blank, two for the rank, and a blank."""
TOP_CARD: Final = (6, 5)
"""The size of the top card beside a wanted rank in the largest figures."""
COMPLETE: Final = ("COMPLETE", "done")


class FoundationState(Value):
    """All that the drawing of one foundation depends on. `advice` has the longest wording first."""

    number: int
    foundation: Foundation
    cards: tuple[Card, ...]
    is_unconfirmed: bool = False
    advice: tuple[str, ...] = ()
    is_lit: bool = False

    @property
    def wanted(self) -> int | None:
        """The rank needed next, or None on a complete foundation."""
        return self.foundation.next_rank(len(self.cards))

    @property
    def coming(self) -> tuple[int, ...]:
        """The ranks after the wanted one."""
        return self.foundation.sequence()[len(self.cards) + 1 :]


def sequence(foundation: Foundation, placed: int, arrow: str = "►", each: int = RANK_COLUMNS) -> Text:
    """Return all ranks of a foundation, `each` columns for one, with `arrow` before the rank that is wanted next.

    Each rank keeps its place for the whole race.
    """
    text = Text()
    for index, number in enumerate(foundation.sequence()):
        name = rank_name(number)
        if index == placed:
            text.append(f"{arrow}{name}", WANTED).append(" " * (each - 1 - len(name)))
        else:
            text.append(f" {name}".ljust(each), QUIET if index < placed else "")
    return text


def sequence_lines(states: tuple[FoundationState, ...], columns: int, card_style: CardStyle) -> list[Text]:
    """Return a line with the whole sequence of each foundation: with wide gaps and the step where they fit."""
    longest = max(state.foundation.length for state in states)
    heads = [f" {FOUNDATION_DIGITS[state.number]}  by {state.foundation.step:<3}" for state in states]
    each = RANK_COLUMNS if columns >= len(heads[0]) + RANK_COLUMNS * longest else RANK_COLUMNS - 1
    if columns < len(heads[0]) + each * longest:
        heads = [f" {FOUNDATION_DIGITS[state.number]} " for state in states]
    return [
        Text.assemble((head, LETTER), sequence(state.foundation, len(state.cards), card_style.arrow, each))
        for head, state in zip(heads, states, strict=True)
    ]


@lru_cache(maxsize=512)
def foundation_lines(state: FoundationState, columns: int, lines: int, card_style: CardStyle) -> tuple[Text, ...]:
    """Return a foundation as a framed card of that size; in less than three lines, as one line without a frame."""
    if lines < 3:
        return (_foundation_row(state, columns, card_style),)
    inner = _inner_lines(state, columns - 2, lines - 2, card_style)
    digit, step = FOUNDATION_DIGITS[state.number], state.foundation.step
    name = longest_fit((f" {digit}  by {step} ", f" {digit} by {step} ", f"{digit} by {step}", digit), columns - 2)
    footer = longest_fit([each for words in state.advice for each in (f" {words} ", words)], columns - 2)
    framed = card_style.framed(
        inner,
        columns,
        lines,
        title=Text(name, LETTER),
        footer=Text(footer, LETTER) if footer else None,
        is_lit=state.is_lit,
    )
    return tuple(framed)


def progress_bar(placed: int, length: int, columns: int, card_style: CardStyle) -> Text:
    """Return a bar with a column for each card; with half of one where there is less room, else the two numbers."""
    full, empty = ("#", ".") if card_style.is_ascii else ("█", "·")
    if columns >= length:
        return Text.assemble((full * placed, GOLD), (empty * (length - placed), QUIET))
    if card_style.is_ascii or columns < (length + 1) // 2:
        return Text(longest_fit((f"{placed} of {length}", f"{placed}/{length}"), columns), GOLD)
    half = "▌" * (placed % 2)
    left = (length + 1) // 2 - placed // 2 - len(half)
    return Text.assemble((full * (placed // 2) + half, GOLD), (empty * left, QUIET))


def following(state: FoundationState, columns: int) -> str:
    """Return the ranks after the wanted one, as many as fit, at most `FOLLOWING`."""
    names = [rank_name(number) for number in state.coming[:FOLLOWING]]
    while names and len(" ".join(names)) > columns:
        names.pop()
    return " ".join(names)


def _foundation_row(state: FoundationState, columns: int, card_style: CardStyle) -> Text:
    row = Text(f" {FOUNDATION_DIGITS[state.number]} ", WANTED if state.is_lit else LETTER)
    row.append_text(_top_chip(state, card_style)).append(" ")
    if state.wanted is None:
        return fitted(row.append(COMPLETE[0], LETTER), columns)
    row.append_text(_wanted_chip(state, card_style))
    room = columns - row.cell_len - 1
    advice = longest_fit(state.advice, min(room, 9))
    row.append(f" {following(state, room - len(advice) - 2 * bool(advice))}")
    row = fitted(row, columns - len(advice) - 1)
    return row.append(advice, LETTER).append(" ")


def _inner_lines(state: FoundationState, columns: int, lines: int, card_style: CardStyle) -> list[Text]:
    """Return what stands within the frame, from the top card down to the bar."""
    chip = _top_chip(state, card_style, 5 if columns >= 10 else 4 if columns >= 8 else 3)
    wanted = _wanted_chip(state, card_style, has_room=columns >= chip.cell_len + 5 and lines > 1)
    if lines == 1:
        row = _spread(chip, wanted, min(columns, chip.cell_len + 4))
        return [row.append(f" {following(state, columns - row.cell_len - 1)}")]
    figure_room = lines - 2 if columns >= CHIP_COLUMNS + 1 + WIDEST else lines - 3
    figure = large_rank(state.wanted or 1, columns - 2, figure_room, is_ascii=card_style.is_ascii)
    if figure:
        return _with_figure(state, figure, columns, lines, card_style)
    rows = [_spread(chip, wanted, columns)]
    if lines >= 4:
        rows.append(Text())
    rows.append(_follow_line(state, columns))
    if lines >= 3:
        rows += [Text()] * (lines - len(rows) - 1)
        rows.append(_bar_line(state, columns, card_style))
    return rows


def _with_figure(
    state: FoundationState, figure: tuple[str, ...], columns: int, lines: int, card_style: CardStyle
) -> list[Text]:
    """Return the inner lines with the wanted rank in large figures, beside the top card or below it."""
    is_doubled = len(figure) == 5 and (not card_style.is_ascii or columns >= 2 * WIDEST + 2)
    widest = 2 * WIDEST if is_doubled else WIDEST
    card_columns, card_lines = CHIP_COLUMNS, 1
    if is_doubled and columns >= TOP_CARD[0] + 2 + widest:
        card_columns, card_lines = TOP_CARD
    elif columns == CHIP_COLUMNS + 1 + widest:
        card_columns = CHIP_COLUMNS - 1
    top = [Text(" -", QUIET)]
    if state.cards:
        top = card_style.card(state.cards[-1], card_columns, card_lines, is_unconfirmed=state.is_unconfirmed)
    is_beside = columns >= card_columns + 2 + widest
    rows: list[Text] = []
    if not is_beside:
        count = Text(f"{len(state.cards)} of {state.foundation.length} ", QUIET)
        rows.append(_spread(top[0], count, columns))
        top, card_columns = [], 0
    spare = lines - len(rows) - len(figure) - 2
    rows += [Text()] * (spare > 1)
    rows += _figure_rows(state, figure, top, card_columns, columns - card_columns, card_style)
    rows += [Text()] * min(spare, 1)
    rows.append(_follow_line(state, columns))
    rows += [Text()] * (lines - len(rows) - 1)
    rows.append(_bar_line(state, columns, card_style))
    return rows


def _figure_rows(
    state: FoundationState, figure: tuple[str, ...], top: list[Text], left: int, room: int, card_style: CardStyle
) -> list[Text]:
    """Return `top` in `left` columns, and in `room` columns the figure behind the arrow, or the word for complete."""
    rows = []
    for line, word in enumerate(figure):
        is_middle = line == len(figure) // 2
        if state.wanted is None:
            body = longest_fit(COMPLETE, room) if is_middle else ""
        else:
            body = f"{card_style.arrow if is_middle else ' '} {word}"
        # Appended to another text, the colours of the card do not reach into the figure.
        row = Text().append_text(fitted(top[line] if line < len(top) else Text(), left))
        rows.append(row.append(" " * max(0, (room - len(body)) // 2) + body, LETTER))
    return rows


def _follow_line(state: FoundationState, columns: int) -> Text:
    if not state.coming:
        return Text()
    lead = " then " if columns >= 18 else " " if columns >= CHIP_COLUMNS + 4 else ""
    return Text(lead, QUIET).append(following(state, columns - len(lead)), "default")


def _bar_line(state: FoundationState, columns: int, card_style: CardStyle) -> Text:
    placed, length = len(state.cards), state.foundation.length
    numbers = f" {placed}/{length}"
    indent = 1 if columns >= length + 2 else 0
    has_numbers = columns >= length + indent + len(numbers) + 1
    line = Text(" " * indent).append_text(progress_bar(placed, length, columns - indent, card_style))
    return line.append(numbers, QUIET) if has_numbers else line


def _top_chip(state: FoundationState, card_style: CardStyle, columns: int = 4) -> Text:
    if not state.cards:
        return Text(" -".ljust(columns), QUIET)
    return card_style.chip(state.cards[-1], columns, is_unconfirmed=state.is_unconfirmed)


def _wanted_chip(state: FoundationState, card_style: CardStyle, *, has_room: bool = False) -> Text:
    """Return the wanted rank behind the arrow, with a blank on each side if there is room, or the word for complete."""
    if state.wanted is None:
        return Text("done", LETTER)
    words = f"{card_style.arrow}{rank_name(state.wanted)}"
    return Text(f" {words} " if has_room else words, WANTED)


def _spread(left: Text, right: Text, columns: int) -> Text:
    """Return `left` at the left edge and `right` at the right edge of that width."""
    gap = " " * max(0, columns - left.cell_len - right.cell_len)
    return Text().append_text(left).append(gap).append_text(right)
