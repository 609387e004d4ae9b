"""The full-screen client under test: the real program in a terminal of any size, with real sockets, keys and clicks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen

from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.room_session import RoomSession
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.board.card_input import SEND_UP_KEYS
from fairest_cli.tui.launch import Start
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TimelineView
from fairest_protocol.calculation.moves import REDEAL, Move

PATIENCE_SECONDS = 20.0

S = TypeVar("S", bound=Screen[Any])


@dataclass
class Terminal:
    """A player at the program."""

    app: FairestApp
    pilot: Pilot[None]

    @property
    def text(self) -> str:
        """The text on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def session(self) -> RoomSession:
        session = self.app.rooms.session
        assert session is not None
        return session

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` is true; fail after `PATIENCE_SECONDS`."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not condition():
                    await self.pilot.pause()
        except TimeoutError as reason:
            raise AssertionError(f"waited in vain; the screen shows:\n{self.text}") from reason

    async def sees(self, text: str) -> None:
        """Wait until `text` is on the screen."""
        await self.until(lambda: text in self.text)

    async def is_on(self, screen: type[S]) -> S:
        """Wait until a screen of this kind is on top, and return it."""
        await self.until(lambda: isinstance(self.app.screen, screen))
        await self.pilot.pause()
        shown = self.app.screen
        assert isinstance(shown, screen)
        # A replay takes keys once it has the focus, which it gets after its screen is on top.
        for view in shown.query(TimelineView):
            await self.until(partial(getattr, view, "has_focus"))
        return shown

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def read(self, widget: str) -> str:
        """Return the text of the widget with this id."""
        return self.app.screen.query_one(f"#{widget}", TextLines).plain

    async def make(self, move: Move) -> None:
        """Make a move with its keys."""
        await self.press(*keys_for(move))

    async def click(self, move: Move) -> None:
        """Make a move with the mouse."""
        source = f"pile-{move.source}" if move.source >= 0 else "stock-0"
        target = "foundation" if move.places else "pile"
        if not (move.takes_turned and move.places):
            # With nothing picked up, a click on a foundation plays the turned card.
            await self.pilot.click(f"#{source}")
        await self.pilot.click(f"#{target}-{move.target}")


def keys_for(move: Move) -> tuple[str, ...]:
    """Return the keys of a move in the default layout."""
    if move.source >= 0:
        return (SEND_UP_KEYS[Keys.LETTERS][move.source],)
    return ("r",) if move is REDEAL else (move.text[1],)


@asynccontextmanager
async def terminal(
    start: Start, folder: Path, *, columns: int = 80, lines: int = 24, clock: Callable[[], int] = now_ms
) -> AsyncIterator[Terminal]:
    """Start the program with its settings in `folder`."""
    app = FairestApp(start, settings_file=folder / "settings.json", clock=clock, crash_folder=folder / "state")
    async with app.run_test(size=(columns, lines)) as pilot:
        yield Terminal(app, pilot)
