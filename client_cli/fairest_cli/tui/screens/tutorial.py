"""The tutorial: a board that waits for the player, one key for each step. Esc leaves it at any time."""

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, WANTED, key_line
from fairest_cli.tui.board.optimistic_board import OptimisticBoard
from fairest_cli.tui.board.tutorial import STEPS, Step, describe_step, describe_wrong, start_tutorial
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.settings import Settings, save_settings
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.value import replace

KEYS = key_line([("Esc", "skip the tutorial"), ("?", "help")])
DONE_KEYS = key_line([("Enter", "go on"), ("?", "help")])


class TutorialScreen(FairestScreen):
    """Closes itself after its last step, or at Esc. No server and no clock has a part in it."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Skip"),
        Binding("enter", "finish", "Go on"),
        Binding("tab", "sequences", "All ranks", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._tutorial = start_tutorial()
        board = self._tutorial.board
        self._boards = RaceBoards(len(board.layout), len(board.piles), has_rival=False)
        self._picked: int | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the head, the board, the answer to the last key, the two lines of the step, and the keys."""
        yield TextLines(id="head")
        yield self._boards
        yield TextLines(id="notice")
        yield TextLines(id="step-why")
        yield TextLines(id="step-key")
        yield TextLines(id="key-line")

    def draw(self) -> None:
        """Redraw the board and the sentences of the present step."""
        if not self.is_mounted or self.is_too_small:
            return
        tutorial, settings = self._tutorial, self.settings
        number = STEPS.index(tutorial.step) + 1
        self.query_one("#head", TextLines).update(_head(number, tutorial.board, self.size.width))
        shown = replace(settings, hints=settings.hints and tutorial.shows_hints)
        self._boards.draw_own(OptimisticBoard(tutorial.board), (), self._picked, shown)
        why, key = describe_step(tutorial, settings.keys, self.card_style)
        self.query_one("#step-why", TextLines).update(Text(f" {why}", "bold"))
        self.query_one("#step-key", TextLines).update(Text(f" {key} ", WANTED))
        self.query_one("#key-line", TextLines).update(DONE_KEYS if tutorial.step is Step.DONE else KEYS)

    async def on_key(self, event: events.Key) -> None:
        """Make the move that the key stands for if the step asks for it; else answer why not."""
        key = event.character
        if key is None and event.key.startswith("shift+") and len(event.key) == len("shift+a"):
            key = event.key[-1].upper()
        if key is None or self.is_too_small:
            return
        result = card_input.press_key(self.settings.keys, key, self._picked, self._tutorial.board)
        if result is not None:
            event.stop()
            self._apply(result)
        elif event.key not in self.active_bindings:
            self._answer(describe_wrong(self._tutorial, "", self.settings.keys, self.card_style))

    @on(TableSlot.Clicked)
    def click(self, message: TableSlot.Clicked) -> None:
        """Pick up the clicked card, or move the card that is picked up to the clicked slot."""
        board, number = self._tutorial.board, message.slot.number
        match message.slot.kind:
            case "foundation":
                self._apply(card_input.click_foundation(number, self._picked, board))
            case "pile":
                self._apply(card_input.click_pile(number, self._picked, board))
            case _:
                self._apply(card_input.click_stock(self._picked, board))

    def action_sequences(self) -> None:
        """Show or hide the sequences; the step that asks for them is done once they are shown."""
        self._boards.shows_sequences = not self._boards.shows_sequences
        if self._tutorial.step is Step.SEQUENCES and self._boards.shows_sequences:
            self._tutorial = self._tutorial.next()
            self._answer("")
        self.draw()

    def action_finish(self) -> None:
        """Close after the last step; before it, answer with the key that the step asks for."""
        if self._tutorial.step is Step.DONE:
            self.dismiss(None)
        else:
            self._answer(describe_wrong(self._tutorial, "", self.settings.keys, self.card_style))

    def action_close(self) -> None:
        """Put a picked-up card back; with none picked up, leave the tutorial."""
        if self._picked is None:
            self.dismiss(None)
        else:
            self._picked = None
            self.draw()

    def _apply(self, result: InputResult) -> None:
        self._picked = result.picked
        move, board = result.move, self._tutorial.board
        if move is None:
            if result.picked is None:
                self._answer(describe_wrong(self._tutorial, result.sentence, self.settings.keys, self.card_style))
            else:
                self._answer(result.sentence)
        elif not self._tutorial.accepts(move):
            self._answer(describe_wrong(self._tutorial, "", self.settings.keys, self.card_style))
        else:
            card = board.card_of(move)
            self._tutorial = self._tutorial.after(move)
            self._answer("Right.")
            if card is not None and not self.settings.reduced_motion:
                self._boards.start_flight(move, card, (), self.card_style)
        self.draw()

    def _answer(self, sentence: str) -> None:
        self.query_one("#notice", TextLines).update(Text(f" {sentence}", GOLD))


def _head(number: int, board: Board, columns: int) -> Text:
    """Return the number of the step and the aim of the game, which is all that a newcomer has to know before."""
    step, goal, last = f"step {number} of {len(STEPS)}", board.goal, len(board.layout)
    wordings = (
        (
            "Tutorial, one minute",
            f"   {step}   the aim: place all {goal} cards on foundations 1 to {last}, before your rival",
        ),
        ("Tutorial", f"   {step}   the aim: all {goal} cards on foundations 1 to {last}"),
        ("Tutorial", f"  {step}  aim: all {goal} cards on 1-{last}"),
    )
    heads = [Text.assemble((f" {title}", f"bold {GOLD}"), more) for title, more in wordings]
    return next((head for head in heads if head.cell_len <= columns), heads[-1])


def remember_tutorial(settings: Settings, path: Path) -> Settings:
    """Return settings that say that the tutorial was shown, and write them to `path`.

    If the file cannot be written, the tutorial is shown again at the next start.
    """
    seen = replace(settings, has_seen_tutorial=True)
    with suppress(OSError):
        save_settings(seen, path)
    return seen
