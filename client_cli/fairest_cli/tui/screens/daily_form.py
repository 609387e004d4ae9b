"""The form before an attempt at a daily deal: nothing begins before the player has read that there is only one."""

from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.records.daily_notes import day_under_way, noted_attempt
from fairest_cli.text.variant_reference import describe_counts
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.screens.daily import DailyScreen, yesterday_page
from fairest_cli.tui.widgets.choice_list import START_NOTE, Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.calculation.daily import LIMIT_SECONDS, day_of
from fairest_protocol.calculation.rules import VARIANTS, Rules, choose_rules

BEGIN = Choice("start", "Begin your attempt", note=START_NOTE)
COME_BACK = Choice("start", "Back to your attempt", note="you have begun it")


class DailyForm(ModalScreen[Rules | None]):
    """Dismissed with the variant of the deal to race, or with None. Enter on the first line chooses it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, server: str, name: str | None, clock: Callable[[], int]) -> None:
        """`name` is that of our player, None for the first one of this machine that is free."""
        super().__init__()
        self._server, self._player, self._clock = server, name, clock

    def compose(self) -> ComposeResult:
        """Show the choices, and below them what begins, and a description of the chosen variant."""
        with Vertical(id="form"):
            yield ChoiceList(
                [
                    BEGIN,
                    Choice("rules", "Variant", tuple(VARIANTS)),
                    Choice("yesterday", "Yesterday's table", note="without an attempt of yours"),
                ],
                id="daily-choices",
            )
            yield Paragraph(id="daily-terms")
            yield TextLines(id="variant")

    def on_mount(self) -> None:
        """Describe today's deal, and the next one at midnight."""
        self.set_interval(1.0, self._describe)
        self._describe()

    def on_choice_list_changed(self, _: ChoiceList.Changed) -> None:
        """Describe the deal of the chosen variant."""
        self._describe()

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Open yesterday's table, or close with the variant."""
        if message.name == "yesterday":
            self.app.push_screen(yesterday_page(self._server, self._rules))
        else:
            self.dismiss(self._rules)

    def action_close(self) -> None:
        """Close without an attempt."""
        self.dismiss(None)

    @property
    def _rules(self) -> Rules:
        return choose_rules(self.query_one(ChoiceList).value("rules"))

    def _describe(self) -> None:
        choices, rules, at_ms = self.query_one(ChoiceList), self._rules, self._clock()
        is_begun = noted_attempt(self._server, self._player, rules.name, at_ms) is not None
        start = COME_BACK if is_begun else BEGIN
        if choices.choices["start"] is not start:
            choices.put(start)
        terms = self.query_one("#daily-terms", Paragraph)
        terms.update(Text(describe_terms(day_of(at_ms), rules)))
        terms.refresh(layout=True)
        variant = VARIANTS[rules.name]
        lines = [Text(f" {variant.title}", "bold"), Text(f" {describe_counts(rules)}", QUIET)]
        self.query_one("#variant", TextLines).update([*lines, Text(f" {rules.goal} cards to place", QUIET)])


def open_daily(app: App[Any], server: str, name: str | None, clock: Callable[[], int]) -> None:
    """Go on with our attempt at a daily deal that is under way; without one, ask before one begins."""

    def race(rules: Rules | None) -> None:
        if rules is not None:
            app.push_screen(DailyScreen(rules, server, name))

    under_way = (variant for variant in VARIANTS if day_under_way(server, name, variant, clock()))
    variant = next(under_way, None)
    if variant is None:
        app.push_screen(DailyForm(server, name, clock), race)
    else:
        race(choose_rules(variant))


def describe_terms(day: str, rules: Rules) -> str:
    """Return what a player has to know before an attempt at the deal of a day begins."""
    return (
        f"Daily deal of {day} (UTC), {rules.name}: everybody has this deck, and one attempt at it. Once begun, you "
        f"have {LIMIT_SECONDS // 60} minutes, which go on whatever happens."
    )
