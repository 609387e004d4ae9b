"""What all screens of a room have in common: the visit, the clock, the size they need, a banner for a lost link."""

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.board_text import format_time
from fairest_cli.tui.board.card_style import CardStyle, card_style_of
from fairest_cli.tui.screens.keys import KeysScreen
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.board import Board

if TYPE_CHECKING:
    from fairest_cli.tui.app import FairestApp

LOST = " Connection lost. Your seat waits, nothing is undone; coming back by itself ..."
CONNECTING = " On the way to the server ... "


class FairestScreen(Screen[None]):
    """A screen of ours: it knows the settings and says what it needs where the terminal is too small for it."""

    NEEDS: ClassVar[tuple[int, int]] = (60, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "show_keys", "Keys and rules")]

    @property
    def face(self) -> "FairestApp":
        """The program that this is a screen of."""
        return self.app  # type: ignore[return-value]

    @property
    def settings(self) -> Settings:
        """What the player has chosen."""
        return self.face.settings

    @property
    def card_style(self) -> CardStyle:
        """The cards as the player wants to see them."""
        return card_style_of(self.face.settings)

    def compose(self) -> ComposeResult:
        """What every screen has, under its own parts."""
        yield Paragraph(id="too-small")
        yield from self.parts()

    def parts(self) -> ComposeResult:
        """The widgets of this screen alone."""
        return ()

    def on_resize(self) -> None:
        """Say what is needed where there is not enough room, and draw for the new size."""
        columns, lines = self.NEEDS
        is_too_small = self.size.width < columns or self.size.height < lines
        self.set_class(is_too_small, "-too-small")
        self.query_one("#too-small", Paragraph).show(
            Text(
                f"This needs {columns} columns and {lines} lines.\n"
                f"The terminal has {self.size.width} and {self.size.height}.\n\n"
                f"Make it larger, or use --plain.\n{self.comfort()}"
            )
        )
        self.call_after_refresh(self.draw)

    def comfort(self) -> str:
        """What else to say to somebody whose terminal is too small."""
        return ""

    @property
    def is_too_small(self) -> bool:
        """Whether this screen shows nothing but what it needs."""
        return self.has_class("-too-small")

    def draw(self) -> None:
        """Draw everything that depends on what is known, the settings and the size."""

    def action_show_keys(self) -> None:
        """All keys, and the sequences."""
        self.app.push_screen(KeysScreen(self.settings.keys, None))


class RoomScreen(FairestScreen):
    """A screen of a room."""

    def __init__(self, session: RoomSession) -> None:
        super().__init__()
        self.session = session

    def compose(self) -> ComposeResult:
        """What every screen of a room has."""
        yield TextLines(id="banner")
        yield from super().compose()

    def on_mount(self) -> None:
        """Draw, and keep the clock going; nothing else moves by itself."""
        self.set_interval(1.0, self.tick)
        self.draw()
        self.show_link()

    def show(self, before: KnownRoom, update: Update) -> None:
        """Something changed in the room."""
        if before.status is not update.model.status:
            self.show_link()
        self.draw()

    def show_link(self) -> None:
        """The banner, while the server is away."""
        link = self.session.model.status
        self.set_class(link is not ConnectionStatus.CONNECTED, "-frozen")
        self.query_one("#banner", TextLines).show(LOST if self.session.model.room is not None else CONNECTING)

    def tick(self) -> None:
        """A second has passed."""

    def comfort(self) -> str:
        """A terminal that is too small costs nobody a race."""
        return "Your race goes on: no key moves a card meanwhile." if self.session.is_racing else ""

    def seconds_left(self) -> float | None:
        """Until the present phase ends by itself."""
        scene = self.session.model.scene
        if scene is None or scene.deadline_ms is None:
            return None
        return max(0, scene.deadline_ms - (self.session.clock() - self.session.model.clock_ahead_ms)) / 1000

    def time_left(self) -> str:
        """The same, for people."""
        seconds = self.seconds_left()
        return "" if seconds is None else format_time(seconds)

    def name_of(self, seat: int, model: KnownRoom | None = None) -> str:
        """A player's name, fit for a terminal."""
        known = model or self.session.model
        name = known.scene.seats[seat].name if known.scene else None
        return clean(name or f"seat {seat + 1}")

    def action_show_keys(self) -> None:
        """All keys, and the sequences of this race."""
        model = self.session.model
        self.app.push_screen(KeysScreen(self.settings.keys, model.board or _any_board(model)))


def _any_board(model: KnownRoom) -> Board | None:
    return None if model.scene is None else model.scene.seats[0].board
