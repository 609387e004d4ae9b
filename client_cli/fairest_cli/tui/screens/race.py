"""The screen of a race: both counts in one bar, and both boards. The player's own board shows a move at once."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.last_card import awaits_other
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession, is_asked_to_finish
from fairest_cli.text.board_text import format_time
from fairest_cli.text.narration import describe_changes
from fairest_cli.tui.board import card_input
from fairest_cli.tui.board.card_input import InputResult
from fairest_cli.tui.board.card_style import QUIET, longest_fit
from fairest_cli.tui.board.lead_bar import RaceHead, lead_bar
from fairest_cli.tui.board.optimistic_board import OptimisticBoard, optimistic_board, refused_move
from fairest_cli.tui.board.race_chart import RaceCurves
from fairest_cli.tui.board.race_keys import after_race_key_line, describe_unknown_key, race_key_line
from fairest_cli.tui.board.standing import (
    Standing,
    completed_foundations,
    describe_finish_asked,
    describe_own_end,
    describe_play,
    describe_race_change,
    describe_wait,
    has_new_leader,
)
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.widgets.race_boards import RaceBoards
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_cli.tui.widgets.typed_keys import typed_character
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import RESIGN, STOP, Move
from fairest_protocol.messages.entries import Moved, Paused, Started, Stopped, Turned
from fairest_protocol.messages.from_server import Placed, View
from fairest_protocol.messages.refusals import SENTENCES, Refusal
from fairest_protocol.value import replace

LEAD_FLASH_MS: Final = 600
START_NOTICES: Final = (
    "Go! The other board shows only cards that both of you have turned.",
    "Go! You see the other's cards once you turned them, too.",
    "Go! The other's cards show once you have them.",
)


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
        self._boards = RaceBoards(len(board.layout), len(board.piles), clock=session.clock)
        self._picked: int | None = None
        """The source that is picked up: the index of a pile, or `card_input.STOCK`."""
        self._standing = Standing((0, 0), board.goal).after(_counts(session.model, board))
        self._lead_flash_until_ms = 0
        self._is_asked = False
        """Whether the other player has finished, and asks us to do so too."""

    def compose_body(self) -> ComposeResult:
        """Yield the head, both boards, the end of our race, the notice, and the keys."""
        yield TextLines(id="head")
        yield self._boards
        yield TextLines(id="advice")
        yield TextLines(id="notice")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Draw, and tell the player that the race is on."""
        super().on_mount()
        self.show_notice(longest_fit(START_NOTICES, self.size.width - 2))

    # Drawing.

    def show_update(self, before: KnownRoom, update: Update) -> None:
        """Show a notice of the change, or of the move that was taken back, and redraw."""
        refused = refused_move(before, update.message)
        if refused is not None:
            self._picked = None
            reason = " ".join(describe_changes(before, update))
            self.show_notice(f"Taken back: {refused}. {reason}", is_error=True)
        elif is_asked_to_finish(update) and self.session.is_racing:
            self._is_asked = True
        elif not isinstance(update.message, Placed):
            sentence = _sentence_of(before, update, is_local=self.program.rooms.uses_local_server)
            if sentence is not None:
                self.show_notice(sentence)
        story = self._follow_counts()
        if story:
            self.show_notice(story)
        super().show_update(before, update)

    def show_notice(self, sentence: str, *, is_error: bool = False) -> None:
        """Show `sentence` in the line below the boards, until the next notice replaces it."""
        style = "bold #ff8a70" if is_error else QUIET
        self.query_one("#notice", TextLines).update(Text(f" {sentence}", style, no_wrap=True))

    def tick(self) -> None:
        """Redraw what depends on the clock: the head, the chart, and the time that the other player has left."""
        model, own = self.session.model, self.session.model.own
        ours = optimistic_board(model)
        if ours is None or own is None or not self.is_mounted or self.is_too_small:
            return
        seat, other, columns = model.seat or 0, 1 - (model.seat or 0), self.size.width
        counts, names = _counts(model, ours.board), (self.name_of(seat), self.name_of(other))
        is_flashing = self.session.clock() < self._lead_flash_until_ms
        head = RaceHead(names, counts, ours.board.goal, self.time_left(), self.seconds_left(), is_flashing)
        self.query_one("#head", TextLines).update(lead_bar(head, columns, self.card_style))
        wordings: tuple[str, ...] = ()
        if awaits_other(model):
            wordings = describe_wait(names[1])
        elif own.has_stopped:
            wordings = describe_own_end(ours.board, counts, names[1], self.seconds_left())
        elif self._is_asked:
            wordings = describe_finish_asked(names[1])
        self.query_one("#advice", TextLines).update(Text(f" {longest_fit(wordings, columns - 1)}", "bold"))
        progress = self.session.progress
        curves = RaceCurves(
            progress.players[seat],
            progress.boards[other],
            progress.players[other],
            ours.board.goal,
            max(0, self.session.clock() - progress.started_ms),
        )
        self._boards.draw_chart(curves, names, self.card_style)

    def draw(self) -> None:
        """Redraw everything from the model and the moves that the server has not answered yet."""
        model = self.session.model
        ours, own, scene = optimistic_board(model), model.own, model.scene
        if ours is None or own is None or scene is None or self.is_too_small or not self.is_mounted:
            return
        other = 1 - (model.seat or 0)
        is_over = own.has_stopped or awaits_other(model)
        # The line below the boards takes one of their lines: they are drawn again in the room that is left.
        self.set_class(is_over or self._is_asked, "-over")
        settings = replace(self.settings, hints=False) if is_over else self.settings
        self._boards.draw_own(ours, scene.markers, self._picked, settings)
        counts = _counts(model, ours.board)
        self._boards.draw_other(self.name_of(other), scene.seats[other], counts, self.card_style)
        self.tick()
        if is_over:
            keys = after_race_key_line(self.name_of(other), may_ask=self.session.may_ask_finish)
        else:
            keys = race_key_line(self.settings.keys, ours.board, self.size.width)
        self.query_one("#key-line", TextLines).update(keys)

    def _follow_counts(self) -> str:
        """Return the sentences for what has changed between the players since the last call; flash a change of lead."""
        ours = optimistic_board(self.session.model)
        if ours is None or not self.session.is_racing:
            return ""
        before = self._standing
        self._standing = before.after(_counts(self.session.model, ours.board))
        if has_new_leader(before, self._standing) and not self.settings.reduced_motion:
            self._lead_flash_until_ms = self.session.clock() + LEAD_FLASH_MS
            self.set_timer(LEAD_FLASH_MS / 1000, self.tick)
        other = 1 - (self.session.model.seat or 0)
        return " ".join(describe_race_change(before, self._standing, self.name_of(other)))

    # Moving.

    async def on_key(self, event: events.Key) -> None:
        """Make the move that the key stands for, or pick up a card; leave all other keys to the bindings."""
        ours = optimistic_board(self.session.model)
        key = typed_character(event)
        if key is None or ours is None or self.is_too_small:
            return
        if key == "f" and self.session.may_ask_finish:
            event.stop()
            await self.session.ask_finish()
            self.show_notice(f"You have asked {self.name_of(1 - (self.session.model.seat or 0))} to finish.")
            self.draw()
            return
        if key == " " and self._is_asked and self.session.is_racing:
            event.stop()
            self.app.push_screen(RaceMenu(self.program.rooms.uses_local_server, "stop"), self._on_menu_choice)
            return
        result = card_input.press_key(self.settings.keys, key, self._picked, ours.board)
        if result is not None:
            event.stop()
            await self._apply(result, ours)
        elif event.key not in self.active_bindings:
            wordings = describe_unknown_key(key, self.settings.keys, ours.board, is_over=not self.session.is_racing)
            self.show_notice(longest_fit(wordings, self.size.width - 2) or wordings[-1], is_error=True)

    @on(TableSlot.Clicked)
    async def click(self, message: TableSlot.Clicked) -> None:
        """Pick up the clicked card, or move the card that is picked up to the clicked slot."""
        ours, number = optimistic_board(self.session.model), message.slot.number
        if ours is None or self.is_too_small:
            return
        await self._apply(card_input.click_slot(message.slot.kind, number, self._picked, ours.board), ours)

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
            await self._play(result.move, ours)
        elif result.sentence:
            self.show_notice(result.sentence, is_error=result.picked is None)
        self.draw()

    async def _play(self, move: Move, ours: OptimisticBoard) -> None:
        """Make a move, and show where its card goes and what has changed with it."""
        card = ours.board.card_of(move)
        await self.session.play(move)
        completed = completed_foundations(ours.board, ours.board.play(move))
        played = describe_play(move, card, completed, self.card_style)
        self.show_notice(f"{played} {self._follow_counts()}".strip())
        if card is not None and not self.settings.reduced_motion:
            self._boards.start_flight(move, card, completed, self.card_style)

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


def _counts(model: KnownRoom, board: Board) -> tuple[int, int]:
    """Return the newest counts, ours first: of `board`, and the other player's as far as it is known."""
    return board.placed, count_of(model, 1 - (model.seat or 0))


def _sentence_of(before: KnownRoom, update: Update, *, is_local: bool) -> str | None:
    """Return the last sentence about `update`, or None if the boards show the whole change."""
    message = update.message
    shown = message.entries if isinstance(message, View) else ()
    if shown and all(isinstance(entry, (Moved, Turned, Started)) for entry in shown):
        return None
    if any(isinstance(entry, Stopped) and entry.seat == update.model.seat for entry in shown):
        # The line above the notice says why our race has ended, and what comes now.
        return ""
    pause = next((entry for entry in shown if isinstance(entry, Paused)), None)
    if is_local and pause is not None:
        # The server is part of this program, which was stopped, or its machine was asleep.
        return f"The game stood still for {format_time(pause.length_ms / 1000)}; no time was lost."
    lines = list(describe_changes(before, update))
    return lines[-1] if lines else None
