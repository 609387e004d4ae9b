"""The common parts of screens: the program as they see it, the size that they need, the session with a room."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.screen import Screen
from textual.worker import Worker

from fairest_cli.model.known_room import ConnectionStatus, KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.absence import (
    describe_lost,
    describe_lost_shortly,
    describe_missing,
    describe_missing_shortly,
)
from fairest_cli.text.board_text import format_time
from fairest_cli.text.narration import player_name
from fairest_cli.tui.board.card_style import CardStyle, card_style_of, longest_fit
from fairest_cli.tui.room_runner import RoomRunner
from fairest_cli.tui.screens.help import NO_KEYS, HelpScreen, OwnKeys
from fairest_cli.tui.settings import Settings
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.value import replace

CONNECTING_BANNER = " Connecting to the server ..."


class ScreenHost(Protocol):
    """The program as its screens see it: what `FairestApp` offers them, so that no screen imports it."""

    settings: Settings
    settings_path: Path
    shows_unicode: bool
    rooms: RoomRunner
    clock: Callable[[], int]

    def apply_settings(self, settings: Settings) -> None:
        """Draw by `settings` from now on."""

    def quit_now(self) -> None:
        """End the program without asking."""


class FairestScreen(Screen[None]):
    """A screen of the program. In a terminal smaller than `MIN_SIZE` it shows only which size it needs."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (60, 16)
    """Columns and lines."""
    OWN_KEYS: ClassVar[OwnKeys] = NO_KEYS
    """The keys of this kind of screen, for the page of keys."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "show_keys", "Keys and rules")]

    @property
    def program(self) -> ScreenHost:
        """The program that this is a screen of."""
        return cast("ScreenHost", self.app)

    @property
    def settings(self) -> Settings:
        """The settings to draw by: those of the player, with ASCII cards where the terminal shows nothing else."""
        chosen = self.program.settings
        return chosen if self.program.shows_unicode else replace(chosen, ascii_cards=True)

    @property
    def card_style(self) -> CardStyle:
        """The look of cards by the player's settings."""
        return card_style_of(self.settings)

    def compose(self) -> ComposeResult:
        """Add the notice for small terminals, which covers the screen when it is displayed."""
        yield Paragraph(id="too-small")
        yield from self.compose_body()

    def compose_body(self) -> ComposeResult:
        """Yield the widgets of this kind of screen."""
        return ()

    def on_resize(self) -> None:
        """Redraw for the new size, or say which size the screen needs."""
        columns, lines = self.MIN_SIZE
        is_too_small = self.size.width < columns or self.size.height < lines
        self.set_class(is_too_small, "-too-small")
        self.query_one("#too-small", Paragraph).update(
            Text(
                f"This screen needs {columns} columns and {lines} lines.\n"
                f"The terminal has {self.size.width} columns and {self.size.height} lines.\n\n"
                f"Make it larger, or start fairest with --plain.\n{self.too_small_note()}"
            )
        )
        self.call_after_refresh(self.draw)

    def on_race_boards_resized(self) -> None:
        """Redraw a table for the room that it has now: a line below it may have come or gone."""
        self.draw()

    def too_small_note(self) -> str:
        """Return a sentence to add where the terminal is too small, or nothing."""
        return ""

    @property
    def is_too_small(self) -> bool:
        """Whether the terminal is too small, so that the screen shows nothing else."""
        return self.has_class("-too-small")

    def draw(self) -> None:
        """Redraw everything that depends on the model, the settings and the size."""

    def run_in_background(
        self, work: Callable[[], Coroutine[Any, Any, None]], group: str = "default", *, exclusive: bool = False
    ) -> Worker[None]:
        """Run `work` until this screen is closed. With `exclusive`, what runs in the same group is cancelled.

        It is a function, since a coroutine that is made while the program ends would never be awaited.
        """

        async def run() -> None:
            try:
                await work()
            except (NoMatches, NoScreen):
                # Textual removes the widgets of a screen that is closed before it cancels the work that shows them.
                if self.app.is_running and self in self.app.screen_stack:
                    raise

        return self.run_worker(run, group=group, exclusive=exclusive)

    def action_show_keys(self) -> None:
        """Show all keys and the rules over this screen."""
        self.app.push_screen(
            HelpScreen(self.settings.keys, self.board_for_help(), arrow=self.card_style.arrow, own_keys=self.OWN_KEYS)
        )

    def board_for_help(self) -> Board | None:
        """Return the board whose sequences the page of keys shows; None for those of the usual rules."""
        return None


class RoomScreen(FairestScreen):
    """A screen of a room, with a banner while the server is away."""

    def __init__(self, session: RoomSession) -> None:
        super().__init__()
        self.session = session

    def compose(self) -> ComposeResult:
        """Add the banner for a lost connection."""
        yield TextLines(id="banner")
        yield from super().compose()

    def on_mount(self) -> None:
        """Draw, and start the clock: nothing else changes without an update."""
        self.set_interval(1.0, self.tick)
        self.set_interval(1.0, self.show_connection)
        self.draw()
        self.show_connection()

    def show_update(self, before: KnownRoom, update: Update) -> None:  # noqa: ARG002 (subclasses use both)
        """Redraw after a change in the room. `before` is the model that `update` changed."""
        self.show_connection()
        self.draw()

    def show_connection(self) -> None:
        """Show who is away and for how long the seat waits: we, which also dims the boards, or another player."""
        model, now_ms = self.session.model, self.session.clock()
        is_connected = model.status is ConnectionStatus.CONNECTED
        missing = describe_missing(model, now_ms) if is_connected else ""
        short = describe_missing_shortly(model, now_ms)
        self.set_class(not is_connected, "-frozen")
        self.set_class(bool(missing), "-missing")
        if model.room is None:
            banner = CONNECTING_BANNER
        elif not is_connected:
            long = describe_lost(model, now_ms)
            banner = f" {long if len(long) < self.size.width else describe_lost_shortly(model, now_ms)}"
        else:
            left = f"  {self.time_left()} left" if self.session.is_racing and self.time_left() else ""
            wordings = [f" {words}{more}" for words in (missing, short) for more in (left, "")]
            banner = longest_fit(wordings, self.size.width)
        self.query_one("#banner", TextLines).update(banner)

    def tick(self) -> None:
        """Redraw what depends on the clock; called once a second."""

    def too_small_note(self) -> str:
        """Return a sentence that a race goes on, but is safe from keys pressed blindly."""
        return "Your race goes on; until then, no key moves a card." if self.session.is_racing else ""

    def seconds_left(self) -> float | None:
        """Return the seconds until the present phase ends by itself, or None if it has no deadline."""
        scene = self.session.model.scene
        if scene is None or scene.until_ms is None:
            return None
        return max(0, scene.until_ms - (self.session.clock() - self.session.model.clock_ahead_ms)) / 1000

    def time_left(self) -> str:
        """Return `seconds_left` for people, or an empty string if the phase has no deadline."""
        seconds = self.seconds_left()
        return "" if seconds is None else format_time(seconds)

    def name_of(self, seat: int, model: KnownRoom | None = None) -> str:
        """Return the name of the player in `seat`, safe to show in a terminal."""
        return player_name(model or self.session.model, seat)

    def board_for_help(self) -> Board | None:
        """Return the player's board, or for a spectator the board in the first seat."""
        return self.session.model.board or _any_board(self.session.model)


def _any_board(model: KnownRoom) -> Board | None:
    return None if model.scene is None else model.scene.seats[0].board
