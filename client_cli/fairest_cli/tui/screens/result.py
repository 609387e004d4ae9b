"""The end of a round: who won, how both came on over time, and what the seal proved."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.seal_check import describe_proof
from fairest_cli.records.files import short_path
from fairest_cli.session.progress import progress_of
from fairest_cli.session.room_session import RoomSession
from fairest_cli.text.board_text import describe_score, format_time
from fairest_cli.tui.board.card_style import GOLD, QUIET, foot
from fairest_cli.tui.board.progress_chart import STYLES, draw_curve
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.round import Outcome
from fairest_protocol.messages.fields import Phase


class ResultScreen(RoomScreen):
    """Stays until the player goes on: to the next round, to a rematch, to the replay, home."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ready", "Ready"),
        Binding("r", "rematch", "Rematch"),
        Binding("v", "replay", "Replay"),
        Binding("escape", "leave", "Home"),
    ]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        self._is_sure = False

    def parts(self) -> ComposeResult:
        """Headline, scores, curve, proof, what next."""
        with Vertical(id="result"):
            yield TextLines(id="headline")
            yield TextLines(id="scores")
            yield TextLines(id="curve")
            yield TextLines(id="proof")
            yield TextLines(id="next")
        yield TextLines(id="foot")

    def tick(self) -> None:
        """Time to get ready runs out."""
        self._draw_next()

    def draw(self) -> None:
        """All of it; the curve is exact once the record is there."""
        end = self.session.finished
        if not self.is_mounted or self.is_too_small or end is None or end.scene is None or end.scene.outcome is None:
            return
        outcome = end.scene.outcome
        took = format_time((end.scene.duration_ms or 0) / 1000)
        counts = " to ".join(str(score.placed) for score in sorted(outcome.scores, key=lambda each: -each.placed))
        told = f"{self._headline(outcome, end)}, {counts}, after {took}"
        headline = Text(told, f"bold {GOLD}")
        self.query_one("#headline", TextLines).show(headline)
        lines = []
        for seat, score in enumerate(outcome.scores):
            first, second = describe_score(self.name_of(seat, end), score)
            lines += [Text(first, STYLES[seat]), Text(second, QUIET)]
        lines.append(self._standing(end))
        self.query_one("#scores", TextLines).show(lines)
        curve = self.query_one("#curve", TextLines)
        record, number = self.session.record, end.scene.round_number
        dealt = [n for n, played in enumerate(record.rounds) if played.outcome] if record else []
        players = (
            progress_of(record, dealt[number - 1]) if record and number <= len(dealt) else self.session.progress.players
        )
        most, size = max(1, *(score.placed for score in outcome.scores)), curve.size
        curve.show(draw_curve(players, most, size.width - 2, size.height, is_ascii=self.card_style.is_ascii))
        proof = [Text(sentence, "bold #9be29b") for sentence in describe_proof(end.seal_check)]
        if self.session.record_path is not None:
            proof.append(Text("Proved again from the record, move by move. It is kept as", QUIET))
            proof.append(Text(clean(short_path(self.session.record_path)), QUIET))
        if self.session.problem:
            proof.append(Text(self.session.problem, "bold #ff8a70"))
        self.query_one("#proof", TextLines).show(proof)
        self._draw_next()

    def _headline(self, outcome: Outcome, end: KnownRoom) -> str:
        if outcome.winner is None:
            return "A draw"
        if outcome.winner == end.seat:
            return "You win"
        return f"{self.name_of(outcome.winner, end)} wins"

    def _standing(self, end: KnownRoom) -> Text:
        scene = end.scene
        if scene is None or scene.options.best_of == 1:
            return Text("  Cards placed, over time:", QUIET)
        first, second = (seat.wins for seat in scene.seats)
        state = "The match is over" if scene.match_is_over else f"Round {scene.round_number} of at most"
        of = "" if scene.match_is_over else f" {scene.options.best_of}"
        return Text(f"  {state}{of}: {self.name_of(0, end)} {first}, {self.name_of(1, end)} {second}", "bold")

    def _draw_next(self) -> None:
        if not self.is_mounted:
            return
        model, own = self.session.model, self.session.model.own
        left = f" ({self.time_left()} left)" if self.time_left() else ""
        keys = [("v", "replay"), ("Esc", "home")]
        sentence = ""
        if self._is_sure:
            sentence = "Leaving now gives the match up: Esc again does that, Enter goes on."
        elif own is not None and model.phase is Phase.READY:
            sentence = (
                f"You are ready; waiting for the other player ...{left}"
                if own.entropy_hash
                else (f"The next round is open: press Enter when you are ready.{left}")
            )
            keys.insert(0, ("Enter", "ready"))
        elif own is not None and model.phase is Phase.FINISHED and model.scene and model.scene.match_is_over:
            other = model.scene.seats[1 - (model.seat or 0)]
            if own.wants_rematch:
                sentence = "You want a rematch; waiting for the other player ..."
            elif other.wants_rematch:
                sentence = f"{self.name_of(1 - (model.seat or 0))} wants a rematch: press r for one."
            else:
                sentence = "Press r for a rematch."
            keys.insert(0, ("r", "rematch"))
        elif model.phase is Phase.WAITING:
            sentence = "The other player has left."
        self.query_one("#next", TextLines).show(Text(sentence, "bold"))
        self.query_one("#foot", TextLines).show(foot([*keys, ("?", "keys, rules")]))

    async def action_ready(self) -> None:
        """Ready for the next round."""
        self._is_sure = False
        if self.session.model.phase is Phase.READY:
            await self.session.get_ready()

    async def action_rematch(self) -> None:
        """Another match, if the other player wants one too."""
        if self.session.model.phase is Phase.FINISHED:
            await self.session.ask_rematch()

    def action_replay(self) -> None:
        """See it again, once the record is there."""
        record = self.session.record
        if record is not None:
            self.app.push_screen(ReplayScreen(record, timeline_of(record), self.session.record_path))

    async def action_leave(self) -> None:
        """Go home. Between the rounds of a match that would give it up, so it takes a second key press."""
        scene = self.session.model.scene
        if self._is_sure or scene is None or scene.match_is_over or scene.phase is not Phase.READY:
            await self.face.leave_room()
            return
        self._is_sure = True
        self._draw_next()
