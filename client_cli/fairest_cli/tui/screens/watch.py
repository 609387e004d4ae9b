"""A race that is being watched: the boards as far as a spectator may see them, with a way to step back."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.narration import describe_changes
from fairest_cli.tui.board.card_style import QUIET, longest_fit
from fairest_cli.tui.board.timeline import Timeline, moment_of
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TIMELINE_KEYS, TimelineView
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Placed, View
from fairest_protocol.messages.options import Spectators

STATES = {
    Phase.WAITING: "waiting for players",
    Phase.READY: "getting ready",
    Phase.DEALING: "dealing",
    Phase.COUNTDOWN: "about to start",
    Phase.RACING: "racing",
    Phase.FINISHED: "over",
    Phase.CLOSED: "closed",
}


class WatchScreen(RoomScreen):
    """Shows both boards and adds a moment to the timeline with each view. The newest moment is shown as live."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys("Keys while watching", (*TIMELINE_KEYS, ("Esc", "leave")), is_race=False)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Leave")]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        self._started_ms = session.clock()

    def compose_body(self) -> ComposeResult:
        """Yield the state of the room and the timeline."""
        yield TextLines(id="heading")
        yield TimelineView(Timeline(is_live=True), ("", ""), self.card_style)

    def on_mount(self) -> None:
        """Begin the timeline with the boards as they are now."""
        super().on_mount()
        self._append_moment("You are watching from this moment on.")

    def show_update(self, before: KnownRoom, update: Update) -> None:
        """Add a moment for a view, or newer counts to the last moment."""
        message = update.message
        if isinstance(message, View) and any(isinstance(entry, entries.Started) for entry in message.entries):
            self._started_ms = self.session.clock()
        if isinstance(message, Placed):
            view = self.query_one(TimelineView)
            view.show_timeline(view.timeline.with_counts((count_of(update.model, 0), count_of(update.model, 1))))
        elif isinstance(message, View):
            self._append_moment(" ".join(describe_changes(before, update)))
        super().show_update(before, update)

    def tick(self) -> None:
        """Redraw the heading, which holds the clock."""
        scene = self.session.model.scene
        if scene is None:
            return
        is_open = scene.options.spectators is Spectators.OPEN
        watching = self.session.model.watching
        crowd = f", {watching} watching" if watching > 1 else ""
        visible = "shows everything" if is_open else "shows what both have turned"
        left = f", {self.time_left()} left" if self.time_left() else ""
        words = " ".join(self.session.model.seal_check.check_words)
        check_words = f"   check words: {words}" if words else ""
        state = f" {self.session.model.room}: {STATES[scene.phase]}{left}{crowd}; {visible}"
        # In a narrow terminal the check words are worth more than the code, the sentence and the state.
        medium = f" {STATES[scene.phase]}{left}{crowd}"
        short = f" {STATES[scene.phase]}{left}"
        full = (f"{state}{check_words}", f"{medium}{check_words}", f"{short}{check_words}")
        wordings = (*full, f"{short}   {words}", f" {words}{left}", short)
        line = longest_fit(wordings, self.size.width)
        self.query_one("#heading", TextLines).update(Text(line, QUIET, no_wrap=True))

    def draw(self) -> None:
        """Redraw the heading, and the timeline with the players' names."""
        if not self.is_mounted or self.is_too_small:
            return
        self.tick()
        self.query_one(TimelineView).names = (self.name_of(0), self.name_of(1))
        self.query_one(TimelineView).draw()

    def _append_moment(self, label: str) -> None:
        moment = moment_of(self.session.model, label, self.session.clock() - self._started_ms)
        view = self.query_one(TimelineView)
        if moment is not None:
            view.show_timeline(view.timeline.appended(moment))

    async def action_leave(self) -> None:
        """Stop watching and go home."""
        await self.program.rooms.leave()
