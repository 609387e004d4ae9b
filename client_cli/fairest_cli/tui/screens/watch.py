"""A race that is being watched: the same stage as a replay, held at what both players have passed."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.narration import describe_changes
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.board.timeline import Timeline, moment_of
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.timeline_view import TimelineView
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
    """Everything that may be seen; one may step back in it, and come back to now."""

    NEEDS: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Leave")]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        self._started_ms = session.clock()

    def parts(self) -> ComposeResult:
        """A heading and the stage."""
        yield TextLines(id="heading")
        yield TimelineView(Timeline(is_live=True), ("", ""), self.card_style)

    def on_mount(self) -> None:
        """Begin with what is there."""
        super().on_mount()
        self._grow(["You watch from here on."])

    def show(self, before: KnownRoom, update: Update) -> None:
        """One more moment, or newer counts."""
        message = update.message
        if isinstance(message, View) and any(isinstance(entry, entries.Started) for entry in message.entries):
            self._started_ms = self.session.clock()
        if isinstance(message, Placed):
            stage = self.query_one(TimelineView)
            stage.show(stage.timeline.corrected((count_of(update.model, 0), count_of(update.model, 1))))
        elif isinstance(message, View):
            self._grow(list(describe_changes(before, update)))
        super().show(before, update)

    def tick(self) -> None:
        """The clock."""
        scene = self.session.model.scene
        if scene is None:
            return
        held = "you see everything" if scene.options.spectators is Spectators.OPEN else "you see what both have passed"
        left = f", {self.time_left()} left" if self.time_left() else ""
        words = " ".join(self.session.model.seal_check.check_words)
        proof = f"   check words: {words}" if words else ""
        text = f" {self.session.model.room}: {STATES[scene.phase]}{left}; {held}{proof}"
        self.query_one("#heading", TextLines).show(Text(text, QUIET, no_wrap=True))

    def draw(self) -> None:
        """The heading; the stage draws itself."""
        if not self.is_mounted or self.is_too_small:
            return
        self.tick()
        self.query_one(TimelineView).names = (self.name_of(0), self.name_of(1))
        self.query_one(TimelineView).draw()

    def _grow(self, label: list[str]) -> None:
        moment = moment_of(self.session.model, label, self.session.clock() - self._started_ms)
        stage = self.query_one(TimelineView)
        if moment is not None:
            stage.show(stage.timeline.grown(moment))

    async def action_leave(self) -> None:
        """Go home."""
        await self.face.leave_room()
