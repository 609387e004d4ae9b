"""The screen before a race: the room's code for the other player, both seats, and the way to get ready."""

from collections.abc import Sequence
from math import ceil
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.session.connection import Update
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.board_text import format_time
from fairest_cli.text.narration import OPEN_ROOM
from fairest_cli.text.room_options import describe_options
from fairest_cli.tui.board.big_room_code import in_large_letters, in_spaced_capitals
from fairest_cli.tui.board.card_style import GOLD, QUIET, fitted_key_line
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.help import describe_rules
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import Spectators

SIDE_COLUMNS = 6
"""Columns that are left blank beside the code."""
OTHER_LINES = 3
"""Lines for the blanks above and below the code, and for the keys."""
READY_MS: Final = 60_000
"""How long Enter holds for an opponent that is still to come. It ends, so that nobody who has gone away is dealt in."""


class WaitingScreen(RoomScreen):
    """A player waits here for the other one, and gets ready."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ready", "Ready"),
        Binding("b", "bot", "Invite a bot"),
        Binding("escape", "leave", "Leave"),
    ]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        self._ready_until_ms = 0
        """Until when, by our own clock, the player is ready for any opponent that comes."""

    def compose_body(self) -> ComposeResult:
        """Yield the code in large letters, the text below it, and the keys."""
        with Vertical(id="waiting"):
            yield TextLines(id="code")
            yield Paragraph(id="waiting-text")
        yield TextLines(id="key-line")

    def show_update(self, before: KnownRoom, update: Update) -> None:
        """Redraw, and get ready if the player has pressed Enter before that was possible."""
        super().show_update(before, update)
        if self._is_ready_early and self.session.is_ready_wanted:
            self.run_in_background(self.session.get_ready, group="ready", exclusive=True)

    def tick(self) -> None:
        """Redraw the time that is left to get ready."""
        self.draw()

    def draw(self) -> None:
        """Redraw everything; the code is as large as the text leaves room for."""
        if not self.is_mounted or self.is_too_small:
            return
        model = self.session.model
        room, columns = model.room or "", self.size.width - SIDE_COLUMNS
        text = self._lines()
        lines = self.size.height - OTHER_LINES - rows_of(text, columns)
        if lines < 0 and self.program.rooms.uses_local_server:
            # The tutorial and the page of keys have the rules as well.
            text = self._lines(has_rules=False)
        letters = (
            [""]
            if self.program.rooms.uses_local_server
            else in_spaced_capitals(room, columns)
            if self.card_style.is_ascii
            else in_large_letters(room, columns, lines)
        )
        code = self.query_one("#code", TextLines)
        code.styles.height = len(letters)
        code.update([Text(line, GOLD) for line in letters])
        shown = self.query_one("#waiting-text", Paragraph)
        # The region is as small as its text, so that both stand in the middle.
        width = max(1, min(columns, max((line.cell_len for line in text), default=1)))
        shown.styles.width = width
        shown.styles.margin = (0, 0, 0, (columns - width) // 2)
        shown.styles.height = rows_of(text, columns)
        shown.update(text)
        self.query_one("#key-line", TextLines).update(self._key_line())

    def _lines(self, *, has_rules: bool = True) -> list[Text]:
        model, scene = self.session.model, self.session.model.scene
        if scene is None:
            return [Text("Entering the room ...")]
        option = model.invitation.partition(" join ")[2]
        lines = [self._next_step(), Text(), Text(f"{', '.join(describe_options(scene.options))}", QUIET)]
        if scene.options.spectators is Spectators.OPEN:
            lines += [Text(), Text(" ".join(OPEN_ROOM.split()), "bold #ff8a70")]
        if self.program.rooms.uses_local_server:
            lines += [Text(), *describe_rules()] if has_rules else []
        else:
            lines += [Text.assemble(("to join   ", QUIET), (f"fairest join {option}", "bold"))]
            if scene.options.spectators is not Spectators.CLOSED:
                lines += [Text.assemble(("to watch  ", QUIET), (f"fairest watch {option}", "bold"))]
        lines += [Text(), *(self._seat_line(seat) for seat in (0, 1)), Text()]
        words = " ".join(model.seal_check.check_words)
        sealed = "The server has sealed its part of the deck and signed the seal." if scene.commitment else ""
        lines.append(Text(f"check words  {words}" if words else sealed, QUIET))
        return lines

    def _seat_line(self, number: int) -> Text:
        model, scene = self.session.model, self.session.model.scene
        assert scene is not None
        seat = scene.seats[number]
        if seat.name is None:
            return Text(" [ ]  the other seat is free", QUIET)
        mark = "x" if seat.entropy_hash else " "
        state = "ready" if seat.entropy_hash else "here" if seat.is_connected or number == model.seat else "away"
        you = " (you)" if number == model.seat and seat.name != "you" else ""
        return Text.assemble((f" [{mark}]  ", f"bold {GOLD}"), (f"{self.name_of(number)}{you}", "bold"), f"  {state}")

    def _next_step(self) -> Text:
        model, own = self.session.model, self.session.model.own
        left = f"  ({self.time_left()} left)" if self.time_left() else ""
        is_local = self.program.rooms.uses_local_server
        lapse = f"  In {self.time_left()} your seat is freed." if self.time_left() and not is_local else ""
        if model.phase is Phase.DEALING:
            return Text("Both players are ready: the cards are being dealt ...", "bold")
        if model.phase is not Phase.READY or own is None:
            return Text(self._waiting_sentence(), "bold")
        if own.entropy_hash:
            return Text(f"You are ready. Waiting for the other player ...{left}", "bold")
        if self._is_ready_early:
            # The server has not answered yet, or is away.
            return Text("Getting ready ...", "bold")
        start = " The bot waits for you." if is_local else ""
        return Text(f" Press Enter when you are ready.{start}{lapse} ", f"bold #1d1d1d on {GOLD}")

    @property
    def _is_ready_early(self) -> bool:
        return self.session.clock() < self._ready_until_ms

    def _waiting_sentence(self) -> str:
        if not self._is_ready_early:
            return "Waiting for the other player ..."
        left = format_time((self._ready_until_ms - self.session.clock()) / 1000)
        return f"You are ready, if the other player comes within {left} ..."

    def _key_line(self) -> Text:
        pairs = [("Esc", "leave"), ("?", "how to play")]
        is_early = self.session.model.phase is Phase.WAITING and not self._is_ready_early
        if self.session.is_ready_wanted or is_early:
            pairs.insert(0, ("Enter", "ready"))
        if self._can_invite_bot:
            pairs.insert(0, ("b", "let a bot join"))
        return fitted_key_line(pairs, self.size.width)

    @property
    def _can_invite_bot(self) -> bool:
        return self.session.model.phase is Phase.WAITING and not self.program.rooms.uses_local_server

    async def action_ready(self) -> None:
        """Tell the server that the player is ready, or do it as soon as there is an opponent and a connection."""
        self._ready_until_ms = self.session.clock() + READY_MS
        if self.session.is_ready_wanted:
            await self.session.get_ready()
        self.draw()

    def action_bot(self) -> None:
        """Let a bot take the free seat."""
        if self._can_invite_bot:
            self.program.rooms.invite_bot()

    async def action_leave(self) -> None:
        """Leave the room. The cards are not dealt yet, so this loses nothing; once both are ready it does nothing."""
        await self.program.rooms.leave()


def rows_of(lines: Sequence[Text], columns: int) -> int:
    """Return the rows that `lines` take when each is wrapped at `columns`."""
    return sum(max(1, ceil(line.cell_len / columns)) for line in lines)
