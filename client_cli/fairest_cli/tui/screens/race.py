"""The race: our own board, which shows a move at once; the other player's, as far as we have come; the clock."""

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import count_of
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.board_text import ranks
from fairest_cli.text.narration import describe_changes
from fairest_cli.tui.board import card_input as hand
from fairest_cli.tui.board.advice import advise
from fairest_cli.tui.board.board_lines import foundation_row, large_fan, pile_head, side
from fairest_cli.tui.board.card_style import GOLD, QUIET, foot
from fairest_cli.tui.board.optimistic_board import Foresight, foresee, taken_back
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.race_menu import RaceMenu
from fairest_cli.tui.settings import Keys
from fairest_cli.tui.widgets.text_lines import TableSlot, TextLines
from fairest_protocol.calculation.board import Board
from fairest_protocol.calculation.moves import REDEAL, RESIGN, STOP, Move
from fairest_protocol.messages.entries import Moved, Started, Turned
from fairest_protocol.messages.from_server import Placed, View
from fairest_protocol.messages.refusals import SENTENCES, Refusal

HURRY_SECONDS = 60
LADDER_HEAD = " Build these up: [ ] is wanted next, any suit"
RIVAL_LINES = 7
"""The other player's strip: who, the foundations, a line for each of four piles, the stock."""


class RaceScreen(RoomScreen):
    """The race of a player. Keys and clicks become moves; the server's answers confirm them or take them back."""

    NEEDS: ClassVar[tuple[int, int]] = (80, 24)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "menu", "Menu")]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        board = session.model.board
        assert board is not None, "a race has a board"
        self._foundations = len(board.layout)
        self._piles = len(board.piles)
        self._picked: int | None = None

    def parts(self) -> ComposeResult:
        """The head, both boards, what to do, what happened."""
        with Horizontal(id="head"):
            yield TextLines(id="own-count")
            yield TextLines(id="clock")
            yield TextLines(id="rival-count")
        with Container(id="race"):
            with Vertical(id="ladder"):
                yield TextLines(LADDER_HEAD, id="ladder-head")
                for number in range(self._foundations):
                    yield TableSlot("foundation", number)
            yield TextLines(id="rival")
            with Horizontal(id="table"):
                yield TableSlot("stock")
                for number in range(self._piles):
                    yield TableSlot("pile", number)
        yield TextLines(id="coach")
        yield TextLines(id="news")
        yield TextLines(id="foot")

    def on_mount(self) -> None:
        """Give the ladder its lines and draw."""
        self.query_one("#race").styles.grid_rows = f"{max(self._foundations + 2, RIVAL_LINES)} 1fr"
        super().on_mount()
        self.tell("Go! The other board is shown as far as both of you have turned cards.")

    def on_resize(self) -> None:
        """With room enough, the other player's board stands beside ours in full."""
        self.set_class(self.size.width >= 116 and self.size.height >= 34, "-wide")
        super().on_resize()

    # What is seen.

    def show(self, before: KnownRoom, update: Update) -> None:
        """Confirm, take back, tell what happened."""
        back = taken_back(before, update.message)
        if back is not None:
            self._picked = None
            news = " ".join(describe_changes(before, update))
            self.tell(f"Taken back: {back}. {news}", is_bad=True)
        elif not isinstance(update.message, Placed):
            self._tell_news(before, update)
        super().show(before, update)

    def _tell_news(self, before: KnownRoom, update: Update) -> None:
        """What happened, but for what the boards show anyway."""
        message = update.message
        shown = message.entries if isinstance(message, View) else ()
        if shown and all(isinstance(entry, (Moved, Turned, Started)) for entry in shown):
            return
        lines = list(describe_changes(before, update))
        if lines:
            self.tell(lines[-1])

    def tell(self, sentence: str, *, is_bad: bool = False) -> None:
        """One line of news; it stays until there are others."""
        self.query_one("#news", TextLines).show(Text(f" {sentence}", "bold #ff8a70" if is_bad else QUIET, no_wrap=True))

    def tick(self) -> None:
        """The clock, and nothing else."""
        left = self.seconds_left()
        is_short = left is not None and left < HURRY_SECONDS
        text = f"{self.time_left()} left" if left is not None else ""
        self.query_one("#clock", TextLines).show(Text(text, "bold #ff8a70" if is_short else "bold"))

    def draw(self) -> None:
        """Everything, from what is known and what is on its way."""
        seen, own, scene = foresee(self.session.model), self.session.model.own, self.session.model.scene
        if seen is None or own is None or self.is_too_small or not self.is_mounted:
            return
        self.tick()
        if scene is not None and scene.markers:
            out = f" [ ] is wanted next; out of play: {ranks(scene.markers)}"
            self.query_one("#ladder-head", TextLines).show(out)
        self._draw_counts(seen)
        self._draw_own(seen)
        self._draw_rival()
        if own.has_stopped:
            advice = self._farewell(seen.board)
        else:
            advice = advise(seen.board, self.settings.keys, hints=self.settings.hints)
        self.query_one("#coach", TextLines).show(Text(f" {advice}", "bold", no_wrap=True))
        self.query_one("#foot", TextLines).show(_foot(self.settings.keys, seen.board))

    def _farewell(self, board: Board) -> str:
        """Why there is nothing more to do, and for what we wait."""
        why = "Nothing fits any more: your" if board.is_stuck else "Your"
        other = self.name_of(1 - (self.session.model.seat or 0))
        return f"{why} race ends with {board.placed} cards. {other} may still go on."

    def _draw_counts(self, seen: Foresight) -> None:
        model, board = self.session.model, seen.board
        seat, other = model.seat or 0, 1 - (model.seat or 0)
        moving = f" ({len(seen.moving)} on the way)" if seen.moving else ""
        name = self.name_of(seat)
        mine = Text.assemble((f" {name} ", "bold"), (f"{board.placed} of {board.goal}", GOLD), (moving, QUIET))
        theirs = Text.assemble(
            (f"{self.name_of(other)} ", "bold"), (f"{count_of(model, other)} of {board.goal} ", GOLD)
        )
        self.query_one("#own-count", TextLines).show(mine)
        self.query_one("#rival-count", TextLines).show(theirs)

    def _draw_own(self, seen: Foresight) -> None:
        board, card_style, hints = seen.board, self.card_style, self.settings.hints
        for place in self.query(TableSlot):
            lines = max(place.size.height, 1)
            if place.kind == "foundation":
                place.show(foundation_row(place.number, board, card_style, moving=seen.moving, hints=hints))
            elif place.kind == "pile":
                letter = hand.PILE_KEYS[self.settings.keys][place.number]
                is_picked = self._picked == place.number
                head = pile_head(place.number, board, is_picked=is_picked, hints=hints, letter=letter)
                cards = large_fan(board.piles[place.number], place.size.width - 1, lines - 1, card_style, seen.moving)
                place.show([head, *cards])
            else:
                place.show(self._stock(board))

    def _stock(self, board: Board) -> list[Text]:
        card_style = self.card_style
        is_picked = self._picked == hand.STOCK
        head = Text(" turned ", "bold #1d1d1d on " + GOLD if is_picked else QUIET)
        empty = card_style.back() if board.stock else card_style.slot()
        card = empty if board.turned is None else card_style.card(board.turned)
        left = f"{board.stock} to come" if board.stock else "no more"
        lines = [head, *[Text(" ") + line for line in card], Text(f" {left}", QUIET)]
        if board.redeals:
            lines.append(Text(f" {board.redeals} redeal{'s' * (board.redeals > 1)}", QUIET))
        return lines

    def _draw_rival(self) -> None:
        model = self.session.model
        scene, other = model.scene, 1 - (model.seat or 0)
        picture = self.query_one("#rival", TextLines)
        if scene is None or scene.seats[other].board is None:
            return
        seat = scene.seats[other]
        assert seat.board is not None
        if seat.away_until_ms is not None:
            state = "is away"
        elif seat.has_stopped:
            state = "has stopped"
        else:
            state = f"shown: {seat.board.placed} of {seat.board.goal}"
        head = Text.assemble((f" {self.name_of(other)} ", "bold"), (state, QUIET))
        picture.show(
            side(head, seat.board, max(picture.size.width - 1, 1), max(picture.size.height, 1), self.card_style)
        )

    # What is done.

    async def on_key(self, event: events.Key) -> None:
        """Keys that move cards; the others are bindings."""
        seen = foresee(self.session.model)
        letter = _letter(event)
        if letter is None or seen is None or self.is_too_small:
            return
        answer = hand.press(self.settings.keys, letter, self._picked, seen.board)
        if answer is not None:
            event.stop()
            await self._do(answer, seen)

    @on(TableSlot.Clicked)
    async def click(self, message: TableSlot.Clicked) -> None:
        """Pick up, or put there."""
        seen, number = foresee(self.session.model), message.place.number
        if seen is None or self.is_too_small:
            return
        match message.place.kind:
            case "foundation":
                await self._do(hand.click_foundation(number, self._picked, seen.board), seen)
            case "pile":
                await self._do(hand.click_pile(number, self._picked, seen.board), seen)
            case _:
                await self._do(hand.click_stock(self._picked, seen.board), seen)

    async def _do(self, answer: hand.Answer, seen: Foresight) -> None:
        if not self.session.may_play:
            sentence = (
                SENTENCES[Refusal.SEAT_STOPPED] if not self.session.is_racing else "Wait until the server is back."
            )
            self.tell(sentence, is_bad=True)
            return
        self._picked = answer.picked
        if answer.move is not None:
            card = seen.board.card_of(answer.move)
            name = (
                "The waste becomes the stock."
                if card is None
                else f"{self.card_style.name(card)} {_where(answer.move)}"
            )
            self.tell(name)
            await self.session.play(answer.move)
        elif answer.sentence:
            self.tell(answer.sentence, is_bad=answer.picked is None)
        self.draw()

    def action_menu(self) -> None:
        """Put a picked-up card back; else ask what to do. Nothing is lost by this key."""
        if self._picked is not None:
            self._picked = None
            self.tell("Put back.")
            self.draw()
            return
        self.app.push_screen(RaceMenu(self.face.is_at_house), self._obey_menu)

    async def _obey_menu(self, choice: str | None) -> None:
        match choice:
            case "stop" if self.session.may_play:
                await self.session.play(STOP)
            case "resign" if self.session.may_play:
                await self.session.play(RESIGN)
            case "quit":
                self.face.quit_now()
            case _:
                pass


def _letter(event: events.Key) -> str | None:
    """What was typed; some terminals report Shift and the key, and leave the rest to us."""
    if event.character is None and len(event.key) == len("shift+a") and event.key.startswith("shift+"):
        return event.key[-1].upper()
    return event.character


def _where(move: Move) -> str:
    return f"to foundation {move.text[1]}" if move.places else f"onto pile {move.text[1]}"


def _foot(keys: Keys, board: Board) -> Text:
    """The keys of the race in one line."""
    digits, letters = f"1-{len(board.layout)}", hand.PILE_KEYS[keys][: len(board.piles)]
    span = letters if keys is Keys.HOME_ROW or len(letters) == 1 else f"{letters[0]}-{letters[-1]}"
    if keys is Keys.TYPED:
        pairs = [(f"s {digits}", "to foundation"), (f"s {span}", "to pile"), (f"{span} {digits}", "pile's top up")]
    else:
        pairs = [(digits, "to foundation"), (span, "to pile"), (f"Shift+{span}", "top up")]
    if board.redeals or board.refusal(REDEAL) is None:
        pairs.append(("r", "redeal"))
    pairs += [("?", "help"), ("Esc", "menu")]
    return foot(pairs)
