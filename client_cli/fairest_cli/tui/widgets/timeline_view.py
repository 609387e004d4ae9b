"""Both boards of a match side by side, with keys and a bar to move through its time. Replays and spectators use it."""

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer

from fairest_cli.text.board_text import format_time
from fairest_cli.tui.board.board_lines import side_lines
from fairest_cli.tui.board.card_style import GOLD, QUIET, CardStyle
from fairest_cli.tui.board.timeline import Timeline
from fairest_cli.tui.widgets.text_lines import TextLines


class SeekBar(TextLines):
    """Shows which part of a timeline is over; a click seeks to that part."""

    class Sought(Message):
        """Posted when the bar is clicked at `fraction` of its width, from 0 to 1."""

        def __init__(self, fraction: float) -> None:
            super().__init__()
            self.fraction = fraction

    def on_click(self, event: events.Click) -> None:
        """Post `Sought` with the clicked part of the bar."""
        event.stop()
        self.post_message(self.Sought(event.x / max(1, self.size.width - 1)))


class TimelineView(Vertical, can_focus=True):
    """Shows the current moment of a timeline and moves through it by keys and clicks."""

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
        super().__init__(id="timeline")
        self.timeline = timeline
        self.names = names
        self.card_style = card_style
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Yield both boards, the label of the moment, the bar, and a line with the state and the keys."""
        with Horizontal(id="sides"):
            yield TextLines(id="side-0", classes="side")
            yield TextLines(id="side-1", classes="side")
        yield TextLines(id="label")
        yield SeekBar(id="seek")
        yield TextLines(id="transport")

    def on_mount(self) -> None:
        """Take the keyboard and draw."""
        self.focus()
        self.draw()

    def on_resize(self) -> None:
        """Redraw once the boards have their new size."""
        self.call_after_refresh(self.draw)

    def show_timeline(self, timeline: Timeline) -> None:
        """Show `timeline` from now on; while it plays, advance it by a timer."""
        self.timeline = timeline
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if timeline.is_playing:
            self._timer = self.set_timer(timeline.wait_ms() / 1000, self._advance)
        self.draw()

    def draw(self) -> None:
        """Redraw the boards, the label, the bar and the state."""
        moment = self.timeline.shown
        if not self.is_mounted:
            return
        for seat in (0, 1):
            side = self.query_one(f"#side-{seat}", TextLines)
            if moment is None:
                side.update(Text(f" {self.names[seat]}", "bold"))
                continue
            board = moment.boards[seat]
            goal = f" of {board.goal}" if board else ""
            head = Text.assemble((f" {self.names[seat]} ", "bold"), (f"{moment.counts[seat]}{goal}", GOLD))
            if board is not None and board.placed != moment.counts[seat]:
                head.append(f"  ({board.placed} shown)", QUIET)
            if moment.outcome is not None and moment.outcome.winner == seat:
                head.append("  wins", f"bold {GOLD}")
            lines = (
                [head]
                if board is None
                else side_lines(head, board, side.size.width - 1, side.size.height, self.card_style)
            )
            side.update(lines)
        label = "" if moment is None else moment.label
        self.query_one("#label", TextLines).update(Text(f" {label}", "bold", no_wrap=True))
        seek = self.query_one("#seek", SeekBar)
        seek.update(_bar(self.timeline, seek.size.width))
        self.query_one("#transport", TextLines).update(_transport(self.timeline))

    def on_key(self, event: events.Key) -> None:
        """Seek to the part that a digit stands for: 0 is the start, 9 the end."""
        if event.character is not None and event.character in "0123456789":
            event.stop()
            self.show_timeline(self.timeline.sought(int(event.character) / 9))

    @on(SeekBar.Sought)
    def seek_to(self, message: SeekBar.Sought) -> None:
        """Seek to the clicked part."""
        message.stop()
        self.show_timeline(self.timeline.sought(message.fraction))

    def action_play_or_pause(self) -> None:
        """Play a paused timeline; pause one that plays."""
        self.show_timeline(self.timeline.toggled())

    def action_step(self, steps: int) -> None:
        """Move `steps` moments on, or back if negative, and pause."""
        self.show_timeline(self.timeline.stepped(steps))

    def action_seek(self, ninths: int) -> None:
        """Seek to that part: 0 is the start, 9 the end."""
        self.show_timeline(self.timeline.sought(ninths / 9))

    def action_speed(self, steps: int) -> None:
        """Play faster, or slower if `steps` is negative."""
        self.show_timeline(self.timeline.at_speed(steps))

    def _advance(self) -> None:
        self.show_timeline(self.timeline.advanced())


def _bar(timeline: Timeline, columns: int) -> Text:
    if not timeline.moments or columns < 3:
        return Text()
    done = round(timeline.index * (columns - 1) / max(1, len(timeline.moments) - 1))
    return Text.assemble(("=" * done, GOLD), ("O", f"bold {GOLD}"), ("-" * (columns - 1 - done), QUIET))


def _transport(timeline: Timeline) -> Text:
    """Return the state, the speed, the position in the timeline, and the keys."""
    moment = timeline.shown
    if moment is None:
        return Text()
    state = "live" if timeline.is_live and timeline.is_at_end else "playing" if timeline.is_playing else "paused"
    text = Text(no_wrap=True)
    text.append(f" {state} ", f"bold #1d1d1d on {GOLD}")
    text.append(
        f" {timeline.speed:g}x  {timeline.index + 1}/{len(timeline.moments)}  {format_time(moment.at_ms / 1000)} ",
        "bold",
    )
    keys = (
        ("Space", "pause" if timeline.is_playing else "play"),
        ("Left Right", "step"),
        ("0-9", "seek"),
        ("+ -", "speed"),
        ("Esc", ""),
    )
    for key, meaning in keys:
        text.append(f" {key}", f"bold {GOLD}").append(f" {meaning}", QUIET)
    return text
