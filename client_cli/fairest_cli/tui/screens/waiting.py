"""Before a race: the code for the other player, who is here, who is ready, the words that prove the deal."""

from math import ceil
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.text.narration import describe_options
from fairest_cli.tui.board.big_text import large, spaced
from fairest_cli.tui.board.card_style import GOLD, QUIET, foot
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.keys import tell_rules
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import Spectators

SIDE_COLUMNS = 6
OTHER_LINES = 3
"""What is left blank above and below the code, and the keys."""


class WaitingRoom(RoomScreen):
    """A player waits here for the other one, and gets ready."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ready", "Ready"),
        Binding("b", "bot", "Let a bot play"),
        Binding("escape", "leave", "Leave"),
    ]

    def parts(self) -> ComposeResult:
        """One column of lines."""
        with Vertical(id="waiting"):
            yield TextLines(id="code")
            yield Paragraph(id="waiting-text")
        yield TextLines(id="foot")

    def tick(self) -> None:
        """Time to get ready runs out."""
        self.draw()

    def draw(self) -> None:
        """Who is here, and what is to be done."""
        if not self.is_mounted or self.is_too_small:
            return
        model = self.session.model
        room, columns, text = model.room or "", self.size.width - SIDE_COLUMNS, self._lines()
        lines = self.size.height - OTHER_LINES - sum(max(1, ceil(line.cell_len / columns)) for line in text)
        code = (
            [""]
            if self.face.is_at_house
            else spaced(room, columns)
            if self.card_style.is_ascii
            else large(room, columns, lines)
        )
        picture = self.query_one("#code", TextLines)
        picture.styles.height = len(code)
        picture.show([Text(line, GOLD) for line in code])
        self.query_one("#waiting-text", Paragraph).show(text)
        self.query_one("#foot", TextLines).show(self._foot())

    def _lines(self) -> list[Text]:
        model, scene = self.session.model, self.session.model.scene
        if scene is None:
            return [Text("On the way into the room ...")]
        option = model.invitation.partition(" join ")[2]
        lines = [self._next_step(), Text(), Text(f"{', '.join(describe_options(scene.options))}", QUIET)]
        if self.face.is_at_house:
            lines += [Text(), *tell_rules()]
        else:
            lines += [Text.assemble(("to join   ", QUIET), (f"fairest join {option}", "bold"))]
            if scene.options.spectators is not Spectators.CLOSED:
                lines += [Text.assemble(("to watch  ", QUIET), (f"fairest watch {option}", "bold"))]
        lines += [Text(), *(self._seat_line(seat) for seat in (0, 1)), Text()]
        words = " ".join(model.seal_check.check_words)
        sealed = "The server has sealed its part of the deck, and signed it." if scene.commitment else ""
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
        if model.phase is Phase.DEALING:
            return Text("Both players are ready: the cards are being dealt ...", "bold")
        if model.phase is not Phase.READY or own is None:
            return Text("Waiting for the other player ...", "bold")
        if own.entropy_hash:
            return Text(f"You are ready. Waiting for the other player ...{left}", "bold")
        return Text(f"Press Enter when you are ready.{left}", f"bold #1d1d1d on {GOLD}")

    def _foot(self) -> Text:
        pairs = [("Enter", "ready"), ("?", "how to play"), ("Esc", "leave")]
        if self._may_call_bot:
            pairs.insert(1, ("b", "a bot takes the other seat"))
        return foot(pairs)

    @property
    def _may_call_bot(self) -> bool:
        return self.session.model.phase is Phase.WAITING and not self.face.is_at_house

    async def action_ready(self) -> None:
        """Ready for this round."""
        if self.session.model.phase is Phase.READY:
            await self.session.get_ready()

    def action_bot(self) -> None:
        """Ask a bot into the free seat."""
        if self._may_call_bot:
            self.face.call_bot()

    async def action_leave(self) -> None:
        """Go home. The cards are not dealt yet, so this loses nothing; once both are ready it would."""
        await self.face.leave_room()
