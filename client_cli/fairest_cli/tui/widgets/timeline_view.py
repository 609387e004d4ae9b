"""Both boards of a match side by side, with keys and a bar to move through its time. Replays and spectators use it."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer

from fairest_cli.text.board_text import format_time
from fairest_cli.tui.board.board_lines import side_lines
from fairest_cli.tui.board.card_style import GOLD, QUIET, CardStyle, key_line
from fairest_cli.tui.board.timeline import Moment, Timeline
from fairest_cli.tui.board.turning_points import (
    Turn,
    TurningPoint,
    describe_lead,
    describe_turning_point,
    next_index,
    turning_points,
)
from fairest_cli.tui.widgets.text_lines import TextLines

TIMELINE_KEYS: Final = (
    ("Space", "play or pause"),
    ("Left Right", "one step; PgUp and PgDn, ten steps"),
    ("0-9 Home End", "go to that part: 0 is the start, 9 the end"),
    ("+ -", "faster or slower"),
    ("n Shift+N", "to the next or the last change of lead"),
    ("f Shift+F", "to the next or the last complete foundation"),
    ("mouse", "click the bar; its marks are turning points"),
)
"""The keys of `TimelineView`, for the page of keys."""


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
        Binding("n", "turn('lead', 1)", "Next change of lead"),
        Binding("N", "turn('lead', -1)", "Last change of lead"),
        Binding("f", "turn('foundation', 1)", "Next complete foundation"),
        Binding("F", "turn('foundation', -1)", "Last complete foundation"),
    ]

    def __init__(
        self, timeline: Timeline, names: tuple[str, ...], card_style: CardStyle, *, left_seat: int = 0
    ) -> None:
        """`names` are those of both seats, or of the only one; the board of `left_seat` stands on the left."""
        super().__init__(id="timeline")
        self._seats = (left_seat, 1 - left_seat) if len(names) > 1 else (0,)
        self._points: tuple[Sequence[Moment], list[TurningPoint]] = ((), [])
        """The moments that were searched last for turning points, and the turning points."""
        self.timeline = timeline
        self.names = names
        self.card_style = card_style
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Yield both boards, the label of the moment, the bar, and a line with the state and the keys."""
        with Horizontal(id="sides"):
            for place in range(len(self._seats)):
                yield TextLines(id=f"side-{place}", classes="side")
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
        for place, seat in enumerate(self._seats):
            side = self.query_one(f"#side-{place}", TextLines)
            if moment is None:
                side.update(Text(f" {self.names[seat]}", "bold"))
                continue
            board = moment.boards[seat]
            goal = f" of {board.goal}" if board else ""
            head = Text.assemble((f" {self.names[seat]} ", "bold"), (f"{moment.counts[seat]}{goal}", GOLD))
            shown = "" if board is None or board.placed == moment.counts[seat] else f"  ({board.placed} shown)"
            if head.cell_len + len(shown) < side.size.width:
                head.append(shown, QUIET)
            if moment.outcome is not None and moment.outcome.winner == seat:
                head.append("  wins", f"bold {GOLD}")
            lines = (
                [head]
                if board is None
                else side_lines(head, board, side.size.width - 1, side.size.height, self.card_style)
            )
            side.update(lines)
        self.query_one("#label", TextLines).update(
            _label(self.timeline, self.turning_points, self.names, self.size.width)
        )
        seek = self.query_one("#seek", SeekBar)
        seek.update(_bar(self.timeline, [point.index for point in self.turning_points], seek.size.width))
        self.query_one("#transport", TextLines).update(
            _transport(self.timeline, self.size.width, has_leads=len(self.names) > 1)
        )

    @property
    def turning_points(self) -> list[TurningPoint]:
        """The turning points of the timeline."""
        moments, points = self._points
        if moments is not self.timeline.moments:
            points = turning_points(self.timeline.moments)
            self._points = (self.timeline.moments, points)
        return points

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

    def action_turn(self, kind: str, direction: int) -> None:
        """Go to the next change of lead or complete foundation, or with -1 to the last one, and pause."""
        index = next_index(self.turning_points, Turn(kind), self.timeline.index, direction)
        if index is None:
            none = "change of lead" if kind == Turn.LEAD else "complete foundation"
            where = "after" if direction > 0 else "before"
            self.query_one("#label", TextLines).update(Text(f" There is no {none} {where} this.", QUIET))
        else:
            self.action_step(index - self.timeline.index)

    def action_speed(self, steps: int) -> None:
        """Play faster, or slower if `steps` is negative."""
        self.show_timeline(self.timeline.at_speed(steps))

    def _advance(self) -> None:
        self.show_timeline(self.timeline.advanced())


def _label(timeline: Timeline, points: Sequence[TurningPoint], names: Sequence[str], columns: int) -> Text:
    """Return what happened at the shown moment, whether that is a turning point, and, if it fits, who leads."""
    moment = timeline.shown
    if moment is None:
        return Text()
    words = [describe_turning_point(point, moment, names) for point in points if point.index == timeline.index]
    text = Text(f" {moment.label}", "bold", no_wrap=True)
    text.append("".join(f"; {each}" for each in words), f"bold {GOLD}")
    lead = f"   {describe_lead(moment, names)}" if len(names) > 1 else ""
    return text.append(lead if text.cell_len + len(lead) <= columns else "", QUIET)


def _bar(timeline: Timeline, turns: Sequence[int], columns: int) -> Text:
    """Return the bar, with a mark at each turning point."""
    if not timeline.moments or columns < 3:
        return Text()
    last = max(1, len(timeline.moments) - 1)
    done = round(timeline.index * (columns - 1) / last)
    marks = {round(index * (columns - 1) / last) for index in turns}
    text = Text()
    for column in range(columns):
        letter = "O" if column == done else "|" if column in marks else "=" if column < done else "-"
        text.append(letter, f"bold {GOLD}" if letter in "O|" else GOLD if column < done else QUIET)
    return text


def _transport(timeline: Timeline, columns: int, *, has_leads: bool) -> Text:
    """Return the state, the speed, the position in the timeline, and the keys, with their meanings if they fit."""
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
    space = "pause" if timeline.is_playing else "play"
    wordings = (
        (("Space", space), ("Left Right", "step"), ("n", "change of lead"), ("f", "foundation"), ("?", "keys")),
        (("Space", space), ("n", "lead"), ("f", "foundation"), ("?", "keys")),
        (("Space", space), ("n", ""), ("f", ""), ("?", "keys")),
    )
    kept = [[pair for pair in keys if has_leads or pair[0] != "n"] for keys in wordings]
    lines = [text.copy().append_text(key_line(keys)) for keys in kept]
    return next((line for line in lines if line.cell_len <= columns), lines[-1])
