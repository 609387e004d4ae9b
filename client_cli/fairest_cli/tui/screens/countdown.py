"""The seconds before the start, with the foundations of the race: time to read which ranks they need first."""

from collections.abc import Sequence
from math import ceil

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Digits

from fairest_cli.tui.board.board_lines import foundation_row
from fairest_cli.tui.board.card_style import GOLD, QUIET
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.widgets.text_lines import TextLines

REDRAW_SECONDS = 0.1
"""More often than once a second, so that each digit stays for a second of the server's clock."""


class CountdownScreen(RoomScreen):
    """Counts down to the start. Both players have committed themselves; the cards are dealt and sealed."""

    def compose_body(self) -> ComposeResult:
        """Yield a large digit, and below it the check words and the foundations."""
        with Vertical(id="countdown"):
            yield Digits("", id="seconds")
            yield TextLines(id="countdown-text")

    def on_mount(self) -> None:
        """Redraw every `REDRAW_SECONDS`."""
        super().on_mount()
        self.set_interval(REDRAW_SECONDS, self.draw)

    def draw(self) -> None:
        """Redraw the seconds, rounded up, and the foundations."""
        if not self.is_mounted or self.is_too_small:
            return
        seconds = self.seconds_left()
        digits, text = self.query_one(Digits), "" if seconds is None else str(ceil(seconds))
        if digits.value != text:
            digits.update(text)
        self.query_one("#countdown-text", TextLines).update(self._lines())

    def _lines(self) -> Sequence[Text]:
        model = self.session.model
        board = model.board
        lines = [
            Text("Get set. Everybody with this deal sees the same check words:", QUIET),
            Text(" ".join(model.seal_check.check_words), f"bold {GOLD}"),
            Text(),
            Text(f"Each foundation needs the rank after {self.card_style.arrow} next, in any suit:", QUIET),
        ]
        if board is not None:
            lines += [foundation_row(number, board, self.card_style) for number in range(len(board.layout))]
        return lines
