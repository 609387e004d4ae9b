"""Both boards of a match side by side, and the way through its time: for a replay, and for a race that is watched."""

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer

from fairest_cli.text.board_text import format_time
from fairest_cli.tui.board.board_lines import side
from fairest_cli.tui.board.card_style import GOLD, QUIET, CardStyle
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.widgets.text_lines import TextLines


class SeekBar(TextLines):
    """How far a reel is; a click leads there."""

    class Sought(Message):
        """Somebody clicked at this part of the bar, from 0 to 1."""

        def __init__(self, fraction: float) -> None:
            super().__init__()
            self.fraction = fraction

    def on_click(self, event: events.Click) -> None:
        """Tell the stage."""
        event.stop()
        self.post_message(self.Sought(event.x / max(1, self.size.width - 1)))


class TimelineView(Vertical, can_focus=True):
    """Shows a reel, and moves through it by keys and clicks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play_or_pause", "Play or pause"),
        Binding("right,l", "step(1)", "Next"),
        Binding("left,h", "step(-1)", "Back"),
        Binding("pagedown", "step(10)", "Ten on"),
        Binding("pageup", "step(-10)", "Ten back"),
        Binding("home", "seek(0)", "Start"),
        Binding("end", "seek(9)", "End"),
        Binding("plus,up,equals_sign", "speed(1)", "Faster"),
        Binding("minus,down", "speed(-1)", "Slower"),
    ]

    def __init__(self, timeline: Timeline, names: tuple[str, str], card_style: CardStyle) -> None:
        super().__init__(id="stage")
        self.timeline = timeline
        self.names = names
        self.card_style = card_style
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Boards, what happened, the bar."""
        with Horizontal(id="sides"):
            yield TextLines(id="side-0", classes="side")
            yield TextLines(id="side-1", classes="side")
        yield TextLines(id="label")
        yield SeekBar(id="seek")
        yield TextLines(id="transport")

    def on_mount(self) -> None:
        """Keys come here."""
        self.focus()
        self.draw()

    def on_resize(self) -> None:
        """For the new size."""
        self.call_after_refresh(self.draw)

    def show(self, timeline: Timeline) -> None:
        """Show this reel from now on."""
        self.timeline = timeline
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if timeline.is_playing:
            self._timer = self.set_timer(timeline.wait_ms() / 1000, self._go_on)
        self.draw()

    def draw(self) -> None:
        """The moment that is shown."""
        moment = self.timeline.shown
        if not self.is_mounted:
            return
        for seat in (0, 1):
            picture = self.query_one(f"#side-{seat}", TextLines)
            if moment is None:
                picture.show(Text(f" {self.names[seat]}", "bold"))
                continue
            board = moment.boards[seat]
            goal = f" of {board.goal}" if board else ""
            head = Text.assemble((f" {self.names[seat]} ", "bold"), (f"{moment.counts[seat]}{goal}", GOLD))
            if board is not None and board.placed != moment.counts[seat]:
                head.append(f"  (shown: {board.placed})", QUIET)
            if moment.outcome is not None and moment.outcome.winner == seat:
                head.append("  wins", f"bold {GOLD}")
            lines = (
                [head]
                if board is None
                else side(head, board, picture.size.width - 1, picture.size.height, self.card_style)
            )
            picture.show(lines)
        label = "" if moment is None else moment.label
        self.query_one("#label", TextLines).show(Text(f" {label}", "bold", no_wrap=True))
        seek = self.query_one("#seek", SeekBar)
        seek.show(_bar(self.timeline, seek.size.width))
        self.query_one("#transport", TextLines).show(_transport(self.timeline))

    def on_key(self, event: events.Key) -> None:
        """A digit leads to that tenth."""
        if event.character is not None and event.character in "0123456789":
            event.stop()
            self.show(self.timeline.sought(int(event.character) / 9))

    @on(SeekBar.Sought)
    def seek_to(self, message: SeekBar.Sought) -> None:
        """There."""
        message.stop()
        self.show(self.timeline.sought(message.fraction))

    def action_play_or_pause(self) -> None:
        """Play or pause."""
        self.show(self.timeline.toggled())

    def action_step(self, steps: int) -> None:
        """So many moments on or back."""
        self.show(self.timeline.stepped(steps))

    def action_seek(self, ninths: int) -> None:
        """To the start or the end."""
        self.show(self.timeline.sought(ninths / 9))

    def action_speed(self, faster: int) -> None:
        """Faster or slower."""
        self.show(self.timeline.at_speed(faster))

    def _go_on(self) -> None:
        self.show(self.timeline.played())


def _bar(timeline: Timeline, columns: int) -> Text:
    if not timeline.moments or columns < 3:
        return Text()
    done = round(timeline.place * (columns - 1) / max(1, len(timeline.moments) - 1))
    return Text.assemble(("=" * done, GOLD), ("O", f"bold {GOLD}"), ("-" * (columns - 1 - done), QUIET))


def _transport(timeline: Timeline) -> Text:
    """Where we are, and the keys."""
    moment = timeline.shown
    if moment is None:
        return Text()
    state = "live" if timeline.is_live and timeline.is_at_end else "playing" if timeline.is_playing else "paused"
    text = Text(no_wrap=True)
    text.append(f" {state} ", f"bold #1d1d1d on {GOLD}")
    text.append(
        f" {timeline.speed:g}x  {timeline.place + 1}/{len(timeline.moments)}  {format_time(moment.at_ms / 1000)} ",
        "bold",
    )
    keys = (("Space", "play"), ("Left Right", "step"), ("0-9", "seek"), ("+ -", "speed"), ("Esc", ""))
    for key, meaning in keys:
        text.append(f" {key}", f"bold {GOLD}").append(f" {meaning}", QUIET)
    return text
