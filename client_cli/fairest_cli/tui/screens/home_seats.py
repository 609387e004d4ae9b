"""The line of the home screen that offers the seats which our player has on the server."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from rich.text import Text

from fairest_cli.session.seats import find_seats
from fairest_cli.tui.board.card_style import GOLD
from fairest_cli.tui.room_runner import RoomRunner
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.seat_choice import SeatChoice
from fairest_cli.tui.widgets.text_lines import TextLines

DELAY_SECONDS: Final = 0.3
"""Time until the server is asked, in which the screen above gives our player back."""


class HomeSeats(TextLines):
    """Hidden while our player has no seat, or the server does not say so."""

    def __init__(self) -> None:
        super().__init__(id="home-seats")
        self.rooms: tuple[str, ...] = ()

    def look(self, runner: RoomRunner) -> None:
        """Forget the seats, and ask the server for them in the background. The screen is drawn when it has answered."""
        self._show(())
        self._home.run_in_background(partial(self._ask, runner), group="seats", exclusive=True)

    async def _ask(self, runner: RoomRunner) -> None:
        await asyncio.sleep(DELAY_SECONDS)
        self._show(await find_seats(runner.server_url, runner.player))

    def _show(self, rooms: tuple[str, ...]) -> None:
        self.rooms = rooms
        self.update(Text(describe_seats(rooms), f"bold {GOLD}", no_wrap=True))
        self.display = bool(rooms)
        self._home.draw()

    @property
    def _home(self) -> FairestScreen:
        screen = self.screen
        assert isinstance(screen, FairestScreen), "a line of the home screen"
        return screen

    def take(self, runner: RoomRunner) -> None:
        """Take our seat; with several seats, let the player choose one."""

        def on_chosen(code: str | None) -> None:
            if code is not None:
                runner.join(code)

        if len(self.rooms) > 1:
            self.app.push_screen(SeatChoice(self.rooms), on_chosen)
        elif self.rooms:
            on_chosen(self.rooms[0])


def describe_seats(rooms: Sequence[str]) -> str:
    """Return where our player has a seat, behind the key that takes it: a long code may be cut off at its end."""
    if len(rooms) > 1:
        return f"z shows your seats in {len(rooms)} rooms"
    return f"z takes your seat in {rooms[0]}" if rooms else ""
