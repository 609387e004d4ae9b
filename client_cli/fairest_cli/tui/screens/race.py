"""The screen of a race: the clock, the counts, and both boards. The player's own board shows a move at once."""

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.narration import describe_changes
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.advice import describe_end
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.board.optimistic_board import OptimisticBoard, optimistic_board, refused_move
from fairest_cli.tui.board.race_keys import race_key_line
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.messages.entries import Moved, Started, Stopped, Turned
from fairest_protocol.messages.from_server import Placed, View
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import replace

HURRY_SECONDS = 60
"""The clock is red when fewer seconds are left."""
AFTER_RACE_KEYS = key_line([("?", "help"), ("Esc", "menu")])


class RaceScreen(RoomScreen):
    """Turns keys and clicks into moves. The server's answer confirms each move or takes it back."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "menu", "Menu"),
        Binding("tab", "sequences", "All ranks", priority=True),
    ]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        board = session.model.board
        assert board is not None, "a race has a board"
        self._boards = RaceBoards(len(board.layout), len(board.piles))
        self._picked: int | None = None
        """The source that is picked up: the index of a pile, or `card_input.STOCK`."""

    def compose_body(self) -> ComposeResult:
        """Yield the counts and the clock, both boards, the end of our race, the notice, and the keys."""
        with Horizontal(id="head"):
            yield TextLines(id="own-count")
            yield TextLines(id="clock")
            yield TextLines(id="other-count")
        yield self._boards
        yield TextLines(id="advice")
        yield TextLines(id="notice")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Draw, and tell the player that the race is on."""
        super().on_mount()
        self.show_notice("Go! The other board shows only cards that both of you have turned.")

    # Drawing.

    def show_update(self, before: KnownRoom, update: Update) -> None:
        """Show a notice of the change, or of the move that was taken back, and redraw."""
        refused = refused_move(before, update.message)
        if refused is not None:
            self._picked = None
            reason = " ".join(describe_changes(before, update))
            self.show_notice(f"Taken back: {refused}. {reason}", is_error=True)
        elif not isinstance(update.message, Placed):
            self._show_change(before, update)
        super().show_update(before, update)

    def _show_change(self, before: KnownRoom, update: Update) -> None:
        """Show the last sentence about `update` as the notice, unless the boards show the whole change."""
        message = update.message
        shown = message.entries if isinstance(message, View) else ()
        if shown and all(isinstance(entry, (Moved, Turned, Started)) for entry in shown):
            return
        if any(isinstance(entry, Stopped) and entry.seat == update.model.seat for entry in shown):
            # The line above the notice says why our race has ended, and what comes now.
            self.show_notice("")
            return
        lines = list(describe_changes(before, update))
        if lines:
            self.show_notice(lines[-1])

    def show_notice(self, sentence: str, *, is_error: bool = False) -> None:
        """Show `sentence` in the line below the boards, until the next notice replaces it."""
        style = "bold #ff8a70" if is_error else QUIET
        self.query_one("#notice", TextLines).update(Text(f" {sentence}", style, no_wrap=True))

    def tick(self) -> None:
        """Redraw the clock."""
        left = self.seconds_left()
        is_short = left is not None and left < HURRY_SECONDS
        text = f"{self.time_left()} left" if left is not None else ""
        self.query_one("#clock", TextLines).update(Text(text, "bold #ff8a70" if is_short else "bold"))

    def draw(self) -> None:
        """Redraw everything from the model and the moves that the server has not answered yet."""
        model = self.session.model
        ours, own, scene = optimistic_board(model), model.own, model.scene
        if ours is None or own is None or scene is None or self.is_too_small or not self.is_mounted:
            return
        self.tick()
        other = 1 - (model.seat or 0)
        self._draw_counts(ours)
        settings = replace(self.settings, hints=False) if own.has_stopped else self.settings
        self._boards.draw_own(ours, scene.markers, self._picked, settings)
        self._boards.draw_other(self.name_of(other), scene.seats[other], self.card_style)
        self.set_class(own.has_stopped, "-over")
        advice = describe_end(ours.board, self.name_of(other)) if own.has_stopped else ""
        self.query_one("#advice", TextLines).update(Text(f" {advice}", "bold", no_wrap=True))
        keys = AFTER_RACE_KEYS if own.has_stopped else race_key_line(self.settings.keys, ours.board, self.size.width)
        self.query_one("#key-line", TextLines).update(keys)

    def _draw_counts(self, ours: OptimisticBoard) -> None:
        model, board = self.session.model, ours.board
        seat, other = model.seat or 0, 1 - (model.seat or 0)
        unconfirmed = f" ({len(ours.unconfirmed)} unconfirmed)" if ours.unconfirmed else ""
        own_count = Text.assemble(
            (f" {self.name_of(seat)} ", "bold"), (f"{board.placed} of {board.goal}", GOLD), (unconfirmed, QUIET)
        )
        other_count = Text.assemble(
            (f"{self.name_of(other)} ", "bold"), (f"{count_of(model, other)} of {board.goal} ", GOLD)
        )
        self.query_one("#own-count", TextLines).update(own_count)
        self.query_one("#other-count", TextLines).update(other_count)

    # Moving.

    async def on_key(self, event: events.Key) -> None:
        """Make the move that the key stands for, or pick up a card; leave all other keys to the bindings."""
        ours = optimistic_board(self.session.model)
        key = _character(event)
        if key is None or ours is None or self.is_too_small:
            return
        result = card_input.press_key(self.settings.keys, key, self._picked, ours.board)
        if result is not None:
            event.stop()
            await self._apply(result, ours)

    @on(TableSlot.Clicked)
    async def click(self, message: TableSlot.Clicked) -> None:
        """Pick up the clicked card, or move the card that is picked up to the clicked slot."""
        ours, number = optimistic_board(self.session.model), message.slot.number
        if ours is None or self.is_too_small:
            return
        match message.slot.kind:
            case "foundation":
                await self._apply(card_input.click_foundation(number, self._picked, ours.board), ours)
            case "pile":
                await self._apply(card_input.click_pile(number, self._picked, ours.board), ours)
            case _:
                await self._apply(card_input.click_stock(self._picked, ours.board), ours)

    async def _apply(self, result: InputResult, ours: OptimisticBoard) -> None:
        """Send the move that a key or a click stands for, or show its sentence.

        While the server is away, and after the end of our race, do neither and show why.
        """
        if not self.session.accepts_moves:
            over = SENTENCES[Refusal.SEAT_STOPPED]
            self.show_notice("Wait until the server is back." if self.session.is_racing else over, is_error=True)
            return
        self._picked = result.picked
        if result.move is not None:
            card = ours.board.card_of(result.move)
            self.show_notice(
                "The waste becomes the stock."
                if card is None
                else f"{self.card_style.name(card)} {_target(result.move)}"
            )
            await self.session.play(result.move)
        elif result.sentence:
            self.show_notice(result.sentence, is_error=result.picked is None)
        self.draw()

    def action_sequences(self) -> None:
        """Show the whole sequence of every foundation over the board, or hide it again."""
        self._boards.shows_sequences = not self._boards.shows_sequences
        self.draw()

    def action_menu(self) -> None:
        """Put a picked-up card back; with none picked up, open the menu. Esc alone never loses a race."""
        if self._picked is not None:
            self._picked = None
            self.show_notice("The card is put back.")
            self.draw()
            return
        self.app.push_screen(RaceMenu(self.program.rooms.uses_local_server), self._on_menu_choice)

    async def _on_menu_choice(self, choice: str | None) -> None:
        match choice:
            case "stop" if self.session.accepts_moves:
                await self.session.play(STOP)
            case "resign" if self.session.accepts_moves:
                await self.session.play(RESIGN)
            case "quit":
                self.program.quit_now()
            case _:
                pass


def _character(event: events.Key) -> str | None:
    """Return the character that was typed. Some terminals report Shift and the key in place of a capital."""
    if event.character is None and len(event.key) == len("shift+a") and event.key.startswith("shift+"):
        return event.key[-1].upper()
    return event.character


def _target(move: Move) -> str:
    return f"to foundation {move.text[1]}" if move.places else f"onto pile {move.text[1]}"
