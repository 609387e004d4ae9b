"""The first screen: everything one can do, each with its key."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.tui.board.card_style import CARD_LINES, GOLD, QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.history import HistoryScreen
from fairest_cli.tui.screens.lobby import LobbyScreen
from fairest_cli.tui.screens.prompt import Ask
from fairest_cli.tui.screens.room_form import HOUSE, ROOM, RoomForm
from fairest_cli.tui.screens.settings import SettingsScreen
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.calculation.cards import Card

ENTRIES = (
    Choice("bot", "b  Race a bot", note="on this machine"),
    Choice("create", "c  Create a room", note="a friend comes in with its code"),
    Choice("join", "j  Join a room", note="by its code"),
    Choice("watch", "w  Watch a room", note="by its code"),
    Choice("lobby", "l  Lobby", note="rooms to join or to watch"),
    Choice("history", "m  Matches so far", note="and their replays"),
    Choice("settings", "s  Settings", note="keys, cards, hints"),
    Choice("keys", "?  How to play", note="in five lines, and every key"),
    Choice("quit", "q  Quit"),
)


class HomeScreen(FairestScreen):
    """Where every visit ends. `sentence` says how the last one did."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"go('{name}')", show=False)
        for key, name in zip(
            "bcjwlmsq", ("bot", "create", "join", "watch", "lobby", "history", "settings", "quit"), strict=True
        )
    ]

    def __init__(self, server: str, sentence: str = "") -> None:
        super().__init__()
        self._server = server
        self._sentence = sentence

    def parts(self) -> ComposeResult:
        """Four starters, the list, and where rooms are made."""
        with Vertical(id="home"):
            yield TextLines(id="logo")
            yield TextLines(Text("F A I R E S T", f"bold {GOLD}"), id="title")
            yield TextLines(Text("the same sealed deck for both, a race to place it", QUIET), id="motto")
            yield ChoiceList(ENTRIES, id="entries")
            yield Paragraph(id="sentence")
            yield TextLines(id="where")

    def on_mount(self) -> None:
        """Keys go to the list."""
        self.query_one(ChoiceList).focus()
        self.draw()

    def on_screen_resume(self) -> None:
        """Settings may have changed meanwhile."""
        self.draw()

    def say(self, sentence: str) -> None:
        """How the last visit ended."""
        self._sentence = sentence
        self.draw()

    def draw(self) -> None:
        """The cards as the settings want them, and the last sentence."""
        if not self.is_mounted:
            return
        cards = [self.card_style.card(Card(text)) for text in ("AS", "2H", "3C", "4D")]
        rows = [Text("  ").join([card[line] for card in cards]) for line in range(CARD_LINES)]
        logo = Text("\n").join(rows)
        self.query_one("#logo", TextLines).show(logo)
        self.query_one("#sentence", Paragraph).show(Text(self._sentence, "bold #ff8a70"))
        where = f"rooms are on {self._server}"
        self.query_one("#where", TextLines).show(Text(where, QUIET))

    def on_choice_list_done(self, message: ChoiceList.Done) -> None:
        """Enter or a click on an entry."""
        self.action_go(message.name)

    def action_go(self, name: str) -> None:
        """Do it."""
        self._sentence = ""
        self.draw()
        match name:
            case "bot":
                self.app.push_screen(RoomForm(HOUSE), self._opened)
            case "create":
                self.app.push_screen(RoomForm(ROOM), self._opened)
            case "join":
                self.app.push_screen(Ask("Which room? Its code looks like quiet-amber-otter"), self._join)
            case "watch":
                self.app.push_screen(Ask("Which room to watch? Its code looks like quiet-amber-otter"), self._watch)
            case "lobby":
                self.app.push_screen(LobbyScreen(self._server))
            case "history":
                self.app.push_screen(HistoryScreen())
            case "settings":
                self.app.push_screen(SettingsScreen())
            case "keys":
                self.action_show_keys()
            case _:
                self.face.quit_now()

    def _opened(self, form: "ChoiceList | None") -> None:
        if form is not None:
            self.face.open_from(form)

    def _join(self, code: str | None) -> None:
        if code:
            self.face.join_room(code)

    def _watch(self, code: str | None) -> None:
        if code:
            self.face.watch_room(code)
