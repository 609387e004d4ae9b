"""The look of cards, of outlined slots and of the line of keys: letters and colours by the player's settings. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from fairest_cli.tui.board.large_ranks import large_rank
from fairest_cli.tui.settings import Colours, Settings
from fairest_protocol.calculation.cards import Card, rank, rank_name
from fairest_protocol.value import Value

PAPER: Final = "#f5f0e1"
FADED: Final = ("#c9c2ab", "#b8b097")
"""The paper of covered cards: two tones in turn, so that neighbours are told apart."""
BACK: Final = "#8fb8a8 on #1d4a3c"
GOLD: Final = "#f2c14e"
QUIET: Final = "#7d9c90"
WANTED: Final = f"bold #1d1d1d on {GOLD}"
LETTER: Final = f"bold {GOLD}"
INK: Final[dict[Colours, dict[str, str]]] = {
    Colours.TWO: {"C": "#1d1d1d", "S": "#1d1d1d", "D": "#c1121f", "H": "#c1121f"},
    Colours.FOUR: {"C": "#1b7f3b", "S": "#1d1d1d", "D": "#1f4fbf", "H": "#c1121f"},
}
SYMBOLS: Final = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}

CHIP_COLUMNS: Final = 5
"""A card in a row or a pile: a blank, two columns for the rank, one for the suit, a blank."""
SLIM_COLUMNS: Final = 3
"""A card without its suit, for places with little room."""
CARD_COLUMNS: Final = 9
CARD_LINES: Final = 5
LARGE_CARD_LINES: Final = 7
"""From this height on, a card shows its rank in large figures instead of one symbol of its suit."""


class CardStyle(Value):
    """How cards are drawn."""

    colours: Colours = Colours.TWO
    is_ascii: bool = False

    @property
    def arrow(self) -> str:
        """The sign before a rank that is wanted, and before the foundation that a card fits."""
        return ">" if self.is_ascii else "►"

    def name(self, card: Card) -> str:
        """Return a card in two or three characters, such as `10♥` or `10H`."""
        suit = card[1].upper()
        return rank_name(rank(card)) + (suit if self.is_ascii else SYMBOLS[suit])

    def style(self, card: Card, *, is_top: bool = True, tone: int = 0) -> str:
        """Return the colours of a card: ink on paper, which is darker for a card that others cover, in two tones."""
        if self.colours is Colours.MONOCHROME:
            return "bold reverse" if is_top else "reverse"
        ink = INK[self.colours][card[1].upper()]
        return f"bold {ink} on {PAPER}" if is_top else f"{ink} on {FADED[tone % 2]}"

    def chip(
        self,
        card: Card,
        columns: int = CHIP_COLUMNS,
        *,
        is_top: bool = True,
        is_unconfirmed: bool = False,
        is_dead: bool = False,
        tone: int = 0,
    ) -> Text:
        """Return a card in one line, without its suit in less than four columns.

        A move that the server has not confirmed is underlined and marked with a dot. A dead card lies without paper,
        and has an `x` where there is room for it.
        """
        style = QUIET if is_dead else self.style(card, is_top=is_top, tone=tone)
        if columns <= SLIM_COLUMNS:
            return Text(f"{rank_name(rank(card)):>2}".ljust(columns), style + (" underline" if is_unconfirmed else ""))
        name = f"{self.name(card):>3}"
        name = name if columns < CHIP_COLUMNS else f" {name}"
        mark = "." if is_unconfirmed else " x" if is_dead and columns > CHIP_COLUMNS else ""
        return Text((name + mark).ljust(columns), style + (" underline" if is_unconfirmed else ""))

    def card(
        self, card: Card, columns: int = CARD_COLUMNS, lines: int = CARD_LINES, *, is_unconfirmed: bool = False
    ) -> list[Text]:
        """Return an uncovered card of that size. A high one shows its rank in large figures."""
        first = self.chip(card, columns, is_unconfirmed=is_unconfirmed)
        if lines < 2:
            return [first][:lines]
        style, name = self.style(card), self.name(card)
        figure: Sequence[str] = ()
        if lines >= LARGE_CARD_LINES:
            figure = large_rank(rank(card), columns - 2, lines - 2, is_ascii=self.is_ascii)
        if not figure and lines >= 3:
            figure = (name[-1],)
        above = (lines - 2 - len(figure)) // 2
        middle = [""] * above + [*figure] + [""] * (lines - 2 - above - len(figure))
        # The last line of a card of two lines is blank: a second name would read as a second card.
        last = f"{name} " if lines > 2 and columns >= CHIP_COLUMNS else ""
        return [first, *(Text(row.center(columns), style) for row in middle), Text(last.rjust(columns), style)]

    def back(self, columns: int = CARD_COLUMNS, lines: int = CARD_LINES) -> list[Text]:
        """Return the back of a card of that size."""
        letter = "#" if self.is_ascii else "░"
        style = "reverse dim" if self.colours is Colours.MONOCHROME else BACK
        return [Text(letter * columns, style) for _ in range(lines)]

    def slot(self, columns: int = CARD_COLUMNS, lines: int = CARD_LINES) -> list[Text]:
        """Return the outline of an empty place of that size."""
        return self.framed([], columns, lines)

    def framed(
        self,
        inner: Sequence[Text],
        columns: int,
        lines: int,
        *,
        title: Text | None = None,
        footer: Text | None = None,
        is_lit: bool = False,
        margin: int = 0,
    ) -> list[Text]:
        """Return `inner` in a frame of that size, with `title` in its upper and `footer` in its lower edge.

        A lit frame is gold and of heavy lines. Lines of `inner` that are shorter than the frame are filled up. `margin`
        blank columns stand at the right of the frame.
        """
        if lines < 2 or columns < 2:
            return [Text("." * columns, QUIET) for _ in range(lines)]
        thin, heavy = ("+-++-+||", "########") if self.is_ascii else ("╭─╮╰─╯││", "┏━┓┗━┛┃┃")
        parts = heavy if is_lit else thin
        style = LETTER if is_lit else QUIET
        gap = " " * margin
        rows = [_edge(parts[0], parts[1], parts[2], columns, title, style).append(gap)]
        for line in inner[: lines - 2]:
            framed = Text().append(parts[6], style).append_text(fitted(line, columns - 2))
            rows.append(framed.append(parts[7] + gap, style))
        # All blank lines are one text: a high frame has many of them.
        blank = Text(f"{parts[6]}{' ' * (columns - 2)}{parts[7]}{gap}", style)
        rows += [blank] * (lines - 1 - len(rows))
        return [*rows, _edge(parts[3], parts[4], parts[5], columns, footer, style).append(gap)]


def _edge(left: str, line: str, right: str, columns: int, label: Text | None, style: str) -> Text:
    """Return an edge of a frame with a label near its left corner, if the label fits."""
    if label is None or not label.plain or label.cell_len > columns - 2:
        return Text(left + line * (columns - 2) + right, style)
    before = 1 if label.cell_len < columns - 4 else 0
    after = columns - 2 - before - label.cell_len
    return Text.assemble((left + line * before, style), label, (line * after + right, style))


def card_style_of(settings: Settings) -> CardStyle:
    """Return the card style that `settings` ask for."""
    return CardStyle(settings.colours, settings.ascii_cards)


def fitted(text: Text, columns: int) -> Text:
    """Return `text` cut or filled up to `columns`; `text` itself if it has that width."""
    width = text.cell_len
    if width == columns:
        return text
    # Appended to another text, the style of `text` becomes a span, so that it does not reach into the blanks.
    filled = Text().append_text(text)
    if width > columns:
        filled.truncate(columns)
        # A wide character that was cut in two leaves a column free.
        width = filled.cell_len
    return filled.append(" " * (columns - width))


def longest_fit(candidates: Iterable[str], columns: int) -> str:
    """Return the first of `candidates` that has at most `columns` characters, or an empty string."""
    return next((each for each in candidates if len(each) <= columns), "")


def fitted_key_line(keys: Sequence[tuple[str, str]], columns: int) -> Text:
    """Return the bottom line of a screen; where it is too long, the last keys are named without their meaning."""
    lines = (key_line([*keys[:named], *((key, "") for key, _ in keys[named:])]) for named in range(len(keys), -1, -1))
    return next((line for line in lines if line.cell_len <= columns), key_line((key, "") for key, _ in keys))


def key_line(keys: Iterable[tuple[str, str]]) -> Text:
    """Return the bottom line of a screen: each key and its meaning."""
    text = Text(" ", no_wrap=True)
    for key, meaning in keys:
        text.append(key, f"bold {GOLD}").append(f" {meaning}  " if meaning else "  ", QUIET)
    text.rstrip()
    return text
