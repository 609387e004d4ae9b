"""The form for a practice game: variant, piles, redeals, an open stock, and a seed."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.model.practice import Practice, start_practice
from fairest_cli.model.seeds import new_seed
from fairest_cli.text.variant_reference import describe_counts
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.widgets.choice_list import START_NOTE, Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.rules import VARIANTS, Rules, choose_rules
from fairest_protocol.value import replace

ANY_SEED: Final = "a new deal"


class PracticeForm(ModalScreen[Practice | None]):
    """Dismissed with the new game, or with None. Enter on the first line starts it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, rules: Rules | None = None) -> None:
        """`rules` are chosen to begin with."""
        super().__init__()
        self._rules = rules or choose_rules("classic")
        self._seed = ""

    def compose(self) -> ComposeResult:
        """Show the choices, and below them a description of the chosen variant."""
        names = tuple(VARIANTS)
        with Vertical(id="form"):
            yield ChoiceList(
                [
                    Choice("start", "Start the game", note=START_NOTE),
                    Choice("rules", "Variant", names, names.index(self._rules.name)),
                    *_ranges(self._rules),
                    Choice("stock", "Stock", ("closed", "open"), note="open: you see the cards to come"),
                    self._seed_choice(),
                ],
                id="practice-choices",
            )
            yield TextLines(id="variant")

    def on_mount(self) -> None:
        """Describe the variant that is chosen at first."""
        self._describe_variant()

    def on_choice_list_changed(self, message: ChoiceList.Changed) -> None:
        """Describe the chosen rules; another variant has other numbers of piles and redeals to choose from."""
        choices = self.query_one(ChoiceList)
        if message.choice.name == "rules":
            self._rules = choose_rules(choices.value("rules"))
            for choice in _ranges(self._rules):
                choices.put(choice)
        self._rules = choose_rules(choices.value("rules"), int(choices.value("piles")), int(choices.value("redeals")))
        self._describe_variant()

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Start the game, or ask for the seed."""
        if message.name == "seed":
            self.app.push_screen(
                TextPrompt("Seed of the deal", self._seed, note="any text; nothing for a new deal"), self._on_seed
            )
            return
        shows_stock = self.query_one(ChoiceList).value("stock") == "open"
        self.dismiss(start_practice(self._rules, self._seed or new_seed(), shows_stock=shows_stock))

    def _on_seed(self, seed: str | None) -> None:
        if seed is not None:
            self._seed = seed
            self.query_one(ChoiceList).put(self._seed_choice())

    def _seed_choice(self) -> Choice:
        return Choice("seed", "Seed", note=clean(self._seed)[:30] or f"{ANY_SEED}; Enter chooses one")

    def action_close(self) -> None:
        """Close without a game."""
        self.dismiss(None)

    def _describe_variant(self) -> None:
        variant = VARIANTS[self._rules.name]
        lines = [Text(f" {variant.title}", "bold"), Text(f" {describe_counts(self._rules)}", QUIET)]
        lines.append(Text(f" {self._rules.goal} cards to place", QUIET))
        self.query_one("#variant", TextLines).update(lines)


def _ranges(rules: Rules) -> list[Choice]:
    """Return the choices of piles and redeals that the variant allows, with those of `rules` chosen."""
    variant = VARIANTS[rules.name]
    piles, redeals = Choice("piles", "Waste piles"), Choice("redeals", "Redeals")
    return [
        replace(piles, values=tuple(map(str, variant.piles)), current=variant.piles.index(rules.piles)),
        replace(redeals, values=tuple(map(str, variant.redeals)), current=variant.redeals.index(rules.redeals)),
    ]
