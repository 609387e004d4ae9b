"""The full-screen program: which screen is open, the settings, and every way out of the program."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from platformdirs import user_state_path
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.theme import Theme

from fairest_cli.exit_codes import BROKEN_SEAL, FAULT
from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import DEFAULT_SERVER, ConnectionStatus, KnownRoom
from fairest_cli.records.history import seat_of
from fairest_cli.records.own_names import own_names
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.session.connection import Update
from fairest_cli.session.own_clock import now_ms
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.absence import describe_return, describe_way_back
from fairest_cli.text.letters import shows_unicode
from fairest_cli.text.narration import describe_broken_seal
from fairest_cli.text.practice import describe_deal_again
from fairest_cli.tui import launch
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.crash import CrashReportingApp
from fairest_cli.tui.launch import AgainstBot, AgainstGhost, AtHome, AtReplay, InLobby, InPractice, InRoom, OnTv, Start
from fairest_cli.tui.room_runner import RoomRunner
from fairest_cli.tui.screens.alone import screen_alone
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.cheat_alert import CheatAlert
from fairest_cli.tui.screens.countdown import CountdownScreen
from fairest_cli.tui.screens.ghost import GhostCountdown
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.queue import QueueScreen
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.screens.tutorial import TutorialScreen, remember_tutorial
from fairest_cli.tui.screens.waiting import WaitingScreen
from fairest_cli.tui.screens.watch import WatchScreen
from fairest_cli.tui.settings import Settings, load_settings, settings_path
from fairest_cli.tui.terminal import (
    CHECK_SECONDS,
    ascii_driver,
    is_terminal_gone,
    on_fatal_signals,
    on_lost_terminal,
    print_last_words,
)
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Announcement

ANNOUNCEMENT_SECONDS: Final = 30.0
"""How long an announcement of the operator is shown over the screen, unless the player clicks it away."""
RETURN_SECONDS: Final = 10.0
"""How long a player who was away is shown for how long."""
FELT: Final = Theme(
    name="felt",
    primary="#f2c14e",
    secondary="#8fb8a8",
    accent="#f2c14e",
    foreground="#e8efe9",
    background="#0e2a22",
    surface="#12352b",
    panel="#174236",
    error="#ff8a70",
    dark=True,
)


class FairestApp(CrashReportingApp):
    """The program on one terminal. The home screen is at the bottom of the stack; the screens of a room lie on it."""

    CSS_PATH = Path(__file__).with_name("fairest.tcss")
    TITLE = "Fairest"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "leave_program", "Quit", priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", priority=True),
    ]

    def __init__(
        self,
        start: Start,
        *,
        settings_file: Path | None = None,
        clock: Callable[[], int] = now_ms,
        crash_folder: Path | None = None,
        shows_unicode: bool = True,
        offers_tutorial: bool = False,
    ) -> None:
        """`shows_unicode` is whether the terminal does; without it all is drawn in ASCII, whatever the settings.

        `offers_tutorial` opens the tutorial at the first start, before a race against a bot or over home.
        """
        self.shows_unicode = shows_unicode
        super().__init__(crash_folder or user_state_path("fairest"))
        self.settings_path = settings_file or settings_path()
        self.settings, self._settings_problem = load_settings(self.settings_path)
        self._start = start
        online = start if isinstance(start, launch.Online) else None
        server_url = online.server if online else self.settings.server or DEFAULT_SERVER
        player = (online.name if online else None) or self.settings.name or None
        self.clock = clock
        self.rooms = RoomRunner(self, server_url, player, clock=clock)
        self._offers_tutorial = offers_tutorial
        self._exit_code = 0
        """The exit code unless a signal ends the program: `BROKEN_SEAL` once a server cheated, else 0."""
        self._has_entered_room = False
        self.register_theme(FELT)
        self.theme = "felt"
        self.apply_settings(self.settings)

    def apply_settings(self, settings: Settings) -> None:
        """Draw by `settings` from now on. Screens read them when they draw. A changed name or server holds at once."""
        if settings.server != self.settings.server:
            self.rooms.server_url = settings.server or DEFAULT_SERVER
        if settings.name != self.settings.name:
            self.rooms.player = settings.name or None
        self.settings = settings
        self.animation_level = "none" if settings.reduced_motion else "full"
        self.set_class(settings.ascii_cards or not self.shows_unicode, "-ascii")

    async def on_mount(self) -> None:
        """Open the screen or the room that the program was started for, on top of the home screen."""
        if not self.is_headless:
            on_fatal_signals(self._end_by_signal)
            on_lost_terminal(self._end_by_signal)
            self.set_interval(CHECK_SECONDS, self._check_terminal)
        await self.push_screen(HomeScreen(self._settings_problem))
        is_first = self._offers_tutorial and not self.settings.has_seen_tutorial
        if is_first and isinstance(self._start, (AtHome, AgainstBot)):
            self.settings = remember_tutorial(self.settings, self.settings_path)
        match self._start:
            case InLobby(server=server):
                await self.push_screen(LobbyScreen(server))
            case OnTv():
                self.rooms.watch_tv()
            case InRoom(request=request):
                self.rooms.enter(request)
            case AgainstBot(level=level, options=options) if is_first:
                # The race begins when the player gets ready, so nothing runs on while the tutorial is read.
                await self.push_screen(TutorialScreen(), lambda _: self.rooms.race_bot(level, options))
            case AgainstBot(level=level, options=options):
                self.rooms.race_bot(level, options)
            case AtReplay(record=record):
                own_seat = seat_of(record.names, own_names(self.settings.name))
                await self.push_screen(ReplayScreen(record, timeline_of(record), own_seat or 0))
            case AgainstGhost(ghost=ghost):
                await self.push_screen(GhostCountdown(ghost))
            case launch.InDaily() | launch.InTournament():
                await self.push_screen(screen_alone(self._start))
            case InPractice(game=game):
                await self.push_screen(PracticeScreen(game))
            case AtHome() if is_first:
                await self.push_screen(TutorialScreen())
            case AtHome():
                pass

    # Navigation: the methods of `RunnerHost`.

    async def show_update(self, session: RoomSession, before: KnownRoom, update: Update) -> None:
        """Open the screen of the room's present phase and hand `update` to it; do nothing while the program ends."""
        if not self.is_running:
            return
        if isinstance(update.message, Announcement):
            text = clean(update.message.text)
            self.notify(text, title="The operator announces", timeout=ANNOUNCEMENT_SECONDS, markup=False)
        if update.problem:
            self.notify(clean(update.problem), title="Not saved; the race goes on", severity="warning", markup=False)
        returned = describe_return(before, update)
        if returned and update.model.own is not None:
            self.notify(returned, timeout=RETURN_SECONDS, markup=False)
        kind = screen_of(session)
        if kind is None:
            if update.model.status is ConnectionStatus.LOST and session.model.room is None:
                self.show_notice(clean(update.note))
            return
        self._has_entered_room = True
        shown = self._room_screen()
        if type(shown) is not kind:
            await self._close_overlays()
            if shown is None:
                while not isinstance(self.screen, HomeScreen):
                    await self.pop_screen()
                await self.push_screen(kind(session))
            else:
                await self.switch_screen(kind(session))
            if self.settings.sound and kind in (RaceScreen, ResultScreen):
                self.bell()
            shown = self._room_screen()
        if shown is not None:
            shown.show_update(before, update)

    async def show_home(self, sentence: str) -> None:
        """Close every screen above the home screen and show `sentence` there.

        A command that was to enter a room, and could not, ends the program with `sentence`.
        """
        if not self.is_running:
            return
        if isinstance(self._start, InRoom) and self._room_screen() is None and not self._has_entered_room and sentence:
            self.last_words.append(f"fairest: {sentence}")
            self._end(self._exit_code or FAULT)
            return
        if self._room_screen() is not None or not isinstance(self.screen, TextPrompt):
            # An answer that is being typed is not worth less than the end of an attempt to enter a room.
            while not isinstance(self.screen, HomeScreen):
                await self.pop_screen()
        self.show_notice(sentence)

    def show_notice(self, sentence: str) -> None:
        """Show `sentence` on the home screen, which other screens may cover."""
        if not self.is_running:
            # While the program ends, the parts of the home screen are gone before the screen is.
            return
        home = next((screen for screen in self.screen_stack if isinstance(screen, HomeScreen)), None)
        if home is not None:
            home.show_notice(sentence)

    async def show_cheat_alert(self, reason: Cheated) -> None:
        """Show what the server did until the player has read it. The program will end with exit code `BROKEN_SEAL`."""
        self.last_words = list(describe_broken_seal(reason, receipts_folder()))
        self._exit_code = BROKEN_SEAL
        await self._close_overlays()
        await self.push_screen_wait(CheatAlert(self.last_words))

    def _room_screen(self) -> RoomScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, RoomScreen)), None)

    async def _close_overlays(self) -> None:
        """Close menus and pages that lie over a screen of the room: they belong to a phase that is over."""
        while self._room_screen() is not None and not isinstance(self.screen, RoomScreen):
            await self.pop_screen()

    # Ways out.

    def action_leave_program(self) -> None:
        """Quit; in a race, open the menu first, where the same key quits."""
        session = self.rooms.session
        if session is not None and session.is_racing and not isinstance(self.screen, RaceMenu):
            shown = self._room_screen()
            if isinstance(shown, RaceScreen) and not isinstance(self.screen, ModalScreen):
                shown.action_menu()
                return
        self.quit_now()

    def quit_now(self) -> None:
        """End the program without asking. The seat in a room is kept; the last words say how to come back to it."""
        self._end(self._exit_code)

    def _end_by_signal(self, number: signal.Signals) -> None:
        self.last_words.append(f"fairest: ended by {number.name}")
        self._end(128 + number)

    def _end(self, exit_code: int) -> None:
        session = self.rooms.session
        if session is not None and session.rejoin_option is not None and not self.rooms.uses_local_server:
            self.last_words += describe_way_back(session.model, session.rejoin_option)
        self.last_words += [
            describe_deal_again(screen.game) for screen in self.screen_stack if isinstance(screen, PracticeScreen)
        ]
        self.exit(return_code=exit_code)

    def _check_terminal(self) -> None:
        if is_terminal_gone():
            self._end_by_signal(signal.SIGHUP)


async def run_until_done(app: FairestApp) -> None:
    """Run the program in this terminal; a local server ends after the terminal is restored. Safe to cancel."""
    try:
        await app.run_async()
    finally:
        await app.rooms.close_local_server()


def run_full_screen(start: Start) -> None:
    """Run the program and restore the terminal. Raises SystemExit with an exit code other than 0 after a failure."""
    # Textual writes to standard error.
    app = FairestApp(start, shows_unicode=shows_unicode(sys.stderr.encoding, os.environ), offers_tutorial=True)
    if not app.shows_unicode:
        app.driver_class = ascii_driver(app.driver_class)
    asyncio.run(run_until_done(app))
    print_last_words(app.last_words)
    if app.return_code:
        raise SystemExit(app.return_code)


def screen_of(session: RoomSession) -> type[RoomScreen] | None:
    """Return the kind of screen for the room's present phase, or None before the room is entered."""
    scene = session.model.scene
    if scene is None:
        return QueueScreen if session.model.queued is not None else None
    if session.is_spectator:
        return WatchScreen
    match scene.phase:
        case Phase.COUNTDOWN:
            return CountdownScreen
        case Phase.RACING:
            return RaceScreen if session.model.board is not None else WaitingScreen
        case Phase.FINISHED if session.finished is not None:
            return ResultScreen
        case Phase.READY | Phase.DEALING | Phase.WAITING if session.finished is not None:
            # The next round is open, or the opponent has left, while the player still looks at the result.
            return ResultScreen
        case _:
            return WaitingScreen
