"""The full-screen face as a whole: which screen is open, the visit to a room, and every way out of it."""

import asyncio
import os
import random
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar, Final

from platformdirs import user_state_path
from pydantic import ValidationError
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.theme import Theme

from fairest_cli.bots.house_room import HOUSE_PACE_SECONDS, house_room
from fairest_cli.bots.player import play_match
from fairest_cli.bots.policies import POLICIES
from fairest_cli.exit_codes import BROKEN_SEAL
from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.model.round_check import Cheated
from fairest_cli.records.receipts import receipts_folder
from fairest_cli.session.connection import Update
from fairest_cli.session.identity import IdentityInUse
from fairest_cli.session.local_server import ServerNotStarted
from fairest_cli.session.open import open_guest_seat, open_seat, open_view
from fairest_cli.session.room_session import RoomSession, now_ms
from fairest_cli.session.websocket import Rejected
from fairest_cli.text.narration import describe_way_back
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.crash import keep_traceback
from fairest_cli.tui.launch import AgainstHouse, AtHome, AtReplay, InLobby, InRoom, Start
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.cheat_alert import AlarmScreen
from fairest_cli.tui.screens.countdown import Countdown
from fairest_cli.tui.screens.home import HomeScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.race import RaceScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.result import ResultScreen
from fairest_cli.tui.screens.room_form import HOUSE, options_from
from fairest_cli.tui.screens.waiting import WaitingRoom
from fairest_cli.tui.screens.watch import WatchScreen
from fairest_cli.tui.settings import Settings, load_settings, settings_path
from fairest_cli.tui.widgets.choice_list import ChoiceList
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Watch
from fairest_protocol.messages.options import RoomOptions

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
LOOK_SECONDS: Final = 2.0
"""So often do we look whether our terminal is still there."""
FATAL_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


class FairestApp(App[None]):
    """One terminal. The home screen is at the bottom of everything; a room stands on it, and leaves it as it was."""

    CSS_PATH = Path(__file__).with_name("fairest.tcss")
    TITLE = "Fairest"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q,ctrl+c", "leave_program", "Quit", priority=True)]

    def __init__(
        self,
        start: Start,
        *,
        settings_file: Path | None = None,
        clock: Callable[[], int] = now_ms,
        crash_folder: Path | None = None,
    ) -> None:
        super().__init__()
        self.settings_path = settings_file or settings_path()
        self.settings, self._complaint = load_settings(self.settings_path)
        self.session: RoomSession | None = None
        self.last_words: list[str] = []
        self._start = start
        self._clock = clock
        self._crash_folder = crash_folder or user_state_path("fairest")
        self._server = start.server if isinstance(start, (AtHome, InLobby, InRoom)) else AtHome().server
        self._player = start.name if isinstance(start, (AtHome, InLobby, InRoom)) else None
        self._house = AsyncExitStack()
        self.is_at_house = False
        self.register_theme(FELT)
        self.theme = "felt"
        self.use(self.settings)

    def use(self, settings: Settings) -> None:
        """Show everything by these settings from now on."""
        self.settings = settings
        self.animation_level = "none" if settings.reduced_motion else "full"
        self.set_class(settings.ascii_cards, "-ascii")

    async def on_mount(self) -> None:
        """Open what was asked for, on top of the home screen."""
        if not self.is_headless:
            for number in FATAL_SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._end_by, number)
            self.set_interval(LOOK_SECONDS, self._look_for_terminal)
        await self.push_screen(HomeScreen(self._server, self._complaint))
        match self._start:
            case InLobby(server=server):
                await self.push_screen(LobbyScreen(server))
            case InRoom(request=request):
                self._enter(request)
            case AgainstHouse(level=level, options=options):
                self._race_house(level, options)
            case AtReplay(record=record, path=path):
                await self.push_screen(ReplayScreen(record, timeline_of(record), path))
            case AtHome():
                pass

    # Ways into a room.

    def open_from(self, form: ChoiceList) -> None:
        """What the form asks for."""
        options = options_from(form)
        if form.id == HOUSE:
            self._race_house(form.value("level"), options)
        else:
            self._enter(Create(options=options))

    def join_room(self, code: str) -> None:
        """Take a seat in a room."""
        self._enter_by_code(Join, code)

    def watch_room(self, code: str) -> None:
        """Watch a room."""
        self._enter_by_code(Watch, code)

    def call_bot(self) -> None:
        """A bot of this process takes the free seat of our room."""
        session = self.session
        if session is not None and session.model.room is not None:
            connection = open_view(session.model.server_url, Join(room=session.model.room))
            chance = random.Random()
            playing = play_match(connection, POLICIES["greedy"], chance, HOUSE_PACE_SECONDS, rematches=True)
            self.run_worker(playing, group="bot", exclusive=True, exit_on_error=False)

    async def leave_room(self) -> None:
        """Go home from a room. Where that would lose a race, nothing happens."""
        session = self.session
        if session is None or session.is_racing or session.model.phase in (Phase.DEALING, Phase.COUNTDOWN):
            return
        if session.model.status is ConnectionStatus.CONNECTED and session.model.room is not None:
            await session.leave()
        else:
            self.workers.cancel_group(self, "visit")
            await self._go_home("")
            await self._close_house()

    def _enter_by_code(self, kind: type[Join] | type[Watch], code: str) -> None:
        try:
            self._enter(kind(room=code))
        except ValidationError:
            self._say_at_home(f"{clean(code)!r} is no room code; it looks like quiet-amber-otter.")

    def _enter(self, request: Create | Join | Watch) -> None:
        self.run_worker(self._stay(request), group="visit", exclusive=True)

    def _race_house(self, level: str, options: RoomOptions) -> None:
        self.run_worker(self._stay_at_house(level, options), group="visit", exclusive=True)

    async def _stay(self, request: Create | Join | Watch) -> None:
        try:
            if isinstance(request, Watch):
                await self._follow(RoomSession(open_view(self._server, request), clock=self._clock))
                return
            with open_seat(self._server, self._player, request) as connection:
                way_back = f" --name {self._player}" if self._player else ""
                await self._follow(RoomSession(connection, way_back=way_back, clock=self._clock))
        except IdentityInUse as reason:
            await self._go_home(str(reason))

    async def _stay_at_house(self, level: str, options: RoomOptions) -> None:
        self._say_at_home("A server is being started on this machine ...")
        await self._close_house()
        try:
            room = house_room(POLICIES[level], options, HOUSE_PACE_SECONDS, rematches=True)
            url, code = await self._house.enter_async_context(room)
        except ServerNotStarted as reason:
            self._say_at_home(str(reason))
            return
        self.is_at_house = True
        await self._follow(RoomSession(open_guest_seat(url, code, is_person=True), clock=self._clock))
        await self._close_house()

    async def _follow(self, session: RoomSession) -> None:
        """The whole stay in a room, until it is over for us."""
        self.session = session
        sentence = ""
        try:
            await session.run(self._show)
            if session.model.phase is Phase.CLOSED:
                sentence = "The room is closed: nobody came back to it in time."
        except Rejected as reason:
            sentence = clean(str(reason))
        except Cheated as reason:
            await self._raise_alarm(reason)
        await self._go_home(sentence)

    # What is shown.

    async def _show(self, before: KnownRoom, update: Update) -> None:
        """Bring up the screen of the present phase, and tell it what changed; nothing while the program ends."""
        session = self.session
        if session is None or not self.is_running:
            return
        kind = screen_of(session)
        if kind is None:
            if update.model.status is ConnectionStatus.LOST and session.model.room is None:
                self._say_at_home(clean(update.note))
            return
        shown = self._room_screen()
        if type(shown) is not kind:
            await self._uncover()
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
            shown.show(before, update)

    def _room_screen(self) -> RoomScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, RoomScreen)), None)

    async def _uncover(self) -> None:
        """Take away what lies over a screen of the room: its time is over."""
        while self._room_screen() is not None and not isinstance(self.screen, RoomScreen):
            await self.pop_screen()

    async def _go_home(self, sentence: str) -> None:
        self.session = None
        self.workers.cancel_group(self, "bot")
        if not self.is_running:
            return
        while not isinstance(self.screen, HomeScreen):
            await self.pop_screen()
        self._say_at_home(sentence)

    def _say_at_home(self, sentence: str) -> None:
        home = next((screen for screen in self.screen_stack if isinstance(screen, HomeScreen)), None)
        if home is not None:
            home.say(sentence)

    async def _raise_alarm(self, reason: Cheated) -> None:
        self.last_words = [
            f"fairest: THE SEAL IS BROKEN. {clean(str(reason))}",
            "Stop playing on this server, and keep your receipt: it shows what the server said.",
            f"Receipts are in {receipts_folder()}",
        ]
        self._return_code = BROKEN_SEAL
        await self._uncover()
        await self.push_screen_wait(AlarmScreen(self.last_words))

    # Ways out.

    def action_leave_program(self) -> None:
        """Quit; where a race is on, ask first, once."""
        if self.session is not None and self.session.is_racing and not isinstance(self.screen, RaceMenu):
            shown = self._room_screen()
            if isinstance(shown, RaceScreen) and not isinstance(self.screen, ModalScreen):
                shown.action_menu()
                return
        self.quit_now()

    def quit_now(self) -> None:
        """End the program. A seat on a server of others waits, and we say how to come back to it."""
        self._end(self._return_code or 0)

    def _end_by(self, number: signal.Signals) -> None:
        self.last_words.append(f"fairest: ended by {number.name}")
        self._end(128 + number)

    def _end(self, return_code: int) -> None:
        session = self.session
        if session is not None and session.way_back is not None and not self.is_at_house:
            self.last_words += describe_way_back(session.model, session.way_back)
        self.exit(return_code=return_code)

    def _look_for_terminal(self) -> None:
        """A terminal may go away without a signal, when it was not started by it; Textual would read on for ever."""
        try:
            termios.tcgetattr(sys.__stdin__ or 0)
        except termios.error:
            self._end_by(signal.SIGHUP)

    async def _close_house(self) -> None:
        self.is_at_house = False
        await self._house.aclose()

    async def run_until_done(self) -> None:
        """The whole life of the program in this terminal; the house ends when the terminal is the user's again."""
        try:
            await self.run_async()
        finally:
            await self._close_house()

    def _handle_exception(self, error: Exception) -> None:
        """A fault of ours: the traceback goes to a file, a sentence to the terminal once it is restored."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
            self.last_words.append(keep_traceback(error, self._crash_folder))
        self._close_messages_no_wait()


def open_face(start: Start) -> None:
    """Run the full-screen face; ends with the terminal as it was. Raises SystemExit after a failure."""
    app = FairestApp(start)
    asyncio.run(app.run_until_done())
    try:
        print(*app.last_words, sep="\n", end="\n" * bool(app.last_words), file=sys.stderr, flush=True)
    except OSError:
        # The terminal is gone. What lies in the buffers goes nowhere, or Python would end with a code of its own.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is not None:
                os.dup2(nowhere, stream.fileno())
    if app.return_code:
        raise SystemExit(app.return_code)


def screen_of(session: RoomSession) -> type[RoomScreen] | None:
    """The screen for what goes on in the room; None as long as we are not in."""
    scene = session.model.scene
    if scene is None:
        return None
    if session.is_spectator:
        return WatchScreen
    match scene.phase:
        case Phase.COUNTDOWN:
            return Countdown
        case Phase.RACING:
            return RaceScreen if session.model.board is not None else WaitingRoom
        case Phase.FINISHED if session.finished is not None:
            return ResultScreen
        case Phase.READY | Phase.DEALING if session.finished is not None:
            return ResultScreen
        case _:
            return WaitingRoom
