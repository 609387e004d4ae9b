"""The full-screen face under test: the real program with a terminal of any size, real sockets, a player's hands."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen

from fairest_cli.session.room_session import RoomSession, now_ms
from fairest_cli.tui.app import FairestApp
from fairest_cli.tui.board.card_input import LIFT_KEYS
from fairest_cli.tui.launch import Start
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.moves import REDEAL, Move

PATIENCE_SECONDS = 20.0

S = TypeVar("S", bound=Screen[Any])


@dataclass
class Terminal:
    """Somebody in front of the program."""

    app: FairestApp
    pilot: Pilot[None]

    @property
    def text(self) -> str:
        """What is to be read on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def session(self) -> RoomSession:
        session = self.app.session
        assert session is not None
        return session

    async def until(self, condition: Callable[[], object]) -> None:
        """Go on until it is so, with a deadline."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not condition():
                    await self.pilot.pause()
        except TimeoutError as reason:
            raise AssertionError(f"it never came; the screen shows:\n{self.text}") from reason

    async def sees(self, text: str) -> None:
        """Wait until this can be read."""
        await self.until(lambda: text in self.text)

    async def is_on(self, screen: type[S]) -> S:
        """Wait until this screen is in front."""
        await self.until(lambda: isinstance(self.app.screen, screen))
        await self.pilot.pause()
        shown = self.app.screen
        assert isinstance(shown, screen)
        return shown

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def read(self, widget: str) -> str:
        """The text of one part of the screen."""
        return self.app.screen.query_one(f"#{widget}", TextLines).plain

    async def make(self, move: Move) -> None:
        """A move, with the keys that a player uses for it."""
        await self.press(*keys_for(move))

    async def click(self, move: Move) -> None:
        """A move, with the mouse."""
        source = f"pile-{move.source}" if move.source >= 0 else "stock-0"
        target = "foundation" if move.places else "pile"
        if not (move.takes_turned and move.places):
            # The turned card goes where one clicks with nothing in hand.
            await self.pilot.click(f"#{source}")
        await self.pilot.click(f"#{target}-{move.target}")


def keys_for(move: Move) -> tuple[str, ...]:
    """The keys of the usual layout; two where the top of a pile may fit more than one foundation."""
    if move.source >= 0:
        return (LIFT_KEYS[Keys.LETTERS][move.source],)
    return ("r",) if move is REDEAL else (move.text[1],)


@asynccontextmanager
async def terminal(
    start: Start, folder: Path, *, columns: int = 80, lines: int = 24, clock: Callable[[], int] = now_ms
) -> AsyncIterator[Terminal]:
    """The program, opened like this, with its settings in a folder of its own."""
    app = FairestApp(start, settings_file=folder / "settings.json", clock=clock, crash_folder=folder / "state")
    async with app.run_test(size=(columns, lines)) as pilot:
        yield Terminal(app, pilot)
