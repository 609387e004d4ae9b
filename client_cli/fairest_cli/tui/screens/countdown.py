"""The seconds before the start, with the foundations to come: time to read what is wanted first."""

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


class Countdown(RoomScreen):
    """Everybody is bound, the cards are dealt and sealed."""

    def parts(self) -> ComposeResult:
        """A large digit and the ladders."""
        with Vertical(id="countdown"):
            yield Digits("", id="seconds")
            yield TextLines(id="countdown-text")

    def on_mount(self) -> None:
        """A second lasts as long here as on the server's clock, so look more often."""
        super().on_mount()
        self.set_interval(0.1, self.draw)

    def draw(self) -> None:
        """The seconds, rounded up, and what is wanted."""
        if not self.is_mounted or self.is_too_small:
            return
        seconds = self.seconds_left()
        digits, shown = self.query_one(Digits), "" if seconds is None else str(ceil(seconds))
        if digits.value != shown:
            digits.update(shown)
        self.query_one("#countdown-text", TextLines).show(self._lines())

    def _lines(self) -> Sequence[Text]:
        model = self.session.model
        board = model.board
        lines = [
            Text("Get set. Everybody who has this deal has the same check words:", QUIET),
            Text(" ".join(model.seal_check.check_words), f"bold {GOLD}"),
            Text(),
            Text("Each foundation wants the rank in [ ] next, in any suit:", QUIET),
        ]
        if board is not None:
            lines += [foundation_row(number, board, self.card_style) for number in range(len(board.layout))]
        return lines
