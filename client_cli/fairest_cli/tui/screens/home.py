"""The first screen: everything that the program offers, each entry with its key."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from math import ceil
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.analysis.training import training_ghost
from fairest_cli.bots.levels import Level
from fairest_cli.bots.offering import level_at_home, offer_at_home
from fairest_cli.model.practice import Practice
from fairest_cli.records.files import records_folder
from fairest_cli.records.history import last_lost_round, past_matches
from fairest_cli.records.own_names import own_names
from fairest_cli.text.doctor import describe_finding, examine
from fairest_cli.tui.board.card_style import CARD_LINES, GOLD, QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.daily_form import open_daily
from fairest_cli.tui.screens.ghost import GhostCountdown
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.home_entries import ENTRIES, HomeEntries, lines_at
from fairest_cli.tui.screens.home_seats import HomeSeats
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.practice_form import PracticeForm
from fairest_cli.tui.screens.queue_form import QueueForm
from fairest_cli.tui.screens.ratings import RatingsScreen
from fairest_cli.tui.screens.record_opening import Use, open_record
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt, read_code
from fairest_cli.tui.screens.room_form import RoomForm, options_from, rival_seconds
from fairest_cli.tui.screens.rules import RulesScreen
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.screens.text_page import TextPage
from fairest_cli.tui.screens.tournament_list import TournamentListScreen
from fairest_cli.tui.screens.tutorial import TutorialScreen
from fairest_cli.tui.widgets.choice_list import ChoiceList
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.rules import choose_rules
from fairest_protocol.messages.from_client import Create, Queue

TITLE_LINES: Final = 2
"""The least lines besides the entries and the notice: title and address."""
RECENT: Final = 200
"""The newest records among which the deal that was lost last is searched."""
STARTERS = ("AS", "2H", "3C", "4D")
"""The cards of the logo: the starters of the usual foundations."""


class HomeScreen(FairestScreen):
    """The screen that every other one returns to. `notice` says how the last session ended."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        # `?` is the key of all screens for their keys.
        *(Binding(entry.key, f"go('{entry.name}')", show=False) for entry in ENTRIES if entry.key.isalpha()),
        Binding("z", "go('seat')", show=False),
    ]

    def __init__(self, notice: str = "") -> None:
        super().__init__()
        self._notice = notice
        self._typed_code = ""
        """The code that was typed last, to be corrected if there is no such room."""

    def compose_body(self) -> ComposeResult:
        """Yield the logo, the list of entries, the notice, and the address of the server."""
        with Vertical(id="home"):
            yield TextLines(id="logo")
            yield TextLines(Text("F A I R E S T", f"bold {GOLD}"), id="title")
            yield TextLines(Text("the same sealed deck for both, a race to place it", QUIET), id="motto")
            yield HomeEntries(id="home-entries")
            yield HomeSeats()
            yield Paragraph(id="home-notice")
            yield TextLines(id="where")

    def on_mount(self) -> None:
        """Draw, which gives the entries the keyboard."""
        self.draw()

    def on_screen_resume(self) -> None:
        """Redraw, and look for our seats: both may have changed while another screen was open."""
        self.query_one(HomeSeats).look(self.program.rooms)

    def show_notice(self, notice: str) -> None:
        """Show a sentence below the list until the player chooses an entry."""
        self._notice = notice
        self.draw()

    def draw(self) -> None:
        """Redraw the logo, the notice and the address."""
        if not self.is_mounted:
            return
        entries = self.query_one(HomeEntries)
        notice_lines = max(1, ceil(len(self._notice) / max(1, self.size.width)))
        room = self.size.height - TITLE_LINES - notice_lines - int(bool(self.query_one(HomeSeats).seats.codes))
        # What there is room for, the most important first: blank lines stand round the title before the logo.
        spare = room - lines_at(self.size.width)
        has_blanks, has_motto, has_logo = spare >= 2, spare >= 3, spare >= 3 + CARD_LINES
        self.query_one("#logo").display = has_logo
        self.query_one("#motto").display = has_motto
        self.query_one("#title").styles.margin = (int(has_blanks), 0, 0, 0)
        entries.styles.margin = (int(has_blanks), 0, 0, 0)
        entries.fit_into(self.size.width, max(4, room), has_blank=spare > 3 + CARD_LINES)
        cards = [self.card_style.card(Card(text)) for text in STARTERS]
        rows = [Text("  ").join([card[line] for card in cards]) for line in range(CARD_LINES)]
        self.query_one("#logo", TextLines).update(Text("\n").join(rows))
        notice = self.query_one("#home-notice", Paragraph)
        notice.update(Text(self._notice, "bold #ff8a70"))
        notice.refresh(layout=True)
        self.query_one("#where", TextLines).update(Text(f"rooms are on {self.program.rooms.server_url}", QUIET))

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Open what the chosen entry stands for."""
        self.action_go(message.name)

    def action_go(self, name: str) -> None:
        """Clear the notice and open what the entry called `name` stands for."""
        self.show_notice("")
        rooms = self.program.rooms
        match name:
            case "bot":
                self.app.push_screen(
                    RoomForm(is_against_bot=True, offer=offer_at_home(records_folder())), self._race_bot
                )
            case "quick":
                self.app.push_screen(QueueForm(), self._find_opponent)
            case "practice":
                self.app.push_screen(PracticeForm(), self._practise)
            case "create":
                offer = offer_at_home(records_folder())
                self.app.push_screen(RoomForm(is_against_bot=False, offer=offer), partial(self._create, offer.level))
            case "seat":
                self.query_one(HomeSeats).take(rooms)
            case "join":
                self._ask_code("join", self.program.rooms.join)
            case "watch":
                self._ask_code("watch", self.program.rooms.watch)
            case "lobby":
                self.app.push_screen(LobbyScreen(self.program.rooms.server_url))
            case "tv":
                self.program.rooms.watch_tv()
            case "leaderboard":
                self.app.push_screen(RatingsScreen(self.program.rooms.server_url))
            case "history":
                self.app.push_screen(HistoryScreen())
            case "daily":
                open_daily(self.app, rooms.server_url, rooms.player, self.program.clock)
            case "tournament":
                self.app.push_screen(TournamentListScreen(rooms.server_url, rooms.player))
            case "training":
                self.show_notice("The ghost gets ready ...")
                self.run_in_background(self._race_training, exclusive=True, group="training")
            case "lost":
                self.run_in_background(self._practise_lost, exclusive=True, group="lost")
            case "replay" | "verify":
                self.app.push_screen(HistoryScreen(Use(name)))
            case "rules":
                self.app.push_screen(RulesScreen())
            case "doctor":
                self.app.push_screen(doctor_page(self.program.rooms.server_url))
            case "settings":
                self.app.push_screen(SettingsScreen())
            case "tutorial":
                self.app.push_screen(TutorialScreen())
            case "keys":
                self.action_show_keys()
            case _:
                self.program.quit_now()

    def _race_bot(self, form: ChoiceList | None) -> None:
        if form is not None:
            self.program.rooms.race_bot(Level(form.value("level")), options_from(form))

    def _find_opponent(self, request: Queue | None) -> None:
        if request is not None:
            self.program.rooms.enter(request)

    def _practise(self, game: Practice | None) -> None:
        if game is not None:
            self.app.push_screen(PracticeScreen(game))

    async def _practise_lost(self) -> None:
        names = own_names(self.settings.name)
        matches = await asyncio.to_thread(past_matches, records_folder(), names, RECENT)
        found = last_lost_round(matches)
        if found is None:
            self.show_notice("Your newest records have no deal that you lost.")
            return
        match, number = found
        server = self.program.rooms.server_url
        problem = await open_record(self.app, str(match.path), Use.PRACTISE, server, self.settings, number)
        if problem:
            self.show_notice(clean(problem))

    async def _race_training(self) -> None:
        day = datetime.fromtimestamp(self.program.clock() / 1000, UTC).date()
        level = await asyncio.to_thread(level_at_home, records_folder())
        ghost = await asyncio.to_thread(training_ghost, choose_rules("classic"), day, level)
        self.show_notice("")
        if self.app.screen is self:
            self.app.push_screen(GhostCountdown(ghost))

    def _create(self, level: Level, form: ChoiceList | None) -> None:
        if form is not None:
            seconds = rival_seconds(form)
            wished = None if seconds is None else level
            self.program.rooms.enter(
                Create(options=options_from(form), rival_after_seconds=seconds, rival_level=wished)
            )

    def _ask_code(self, verb: str, enter: Callable[[str], object]) -> None:
        def on_typed(code: str | None) -> None:
            if code:
                self._typed_code = code
                enter(read_code(code))

        self.app.push_screen(RoomCodePrompt(verb, self._typed_code), on_typed)


def doctor_page(server_url: str) -> TextPage:
    """Return the page with the findings of `fairest doctor`, which come as they are made."""

    async def lines() -> AsyncGenerator[str, None]:
        async with aclosing(examine(server_url)) as findings:
            async for finding in findings:
                yield describe_finding(finding)

    return TextPage(f"fairest doctor --server {server_url}", lines)
