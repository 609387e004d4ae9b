"""The chart of a race that is on: our curve, the other player's up to the horizon, and its ticks ahead. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Final

from rich.text import Text

from fairest_cli.session.progress import Points
from fairest_cli.tui.board.card_style import LETTER, QUIET, CardStyle, fitted, longest_fit
from fairest_cli.tui.board.progress_chart import SCALE_COLUMNS, STYLES, braille_cells, scale_label, step_dots
from fairest_protocol.value import Value

AHEAD_STYLE: Final = "#3f7f9f"
"""The counts of the ticks ahead of the board that is shown: the other player's colour, darker."""
FIRST_SPAN_MS: Final = 60_000
"""The chart begins with a minute, and doubles its span whenever the race reaches its right edge."""
LEAST_GOAL: Final = 13
"""The chart begins with a quarter of the cards, and doubles its height in the same way."""
BLANK: Final = (" ", "")
"""A place without a dot, and its style."""


class RaceCurves(Value):
    """The curves of a chart: our counts, the counts of the other board, and those of the other player's ticks."""

    ours: Points
    theirs: Points
    ticks: Points
    goal: int
    now_ms: int


def race_chart(
    curves: RaceCurves, names: tuple[str, str], columns: int, lines: int, card_style: CardStyle
) -> tuple[Text, ...]:
    """Return the chart below a line that names its curves; nothing if there is too little room.

    What is drawn depends on the time only in whole columns, so most calls return what the one before did.
    """
    width = columns - SCALE_COLUMNS - 1
    if width < 8 or lines < 4:
        return ()
    span = span_ms(curves.now_ms)
    column = curves.now_ms * width * 2 // span
    return _drawn(curves.ours, curves.theirs, curves.ticks, curves.goal, column, span, names, width, lines, card_style)


def span_ms(now_ms: int) -> int:
    """Return the time that the chart covers at that time of the race."""
    span = FIRST_SPAN_MS
    while span < now_ms:
        span *= 2
    return span


def top_of(count: int, goal: int) -> int:
    """Return the count at the upper edge of the chart while the leader has that many cards."""
    top = min(LEAST_GOAL, goal)
    while top < min(count, goal):
        top = min(goal, top * 2)
    return top


@lru_cache(maxsize=8)
def _drawn(
    ours: Points,
    theirs: Points,
    ticks: Points,
    goal: int,
    now_column: int,
    span: int,
    names: tuple[str, str],
    width: int,
    lines: int,
    card_style: CardStyle,
) -> tuple[Text, ...]:
    height = lines - 1
    top = top_of(max((points[-1][1] for points in (ours, theirs, ticks) if points), default=0), goal)
    dotted = [_until(step_dots(points, span, top, width * 2, height * 4), now_column) for points in (ours, theirs)]
    ahead = {dot for dot in _until(step_dots(ticks, span, top, width * 2, height * 4), now_column) if sum(dot) % 2}
    grids = [braille_cells(dots) for dots in (*dotted, ahead - dotted[1])]
    rows = [_legend(names, width + SCALE_COLUMNS, card_style)]
    cells = {place: _cell([grid.get(place, 0) for grid in grids], card_style) for grid in grids for place in grid}
    for line in range(height):
        row = Text(f"{scale_label(line, height, top):>3} ", QUIET)
        drawn = (cells.get((column, line), BLANK) for column in range(width))
        # One piece of text for all neighbours of a style: most of the chart is blank.
        for style, group in groupby(drawn, key=itemgetter(1)):
            row.append("".join(character for character, _ in group), style or None)
        rows.append(row)
    return tuple(rows)


def _cell(bits: Sequence[int], card_style: CardStyle) -> tuple[str, str]:
    """Return one character and its style: our curve covers the other one, and both cover the ticks."""
    first = next(number for number, each in enumerate(bits) if each)
    style = (*STYLES, AHEAD_STYLE)[first]
    if card_style.is_ascii:
        return "12."[first], style
    return chr(0x2800 + (bits[2] if first == 2 else bits[0] | bits[1])), style


def _until(dots: set[tuple[int, int]], column: int) -> set[tuple[int, int]]:
    """Return the dots up to the present time: a curve does not go on into the future."""
    return {dot for dot in dots if dot[0] <= column}


def _legend(names: tuple[str, str], columns: int, card_style: CardStyle) -> Text:
    marks = ("1", "2", ".") if card_style.is_ascii else ("━", "━", "┅")
    wordings = ("counted, not shown yet", "counted", "")
    used = sum(len(name) + 4 for name in names) + len(" The race so far")
    ahead = longest_fit(wordings, columns - used - 4)
    text = Text.assemble((" The race so far", LETTER))
    for mark, name, style in zip(marks, (*names, ahead), (*STYLES, AHEAD_STYLE), strict=True):
        if name:
            text.append(f"  {mark} ", style).append(name, QUIET)
    return fitted(text, columns)
