"""The seconds before the start, with the foundations of the race: time to read which ranks they need first."""

from math import ceil
from typing import ClassVar

from textual.app import ComposeResult

from fairest_cli.tui.board.countdown_lines import countdown_lines
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.widgets.text_lines import TextLines

REDRAW_SECONDS = 0.1
"""More often than once a second, so that each digit stays for a second of the server's clock."""


class CountdownScreen(RoomScreen):
    """Counts down to the start. Both players have committed themselves; the cards are dealt and sealed."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)

    def compose_body(self) -> ComposeResult:
        """Yield one region for everything, which is drawn in its middle."""
        yield TextLines(id="countdown")

    def on_mount(self) -> None:
        """Redraw every `REDRAW_SECONDS`."""
        super().on_mount()
        self.set_interval(REDRAW_SECONDS, self.draw)

    def draw(self) -> None:
        """Redraw the seconds, rounded up, the check words and the foundations."""
        if not self.is_mounted or self.is_too_small:
            return
        model, seconds = self.session.model, self.seconds_left()
        lines = countdown_lines(
            None if seconds is None else ceil(seconds),
            tuple(model.seal_check.check_words),
            model.board,
            self.size.width,
            self.size.height,
            self.card_style,
        )
        self.query_one("#countdown", TextLines).update(lines)
