"""The end of a race against a ghost: the winner and the margin, both curves, and the ways to race again."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.analysis.ghost import GhostRace, summon_run
from fairest_cli.analysis.training import YOUR_BEST, keep_best
from fairest_cli.model.practice import start_practice
from fairest_cli.model.run import BadRun, Run
from fairest_cli.records.best_runs import load_best_run
from fairest_cli.text.board_text import describe_score, format_time
from fairest_cli.text.ghost import describe_verdict
from fairest_cli.text.move_text import YOU, seats_by_result
from fairest_cli.tui.board.card_style import GOLD, QUIET, key_line
from fairest_cli.tui.board.progress_chart import STYLES, draw_chart
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.help import OwnKeys
from fairest_cli.tui.screens.practice import PracticeScreen
from fairest_cli.tui.widgets.text_lines import TextLines

KEYS = (("z", "the same race again"), ("b", "race your best run"), ("p", "practise this deal"), ("Esc", "back"))
SHORT_KEYS = (("z", "again"), ("b", "your best"), ("p", "practise"), ("Esc", "back"))


class GhostResultScreen(FairestScreen):
    """Shows the result and stores the player's run if it is the best one on its deal."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    OWN_KEYS: ClassVar[OwnKeys] = OwnKeys("Keys after a race against a ghost", KEYS, is_race=False)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back"),
        Binding("z", "again", "The same race again"),
        Binding("b", "best", "Race your best run"),
        Binding("p", "practise", "Practise this deal"),
    ]

    def __init__(self, ghost: GhostRace, fresh: GhostRace, race: Callable[[GhostRace], None]) -> None:
        """`ghost` is the race that is over, `fresh` the same one at its start; `race` opens another one."""
        super().__init__()
        self._ghost = ghost
        self._fresh = fresh
        self._race = race

    def compose_body(self) -> ComposeResult:
        """Yield the headline, the scores, the chart, a notice, and the keys."""
        with Vertical(id="result"):
            yield TextLines(id="headline")
            yield TextLines(id="scores")
            yield TextLines(id="chart")
            yield TextLines(id="next")
        yield TextLines(id="key-line")

    def on_mount(self) -> None:
        """Draw, and store the run."""
        self.draw()
        self.run_in_background(self._keep, group="keep")

    async def _keep(self) -> None:
        self._show_notice(await asyncio.to_thread(keep_best, self._ghost))

    def _show_notice(self, sentence: str) -> None:
        self.query_one("#next", TextLines).update(Text(sentence, "bold"))

    def draw(self) -> None:
        """Redraw everything but the notice."""
        if not self.is_mounted or self.is_too_small:
            return
        ghost, outcome = self._ghost, self._ghost.race.outcome()
        self.query_one("#headline", TextLines).update(Text(describe_verdict(ghost), f"bold {GOLD}"))
        lines = []
        for seat in seats_by_result(outcome):
            first, second = describe_score((YOU, ghost.name)[seat], outcome.scores[seat])
            lines += [Text(first, STYLES[seat]), Text(second, QUIET)]
        lines.append(Text(f"  Cards placed over time, until {format_time(ghost.now_ms / 1000)}:", QUIET))
        self.query_one("#scores", TextLines).update(lines)
        ours, _, its = ghost.curves
        chart, most = self.query_one("#chart", TextLines), max(1, *ghost.counts)
        is_ascii = self.card_style.is_ascii
        chart.update(draw_chart((ours, its), most, chart.size.width - 2, chart.size.height, is_ascii=is_ascii))
        keys = key_line([*KEYS, ("?", "help")])
        keys = keys if keys.cell_len <= self.size.width else key_line([*SHORT_KEYS, ("?", "help")])
        self.query_one("#key-line", TextLines).update(keys)

    def action_again(self) -> None:
        """Race the same ghost again."""
        self._race(self._fresh)

    async def action_best(self) -> None:
        """Race the player's best run on this deal, on the clocks of this race."""
        try:
            best = await asyncio.to_thread(self._load_best)
        except (BadRun, OSError) as reason:
            self._show_notice(f"Your best run cannot be read: {reason}.")
            return
        if best is None:
            self._show_notice("No run of yours on this deal is stored.")
        else:
            self._race(summon_run(YOUR_BEST, best))

    def _load_best(self) -> Run | None:
        return load_best_run(self._ghost.race.rules, self._ghost.seed)

    def action_practise(self) -> None:
        """Practise the deal of this race."""
        self.app.push_screen(PracticeScreen(start_practice(self._ghost.race.rules, self._ghost.seed.hex())))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
