"""The head of a race in one line: both counts as bars that grow towards each other, the lead, and the clock. Pure."""

from typing import Final

from rich.text import Text

from fairest_cli.tui.board.card_style import GOLD, LETTER, QUIET, WANTED, CardStyle, fitted
from fairest_cli.tui.board.standing import LAST_CARDS
from fairest_protocol.value import Value

RIVAL: Final = "#6ec6ff"
"""The colour of the other player, as in the chart of a result."""
COLOUR_OF_LATE: Final = "#ff8a70"
HURRY_SECONDS: Final = 60
"""The clock is red when fewer seconds are left."""
LEAST_BAR: Final = 4
"""Bars shorter than this say too little, so the names are cut instead."""
CENTRE_COLUMNS: Final = 22
"""The widest centre, `12 ahead   19:08 left`, with blanks, so that the bars never move while a race is on."""
SHORT_CENTRE_COLUMNS: Final = 12
GAPS: Final = 4
"""The blanks of a side: at both ends, and round the count."""


class RaceHead(Value):
    """All that the head shows. `names` and `counts` are ours first, `clock` is what is left of the time, or empty.

    `seconds` is the same time as a number, and `is_flashing` marks a change of lead.
    """

    names: tuple[str, str]
    counts: tuple[int, int]
    goal: int
    clock: str = ""
    seconds: float | None = None
    is_flashing: bool = False
    is_over: bool = False

    @property
    def lead(self) -> int:
        """The cards that we are ahead, negative if the other player is."""
        return self.counts[0] - self.counts[1]


def lead_bar(head: RaceHead, columns: int, card_style: CardStyle) -> Text:
    """Return the head in `columns` columns: our bar from the left, the other player's from the right.

    Both bars have the same length for the same number of cards, so the longer one leads. Between them stand the lead
    and the clock. Nothing moves while a race is on but the bars.
    """
    is_wide = columns >= 2 * (CENTRE_COLUMNS + LEAST_BAR)
    middle = CENTRE_COLUMNS if is_wide else SHORT_CENTRE_COLUMNS
    side = (columns - middle) // 2
    names, counts, width = _labels(head, side)
    bar_columns = side - GAPS - width
    bars = [
        _bar(count, head.goal, bar_columns, style, card_style, is_mirrored=seat == 1)
        for seat, (count, style) in enumerate(zip(head.counts, (GOLD, RIVAL), strict=True))
    ]
    marks = [f"bold {COLOUR_OF_LATE}" if _is_close(head, seat) else f"bold {(GOLD, RIVAL)[seat]}" for seat in (0, 1)]
    gaps = [" " * (width - len(name) - len(count)) for name, count in zip(names, counts, strict=True)]
    ours = Text.assemble(" ", (names[0], "bold"), " ", (counts[0], marks[0]), gaps[0], " ", bars[0], " ")
    theirs = Text.assemble(" ", bars[1], " ", gaps[1], (counts[1], marks[1]), " ", (names[1], "bold"), " ")
    centre = _centre(head, columns - 2 * side, is_wide=is_wide)
    return Text.assemble(ours, centre, theirs)


def _labels(head: RaceHead, columns: int) -> tuple[tuple[str, str], tuple[str, str], int]:
    """Return the names, the counts, and the width of both together without the blank between them.

    The counts are in full words if the bars keep half a column for each card.
    """
    widest = max(map(len, head.names))
    full = len(f"{head.goal} of {head.goal}")
    has_words = columns - GAPS - widest - full >= (head.goal + 1) // 2
    wide = full if has_words else 2
    room = max(3, min(widest, columns - GAPS - wide - 2 * LEAST_BAR))
    first, second = (name if len(name) <= room else f"{name[: room - 1]}." for name in head.names)
    if not has_words:
        ours, theirs = (f"{count:>2}" for count in head.counts)
    else:
        ours, theirs = (
            f"{head.goal - count} to go" if _is_close(head, seat) else f"{count} of {head.goal}"
            for seat, count in enumerate(head.counts)
        )
    return (first, second), (ours, theirs), room + wide


def _is_close(head: RaceHead, seat: int) -> bool:
    """Whether a player has only the last cards to place."""
    return not head.is_over and 0 < head.goal - head.counts[seat] <= LAST_CARDS


def describe_lead(lead: int) -> str:
    """Return a lead as players say it: `+3`, `-2` or `even`."""
    return f"{lead:+d}" if lead else "even"


def _centre(head: RaceHead, columns: int, *, is_wide: bool) -> Text:
    lead = Text(f" {describe_lead(head.lead)} ", WANTED if head.is_flashing else LETTER if head.lead >= 0 else RIVAL)
    is_short = head.seconds is not None and head.seconds < HURRY_SECONDS
    words = f"{head.clock} left" if is_wide and head.clock else head.clock
    clock = Text(words, f"bold {COLOUR_OF_LATE}" if is_short else "bold")
    both = Text.assemble(lead, "  " if is_wide else " ", clock)
    left = max(0, (columns - both.cell_len) // 2)
    return fitted(Text.assemble(" " * left, both), columns)


def _bar(count: int, goal: int, columns: int, style: str, card_style: CardStyle, *, is_mirrored: bool) -> Text:
    """Return a bar in half columns; mirrored, it grows from the right."""
    halves = min(2 * columns, round(2 * columns * count / goal)) if goal else 0
    if count and not halves:
        halves = 1
    full, half, empty = ("=", "-", ".") if card_style.is_ascii else ("█", "▐" if is_mirrored else "▌", "·")
    filled = full * (halves // 2)
    odd = half * (halves % 2)
    rest = empty * (columns - halves // 2 - halves % 2)
    if is_mirrored:
        return Text.assemble((rest, QUIET), (odd + filled, style))
    return Text.assemble((filled + odd, style), (rest, QUIET))
