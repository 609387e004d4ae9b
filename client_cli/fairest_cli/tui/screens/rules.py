"""The variants in a list; Enter shows the reference card of one."""

from collections.abc import AsyncGenerator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.text.variant_reference import describe_counts, describe_variant
from fairest_cli.tui.board.card_style import GOLD, key_line
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.text_page import TextPage
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.rules import VARIANTS


class RulesScreen(FairestScreen):
    """Lists what `fairest rules` lists."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the variants, and the keys."""
        yield TextLines(Text(" Variants and their reference cards", f"bold {GOLD}"), id="heading")
        with Vertical(id="rules"):
            yield ChoiceList(
                [
                    Choice(name, variant.title, note=describe_counts(variant.rules))
                    for name, variant in VARIANTS.items()
                ],
                id="variants",
            )
        yield TextLines(key_line((("Enter", "reference card"), ("?", "how to play"), ("Esc", "back"))), id="key-line")

    def on_mount(self) -> None:
        """Give the list the keyboard."""
        self.query_one(ChoiceList).focus()

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Show the reference card of the chosen variant."""
        variant = VARIANTS[message.name]

        async def card() -> AsyncGenerator[str, None]:
            for line in describe_variant(variant, variant.rules, None):
                yield line

        self.app.push_screen(TextPage(variant.title, card))

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()
