"""The look of cards and of the line of keys: letters and colours by the player's settings. Pure."""

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from fairest_cli.tui.settings import Colours, Settings
from fairest_protocol.calculation.cards import Card, rank, rank_name
from fairest_protocol.value import Value

PAPER: Final = "#f5f0e1"
FADED: Final = "#c9c2ab"
BACK: Final = "#8fb8a8 on #1d4a3c"
GOLD: Final = "#f2c14e"
QUIET: Final = "#7d9c90"
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


class CardStyle(Value):
    """How cards are drawn."""

    colours: Colours = Colours.TWO
    is_ascii: bool = False

    def name(self, card: Card) -> str:
        """Return a card in two or three characters, such as `10♥` or `10H`."""
        suit = card[1].upper()
        return rank_name(rank(card)) + (suit if self.is_ascii else SYMBOLS[suit])

    def style(self, card: Card, *, is_top: bool = True) -> str:
        """Return the colours of a card: ink on paper, which is darker for a card that others cover."""
        if self.colours is Colours.MONOCHROME:
            return "bold reverse" if is_top else "reverse"
        ink = INK[self.colours][card[1].upper()]
        return f"bold {ink} on {PAPER}" if is_top else f"{ink} on {FADED}"

    def chip(
        self, card: Card, columns: int = CHIP_COLUMNS, *, is_top: bool = True, is_unconfirmed: bool = False
    ) -> Text:
        """Return a card in one line. A move that the server has not confirmed is underlined and marked with a dot."""
        style = self.style(card, is_top=is_top) + (" underline" if is_unconfirmed else "")
        if columns < CHIP_COLUMNS:
            return Text(f"{rank_name(rank(card)):>2}".ljust(columns), style)
        name = f" {self.name(card):<3}" if rank(card) == 10 else f"  {self.name(card):<2}"
        return Text((name + ("." if is_unconfirmed else "")).ljust(columns), style)

    def card(self, card: Card, *, is_unconfirmed: bool = False) -> list[Text]:
        """Return an uncovered card in `CARD_LINES` lines."""
        style, name = self.style(card), self.name(card)
        suit = name[-1]
        lines = ["", f"    {suit}", "", f" {name:>7} "]
        first = self.chip(card, CARD_COLUMNS, is_unconfirmed=is_unconfirmed)
        return [first, *(Text(line.ljust(CARD_COLUMNS), style) for line in lines)]

    def back(self) -> list[Text]:
        """Return the back of a card in `CARD_LINES` lines."""
        letter = "#" if self.is_ascii else "░"
        style = "reverse dim" if self.colours is Colours.MONOCHROME else BACK
        return [Text(letter * CARD_COLUMNS, style) for _ in range(CARD_LINES)]

    def slot(self) -> list[Text]:
        """Return the outline of an empty place in `CARD_LINES` lines."""
        corners = "+-+|+-+" if self.is_ascii else "╭─╮│╰─╯"
        inner = CARD_COLUMNS - 2
        middle = f"{corners[3]}{' ' * inner}{corners[3]}"
        rows = [
            corners[0] + corners[1] * inner + corners[2],
            *[middle] * (CARD_LINES - 2),
            corners[4] + corners[5] * inner + corners[6],
        ]
        return [Text(row, QUIET) for row in rows]


def card_style_of(settings: Settings) -> CardStyle:
    """Return the card style that `settings` ask for."""
    return CardStyle(settings.colours, settings.ascii_cards)


def key_line(keys: Iterable[tuple[str, str]]) -> Text:
    """Return the bottom line of a screen: each key and its meaning."""
    text = Text(" ", no_wrap=True)
    for key, meaning in keys:
        text.append(key, f"bold {GOLD}").append(f" {meaning}  ", QUIET)
    text.rstrip()
    return text
