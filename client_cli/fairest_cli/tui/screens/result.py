"""The end of a round: the winner, the progress of both players over time, and the result of the seal's check."""

from textwrap import wrap
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.practice import start_from_record
from fairest_cli.model.proof import describe_proof
from fairest_cli.records.files import short_path
from fairest_cli.session.connection import Update
from fairest_cli.session.progress import progress_of
from fairest_cli.session.room_session import RoomSession, may_queue_again
from fairest_cli.session.saving import describe_unsaved, save_elsewhere
from fairest_cli.text.board_text import describe_ledger, describe_score, format_time
from fairest_cli.text.move_text import YOU, describe_series, describe_winner_first, seats_by_result
from fairest_cli.text.narration import describe_end, player_name
from fairest_cli.text.ratings import standings_after_match
from fairest_cli.tui.board.card_style import GOLD, QUIET, fitted_key_line, longest_fit
from fairest_cli.tui.board.progress_chart import STYLES, draw_chart
from fairest_cli.tui.board.timeline import timeline_of
from fairest_cli.tui.screens.analysis import AnalysisScreen
from fairest_cli.tui.screens.base import RoomScreen
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.screens.replay import ReplayScreen
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.settings import Colours
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import MatchRecord

SIDE_COLUMNS = 6
"""Columns that are left blank beside the proof."""
LOW_LINES = 20
"""Below this height, the scores are shown without their details, and no blank lines stand round them."""
MIN_CHART_LINES = 3
"""A chart with fewer lines shows nothing, and is left out."""
PROOF_LINES = 3
"""The least lines for the proof, so that the chart above it does not move when the record comes."""


class ResultScreen(RoomScreen):
    """Stays until the player goes on to the next round, to a rematch, to the replay, or home."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ready", "Ready"),
        Binding("r", "race_again('same')", "Rematch"),
        Binding("f", "race_again('next')", "Next opponent"),
        Binding("v", "replay", "Replay"),
        Binding("p", "practise", "Practise this deal"),
        Binding("w", "save", "Save elsewhere"),
        Binding("a", "analyse", "Analysis"),
        Binding("escape", "leave", "Home"),
    ]

    def __init__(self, session: RoomSession) -> None:
        super().__init__(session)
        self._has_asked_to_leave = False
        self._standing_on_server = ""
        """Our rating and the score against the other player, as far as the server has told them."""

    def compose_body(self) -> ComposeResult:
        """Yield the headline, the scores, the chart, the proof, what comes next, and the keys."""
        with Vertical(id="result"):
            yield TextLines(id="headline")
            yield TextLines(id="scores")
            yield TextLines(id="chart")
            yield TextLines(id="proof")
            yield TextLines(id="next")
        yield TextLines(id="key-line")

    def show_update(self, before: KnownRoom, update: Update) -> None:
        """Redraw; once the record is there, ask the server for our new rating as well."""
        super().show_update(before, update)
        if isinstance(update.message, MatchRecord) and update.model.seat is not None:
            self.run_in_background(self._follow_standing, exclusive=True, group="rating")

    async def _follow_standing(self) -> None:
        end = self.session.finished
        if end is not None and end.scene is not None and end.seat is not None:
            async for sentence in standings_after_match(end.server_url, end.scene, end.seat):
                self._standing_on_server = sentence
                self.draw()

    def tick(self) -> None:
        """Redraw the time that is left to get ready for the next round."""
        self._draw_next()

    def draw(self) -> None:
        """Redraw everything. The chart is exact once the record is there; before, it holds the counts as seen."""
        end = self.session.finished
        if not self.is_mounted or self.is_too_small or end is None or end.scene is None or end.scene.outcome is None:
            return
        outcome = end.scene.outcome
        took = format_time((end.scene.duration_ms or 0) / 1000)
        names = [YOU if seat == end.seat else self.name_of(seat, end) for seat in range(len(outcome.scores))]
        headline = f"{describe_winner_first(outcome, names)}, after {took}"
        self.query_one("#headline", TextLines).update(Text(headline, f"bold {GOLD}"))
        is_low = self.size.height < LOW_LINES
        self.query_one("#result").styles.padding = (0, 1) if is_low else (1, 2)
        lines, width = [], max(40, self.size.width - SIDE_COLUMNS)
        for seat in seats_by_result(outcome):
            first, second = describe_score(self.name_of(seat, end), outcome.scores[seat])
            if len(second) > width:
                second = second.replace(" of them played", "")
            lines += [Text(first, STYLES[seat])] if is_low else [Text(first, STYLES[seat]), Text(second, QUIET)]
        ledger = [*describe_ledger(names, outcome)]
        lines += [
            Text(line, QUIET)
            for row in (ledger[-1:] if is_low else ledger)
            for line in wrap(row, width, subsequent_indent="    ")
        ]
        # Without colours the curves are told apart by their digits.
        has_digits = self.card_style.is_ascii or self.settings.colours is Colours.MONOCHROME or self.app.no_color
        heading = _describe_match(end)
        if has_digits:
            heading.append(f"  1 is {self.name_of(0, end)}, 2 is {self.name_of(1, end)}", QUIET)
        lines.append(heading)
        record, number = self.session.record, end.scene.round_number
        # Rounds that were called off stand in the record too, but have no number on the screen.
        dealt = [index for index, played in enumerate(record.rounds) if played.outcome] if record else []
        players = (
            progress_of(record, dealt[number - 1]) if record and number <= len(dealt) else self.session.progress.players
        )
        proof = [
            Text(line, "bold #9be29b") for sentence in describe_proof(end.seal_check) for line in wrap(sentence, width)
        ]
        proof += [Text(line, "bold #ffd27a") for line in wrap(clean(describe_end(end)), width)]
        if self.session.record_path is not None:
            saved = f"saved as {clean(short_path(self.session.record_path))}"
            checked = f"The record was checked as well, move by move, and {saved}"
            proof += [Text(line, QUIET) for line in wrap(checked, width, break_on_hyphens=False)]
        proof += [Text(line, "bold") for line in wrap(self._standing_on_server, width)]
        if self.session.problem:
            problem = f"{clean(self.session.problem)} Press w to save elsewhere."
            proof += [Text(line, "bold #ff8a70") for line in wrap(problem, width)]
        proof_lines = max(PROOF_LINES, len(proof))
        blanks = 0 if is_low else 1
        # The lines that are left beside the headline, what comes next, and the keys.
        room = self.size.height - 3 * blanks - 3 - len(lines) - proof_lines
        most = max(1, *(score.placed for score in outcome.scores))
        has_chart = room >= MIN_CHART_LINES
        curves = draw_chart(players, most, width - 2, room, is_ascii=has_digits) if has_chart else []
        parts = ((lines, len(lines)), (curves, room), (proof, proof_lines))
        for name, (content, height) in zip(("scores", "chart", "proof"), parts, strict=True):
            part = self.query_one(f"#{name}", TextLines)
            part.styles.height = max(0, height)
            part.update(content)
        self.query_one("#scores").styles.margin = (blanks, 0, 0, 0)
        self._draw_next()

    def _draw_next(self) -> None:
        if not self.is_mounted:
            return
        model, own = self.session.model, self.session.model.own
        left = f" ({self.time_left()} left)" if self.time_left() else ""
        columns = self.size.width - 2
        keys = [("v", "replay"), ("p", "practise this deal"), ("a", "analysis"), ("Esc", "home")]
        sentence = ""
        if self.session.queues_again:
            sentence = "Leaving for the next opponent ..."
        elif self._has_asked_to_leave:
            sentence = longest_fit(
                (
                    "Leaving now gives up the match. Esc leaves, Enter stays and gets you ready.",
                    "Esc again gives up the match; Enter stays.",
                ),
                columns,
            )
        elif own is not None and model.phase is Phase.READY:
            wordings = (
                (f"You are ready; waiting for the other player ...{left}", f"Ready; waiting for the other one.{left}")
                if own.entropy_hash
                else (
                    f"The next round is open: press Enter when you are ready.{left}",
                    f"Next round: press Enter.{left}",
                )
            )
            sentence = longest_fit(wordings, columns)
            keys.insert(0, ("Enter", "ready"))
        elif own is not None and model.phase is Phase.FINISHED and model.scene and model.scene.match_is_over:
            other = model.scene.seats[1 - (model.seat or 0)]
            if own.wants_rematch:
                sentence = "You want a rematch; waiting for the other player ..."
            elif other.wants_rematch:
                sentence = f"{self.name_of(1 - (model.seat or 0))} wants a rematch: press r to accept."
            else:
                sentence = "Press r for a rematch."
            keys.insert(0, ("r", "rematch"))
        elif model.phase is Phase.WAITING:
            sentence = f"The other player has left; somebody else may join {model.room}."
        if may_queue_again(self.session):
            keys.insert(len(keys) - 4, ("f", "next opponent"))
        self.query_one("#next", TextLines).update(Text(sentence, "bold"))
        self.query_one("#key-line", TextLines).update(fitted_key_line([*keys, ("?", "help")], self.size.width))

    async def action_ready(self) -> None:
        """Get ready for the next round; also withdraws an Esc that was pressed before."""
        self._has_asked_to_leave = False
        if self.session.model.phase is Phase.READY:
            await self.session.get_ready()

    async def action_race_again(self, against: str) -> None:
        """Ask the same player for another match, or leave for the next opponent that the queue has."""
        if against == "next":
            if may_queue_again(self.session):
                await self.session.leave(queues_again=True)
                self._draw_next()
        elif self.session.model.phase is Phase.FINISHED:
            await self.session.ask_rematch()

    def action_replay(self) -> None:
        """Replay the match; does nothing until the record has come."""
        record = self.session.record
        if record is not None:
            self.app.push_screen(ReplayScreen(record, timeline_of(record), self.session.model.seat or 0))

    def action_practise(self) -> None:
        """Practise the deal of this round; does nothing until the record has come, or for a round without a deal."""
        end, record = self.session.finished, self.session.record
        if record is None or end is None or end.scene is None:
            return
        for number, played in enumerate(record.rounds):
            if played.round_id == end.scene.round and played.is_dealt:
                self.app.push_screen(PracticeScreen(start_from_record(record, number)))

    def action_save(self) -> None:
        """Ask for a folder, and save the record and the receipt there."""
        question = "Folder to save the record and your receipt in"
        self.app.push_screen(TextPrompt(question, "~/", refusal=self._save), lambda _: self.draw())

    def _save(self, folder: str) -> str:
        """Save the files in `folder`; return why that failed, or nothing."""
        session = self.session
        try:
            paths = save_elsewhere(folder, session.match_record, session.receipt)
        except (OSError, ValueError) as reason:
            return describe_unsaved(folder, reason)
        if session.match_record is not None:
            session.record_path, session.problem = paths[0], ""
        return ""

    def action_analyse(self) -> None:
        """Analyse the match; does nothing until the record has come."""
        record = self.session.record
        if record is not None:
            self.app.push_screen(AnalysisScreen(record))

    async def action_leave(self) -> None:
        """Go home; between the rounds of a match, which leaving gives up, only when pressed twice."""
        scene = self.session.model.scene
        if self._has_asked_to_leave or scene is None or scene.match_is_over or scene.phase is not Phase.READY:
            await self.program.rooms.leave()
            return
        self._has_asked_to_leave = True
        self._draw_next()


def _describe_match(end: KnownRoom) -> Text:
    """Return the score of a match of several rounds, and the matches that both have won in this room.

    For the first match of one round, return the heading of the chart.
    """
    scene = end.scene
    if scene is None:
        return Text("  Cards placed over time:", QUIET)
    series = ""
    if scene.match_is_over:
        series = describe_series(
            [seat.matches_won for seat in scene.seats], [player_name(end, seat) for seat in (0, 1)]
        )
    if scene.options.best_of == 1:
        return Text(f"  {series}", "bold") if series else Text("  Cards placed over time:", QUIET)
    first, second = (seat.wins for seat in scene.seats)
    state = "The match is over" if scene.match_is_over else f"Round {scene.round_number} of at most"
    of = "" if scene.match_is_over else f" {scene.options.best_of}"
    lines = [f"  {state}{of}: {player_name(end, 0)} {first}, {player_name(end, 1)} {second}"]
    return Text("\n".join([*lines, f"  {series}"] if series else lines), "bold")
