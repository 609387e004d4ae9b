"""The screen of a player who waits for an opponent: for how long, and with how many others."""

from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.text.board_text import format_time
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean

BEGINNING: Final = "The race begins in a room of its own, when both of you are ready."
EDGE_COLUMNS: Final = 4
"""The blanks at either side of the text."""


class QueueScreen(RoomScreen):
    """Shown until the server has found an opponent; leaving it leaves the queue."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Wait no longer")]

    def compose_body(self) -> ComposeResult:
        """Yield the text in the middle, and the keys."""
        with Vertical(id="waiting"):
            yield TextLines(id="queue-text")
        yield TextLines(id="key-line")

    def tick(self) -> None:
        """Redraw the time that the player has waited."""
        self.draw()

    def draw(self) -> None:
        """Redraw the time and the number of players that wait."""
        queued = self.session.model.queued
        if not self.is_mounted or self.is_too_small or queued is None:
            return
        waited_ms = self.session.clock() - self.session.model.clock_ahead_ms - queued.since_ms
        others = queued.waiting - 1
        who = "nobody else waits yet" if others < 1 else f"{others} other{'' if others == 1 else 's'} waiting"
        lines = [
            Text(f"Looking for an opponent in {clean(queued.rules)} ...", f"bold {GOLD}"),
            Text(),
            Text.assemble((format_time(max(0, waited_ms) / 1000), "bold"), (f"   {who}", QUIET)),
            Text(),
            *(Text(line, QUIET) for line in wrap(BEGINNING, max(20, self.size.width - 2 * EDGE_COLUMNS))),
        ]
        text = self.query_one("#queue-text", TextLines)
        text.styles.height = len(lines)
        text.styles.width = max(line.cell_len for line in lines)
        text.update(lines)
        self.query_one("#key-line", TextLines).update(key_line((("Esc", "wait no longer"), ("?", "how to play"))))

    async def action_leave(self) -> None:
        """Leave the queue and go home."""
        await self.program.rooms.leave()
