"""The line of the home screen that offers the seats which our player has on the server."""

import asyncio
from functools import partial
from typing import Final

from rich.text import Text

from fairest_cli.session.seats import Seats, find_seats
from fairest_cli.tui.board.card_style import GOLD
from fairest_cli.tui.room_runner import RoomRunner
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.seat_choice import SeatChoice
from fairest_cli.tui.screens.tournament import TournamentScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.messages.tournaments import JoinTournament

DELAY_SECONDS: Final = 0.3
"""Time until the server is asked, in which the screen above gives our player back."""


class HomeSeats(TextLines):
    """Hidden while our player has no seat, or the server does not say so."""

    def __init__(self) -> None:
        super().__init__(id="home-seats")
        self.seats = Seats()

    def look(self, runner: RoomRunner) -> None:
        """Forget the seats, and ask the server for them in the background. The screen is drawn when it has answered."""
        self._show(Seats())
        self._home.run_in_background(partial(self._ask, runner), group="seats", exclusive=True)

    async def _ask(self, runner: RoomRunner) -> None:
        await asyncio.sleep(DELAY_SECONDS)
        self._show(await find_seats(runner.server_url, runner.player))

    def _show(self, seats: Seats) -> None:
        self.seats = seats
        self.update(Text(describe_seats(seats), f"bold {GOLD}", no_wrap=True))
        self.display = bool(seats.codes)
        self._home.draw()

    @property
    def _home(self) -> FairestScreen:
        screen = self.screen
        assert isinstance(screen, FairestScreen), "a line of the home screen"
        return screen

    def take(self, runner: RoomRunner) -> None:
        """Take our seat; with several seats, let the player choose one."""
        seats = self.seats

        def on_chosen(code: str | None) -> None:
            if code in seats.rooms:
                runner.join(code)
            elif code is not None:
                entering = JoinTournament(tournament=code)
                self.app.push_screen(TournamentScreen(entering, runner.server_url, runner.player))

        if len(seats.codes) > 1:
            self.app.push_screen(SeatChoice(seats.codes), on_chosen)
        elif seats.codes:
            on_chosen(seats.codes[0])


def describe_seats(seats: Seats) -> str:
    """Return where our player has a seat, behind the key that takes it: a long code may be cut off at its end."""
    codes = seats.codes
    if len(codes) > 1:
        where = f"{len(codes)} rooms and tournaments" if seats.tournaments else f"{len(codes)} rooms"
        return f"z shows your seats in {where}"
    if not codes:
        return ""
    return f"z takes your seat in {codes[0]}" if seats.rooms else f"z: your tournament goes on, {codes[0]}"
