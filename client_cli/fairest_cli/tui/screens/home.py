"""The first screen: everything that the program offers, each entry with its key."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.bots.levels import Level
from fairest_cli.bots.offering import level_at_home
from fairest_cli.records.files import records_folder
from fairest_cli.tui.board.card_style import CARD_LINES, GOLD, QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.room_code_prompt import RoomCodePrompt, read_code
from fairest_cli.tui.screens.room_form import RoomForm, options_from
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.calculation.cards import Card
from fairest_protocol.messages.from_client import Create

ENTRIES = (
    Choice("bot", "b  Race a bot", note="on this machine"),
    Choice("create", "c  Create a room", note="a friend joins with its code"),
    Choice("join", "j  Join a room", note="by its code"),
    Choice("watch", "w  Watch a room", note="by its code"),
    Choice("lobby", "l  Lobby", note="rooms to join or to watch"),
    Choice("history", "m  Past matches", note="and their replays"),
    Choice("settings", "s  Settings", note="keys, cards, hints"),
    Choice("keys", "?  How to play", note="the rules and every key"),
    Choice("quit", "q  Quit"),
)
STARTERS = ("AS", "2H", "3C", "4D")
"""The cards of the logo: the starters of the usual foundations."""


class HomeScreen(FairestScreen):
    """The screen that every other one returns to. `notice` says how the last session ended."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"go('{name}')", show=False)
        for key, name in zip(
            "bcjwlmsq", ("bot", "create", "join", "watch", "lobby", "history", "settings", "quit"), strict=True
        )
    ]

    def __init__(self, server_url: str, notice: str = "") -> None:
        super().__init__()
        self._server_url = server_url
        self._notice = notice
        self._typed_code = ""
        """The code that was typed last, to be corrected if there is no such room."""

    def compose_body(self) -> ComposeResult:
        """Yield the logo, the list of entries, the notice, and the address of the server."""
        with Vertical(id="home"):
            yield TextLines(id="logo")
            yield TextLines(Text("F A I R E S T", f"bold {GOLD}"), id="title")
            yield TextLines(Text("the same sealed deck for both, a race to place it", QUIET), id="motto")
            yield ChoiceList(ENTRIES, id="entries")
            yield Paragraph(id="home-notice")
            yield TextLines(id="where")

    def on_mount(self) -> None:
        """Give the list the keyboard."""
        self.query_one(ChoiceList).focus()
        self.draw()

    def on_screen_resume(self) -> None:
        """Redraw: the settings may have changed while another screen was open."""
        self.draw()

    def show_notice(self, notice: str) -> None:
        """Show a sentence below the list until the player chooses an entry."""
        self._notice = notice
        self.draw()

    def draw(self) -> None:
        """Redraw the logo, the notice and the address."""
        if not self.is_mounted:
            return
        cards = [self.card_style.card(Card(text)) for text in STARTERS]
        rows = [Text("  ").join([card[line] for card in cards]) for line in range(CARD_LINES)]
        self.query_one("#logo", TextLines).update(Text("\n").join(rows))
        self.query_one("#home-notice", Paragraph).update(Text(self._notice, "bold #ff8a70"))
        self.query_one("#where", TextLines).update(Text(f"rooms are on {self._server_url}", QUIET))

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Open what the chosen entry stands for."""
        self.action_go(message.name)

    def action_go(self, name: str) -> None:
        """Clear the notice and open what the entry called `name` stands for."""
        self.show_notice("")
        match name:
            case "bot":
                self.app.push_screen(
                    RoomForm(is_against_bot=True, level=level_at_home(records_folder())), self._race_bot
                )
            case "create":
                self.app.push_screen(RoomForm(is_against_bot=False), self._create)
            case "join":
                self.app.push_screen(RoomCodePrompt("join", self._typed_code), self._join)
            case "watch":
                self.app.push_screen(RoomCodePrompt("watch", self._typed_code), self._watch)
            case "lobby":
                self.app.push_screen(LobbyScreen(self._server_url))
            case "history":
                self.app.push_screen(HistoryScreen())
            case "settings":
                self.app.push_screen(SettingsScreen())
            case "keys":
                self.action_show_keys()
            case _:
                self.program.quit_now()

    def _race_bot(self, form: ChoiceList | None) -> None:
        if form is not None:
            self.program.rooms.race_bot(Level(form.value("level")), options_from(form))

    def _create(self, form: ChoiceList | None) -> None:
        if form is not None:
            self.program.rooms.enter(Create(options=options_from(form)))

    def _join(self, code: str | None) -> None:
        if code:
            self._typed_code = code
            self.program.rooms.join(read_code(code))

    def _watch(self, code: str | None) -> None:
        if code:
            self._typed_code = code
            self.program.rooms.watch(read_code(code))
