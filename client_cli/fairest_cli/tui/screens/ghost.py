"""A race against a ghost on the full screen: the countdown, and the table of a race, on which the ghost moves."""

from collections.abc import Callable
from functools import partial
from math import ceil
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.analysis.ghost import GhostRace
from fairest_cli.analysis.training import keep_best
from fairest_cli.text.board_text import format_time
from fairest_cli.text.ghost import describe_stops
from fairest_cli.text.move_text import YOU
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, key_line, longest_fit
from fairest_cli.tui.board.countdown_lines import countdown_lines
from fairest_cli.tui.board.lead_bar import RaceHead, lead_bar
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.board.race_chart import RaceCurves
from fairest_cli.tui.board.race_keys import describe_unknown_key, race_key_line
from fairest_cli.tui.board.standing import Standing, describe_own_end, describe_race_change
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.ghost_result import GhostResultScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.practice_menu import GhostMenu
from fairest_cli.tui.screens.table import TableScreen
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.tui.widgets.typed_keys import typed_character
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.moves import STOP, Move
from fairest_protocol.messages.scene import SeatScene
from fairest_protocol.value import replace

COUNTDOWN_MS: Final = 3000
TICK_SECONDS: Final = 0.1
"""The ghost moves at most this much later than it did, and a digit of the countdown stays for a second."""
AFTER_RACE_KEYS: Final = key_line(
    [("f", "finish now: the ghost makes the rest at once"), ("?", "help"), ("Esc", "menu")]
)


def race_instead(app: App[object], ghost: GhostRace) -> None:
    """Open the countdown of another race in the place of the screen on top."""
    app.switch_screen(GhostCountdown(ghost))


class GhostCountdown(FairestScreen):
    """Counts down to the start of a race against a ghost, which begins when nobody has left by then."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def __init__(self, ghost: GhostRace) -> None:
        """`ghost` is the race before its first move."""
        super().__init__()
        self._ghost = ghost
        self._until_ms = 0

    def compose_body(self) -> ComposeResult:
        """Yield the opponent, and one region for everything else, which is drawn in its middle."""
        yield TextLines(id="heading")
        yield TextLines(id="countdown")

    def on_mount(self) -> None:
        """Start the clock."""
        self._until_ms = self.program.clock() + COUNTDOWN_MS
        self.set_interval(TICK_SECONDS, self.tick)
        self.draw()

    def tick(self) -> None:
        """Redraw the seconds; at the end of them, open the table in this screen's place."""
        if self.program.clock() < self._until_ms:
            self.draw()
        elif self.app.screen is self:
            self.app.switch_screen(GhostScreen(self._ghost, self._until_ms, self.program.clock))

    def draw(self) -> None:
        """Redraw the seconds, rounded up, and the foundations."""
        if not self.is_mounted or self.is_too_small:
            return
        seconds = ceil(max(0, self._until_ms - self.program.clock()) / 1000)
        board = self._ghost.board
        name = clean(self._ghost.name)
        wordings = (
            f" A ghost: {name} makes its recorded moves again, on the same deal.",
            f" A ghost: {name}, as it was recorded.",
            " A race against a ghost",
        )
        heading = longest_fit(wordings, self.size.width)
        self.query_one("#heading", TextLines).update(Text(heading, f"bold {GOLD}", no_wrap=True))
        lines = countdown_lines(seconds, (), board, self.size.width, self.size.height - 1, self.card_style)
        self.query_one("#countdown", TextLines).update(lines)

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


class GhostScreen(TableScreen):
    """Shows a `GhostRace` at the present time, and makes the player's moves in it."""

    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys(
        "Keys against a ghost",
        (
            ("f", "once your race is over: the ghost makes the rest of its moves at once"),
            ("Esc", "the menu: stop, the same race again, leave"),
        ),
    )

    def __init__(self, ghost: GhostRace, started_ms: int, clock: Callable[[], int]) -> None:
        """`ghost` is the race before its first move, which starts at `started_ms` of `clock`."""
        self.ghost, self._clock = ghost, clock
        boards = RaceBoards(len(ghost.board.layout), len(ghost.board.piles), clock=clock)
        super().__init__(boards, lambda: self.ghost.board, self._apply, self._open_ghost_menu)
        self._fresh = ghost
        self._started_ms = started_ms
        self._standing = Standing(ghost.counts, ghost.board.goal)
        self._shown_second = -1
        self._names = YOU, clean(ghost.name)

    def on_mount(self) -> None:
        """Draw, and start the clock by which the ghost moves."""
        self._names = self.settings.name or YOU, self._names[1]
        self.set_interval(TICK_SECONDS, self.tick)
        self.draw()
        wordings = (
            f"Go! {self._names[1]} moves as it did; its board shows only cards that you have turned too.",
            "Go! The other board shows only cards that you have turned too.",
            "Go!",
        )
        self.show_notice(longest_fit(wordings, self.app.size.width - 2))

    def on_unmount(self) -> None:
        """Keep the run of a player who leaves while the ghost still races; the result keeps all others."""
        if not self.ghost.is_racing and not self.ghost.race.is_over:
            keep_best(self.ghost)

    # Drawing.

    def tick(self) -> None:
        """Let the ghost move as far as it is time; redraw what has changed, and show the result of a race that is over.

        A menu over the table is left open: the result waits until it is closed.
        """
        before = self.ghost
        self.ghost = before.at(self._clock() - self._started_ms)
        if self.ghost.race is not before.race:
            story = describe_stops(before, self.ghost) or self._follow_counts()
            if story:
                self.show_notice(story)
            self.draw()
        elif self.ghost.now_ms // 1000 != self._shown_second:
            self._draw_time()
        if self.ghost.race.is_over and self.app.screen is self:
            self.app.switch_screen(GhostResultScreen(self.ghost, self._fresh, partial(race_instead, self.app)))

    def draw(self) -> None:
        """Redraw everything from the race."""
        if self.is_too_small or not self.is_mounted:
            return
        ghost, board = self.ghost, self.ghost.board
        self.set_class(not ghost.is_racing, "-over")
        settings = self.settings if ghost.is_racing else replace(self.settings, hints=False)
        self._boards.draw_own(OptimisticBoard(board), ghost.race.deal.markers, self._picked, settings)
        other = SeatScene(board=ghost.shown_board, has_stopped=ghost.has_ghost_stopped)
        self._boards.draw_other(self._names[1], other, ghost.counts, self.card_style)
        self._draw_time()
        keys = race_key_line(self.settings.keys, board, self.size.width) if ghost.is_racing else AFTER_RACE_KEYS
        self.query_one("#key-line", TextLines).update(keys)

    def _draw_time(self) -> None:
        """Redraw what depends on the clock: the head and the chart."""
        if self.is_too_small or not self.is_mounted:
            return
        ghost, board = self.ghost, self.ghost.board
        self._shown_second = ghost.now_ms // 1000
        seconds = max(0, ghost.deadline_ms - ghost.now_ms) / 1000
        left = format_time(seconds) if ghost.is_racing else ""
        head = RaceHead(self._names, ghost.counts, board.goal, left, seconds if ghost.is_racing else None)
        self.query_one("#head", TextLines).update(lead_bar(head, self.size.width, self.card_style))
        wordings = () if ghost.is_racing else describe_own_end(board, ghost.counts, self._names[1], None)
        self.query_one("#advice", TextLines).update(Text(f" {longest_fit(wordings, self.size.width - 1)}", "bold"))
        curves = RaceCurves(*ghost.curves, board.goal, ghost.now_ms)
        self._boards.draw_chart(curves, self._names, self.card_style)

    def _follow_counts(self) -> str:
        """Return the sentences for what has changed between both players since the last call."""
        before, self._standing = self._standing, self._standing.after(self.ghost.counts)
        return " ".join(describe_race_change(before, self._standing, self._names[1]))

    # Moving.

    def on_key(self, event: events.Key) -> None:
        """Make the move that the key stands for, or pick up a card; leave all other keys to the bindings."""
        key = typed_character(event)
        if key is None or self.is_too_small:
            return
        if key == "f" and not self.ghost.is_racing:
            event.stop()
            self._started_ms = self._clock() - self.ghost.to_its_end().now_ms
            self.tick()
            return
        result = card_input.press_key(self.settings.keys, key, self._picked, self.ghost.board)
        if result is not None:
            event.stop()
            self._apply(result)
        elif event.key not in self.active_bindings:
            is_over = not self.ghost.is_racing
            wordings = describe_unknown_key(key, self.settings.keys, self.ghost.board, is_over=is_over)
            self.show_notice(longest_fit(wordings, self.size.width - 2) or wordings[-1], is_error=True)

    def _apply(self, result: InputResult) -> None:
        """Make the move that a key or a click stands for, at its time, or show its sentence."""
        self.tick()
        if not self.ghost.is_racing:
            self.show_notice("Your race is over.", is_error=True)
            return
        self._picked = result.picked
        if result.move is not None:
            self._play(result.move)
        elif result.sentence:
            self.show_notice(result.sentence, is_error=result.picked is None)
        self.draw()

    def _play(self, move: Move) -> None:
        before = self.ghost.board
        self.ghost = self.ghost.play(move)
        played = self.show_play(move, before, self.ghost.board)
        self.show_notice(f"{played} {self._follow_counts()}".strip())

    def _open_ghost_menu(self) -> None:
        """Open the menu; the race goes on meanwhile."""
        self.app.push_screen(GhostMenu(is_over=not self.ghost.is_racing), self._on_menu_choice)

    def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "stop":
                self.tick()
                if self.ghost.is_racing:
                    self.ghost = self.ghost.play(STOP)
                    self.draw()
            case "again":
                race_instead(self.app, self._fresh)
            case "home":
                self.dismiss()
            case "quit":
                self.program.quit_now()
            case _:
                pass
