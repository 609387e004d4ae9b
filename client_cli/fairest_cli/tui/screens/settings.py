"""All settings in a list. A change applies at once and is saved at once."""

import os
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.tui.board.card_style import CARD_LINES, QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.settings import Colours, Keys, Settings, save_settings
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.cards import Card
from fairest_protocol.value import replace

NO_YES = ("no", "yes")
SAMPLE = ("KC", "9D", "TH", "AS")
"""A card of each suit, and the one rank of two digits."""


class SettingsScreen(FairestScreen):
    """The list of settings, with sample cards drawn by them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the list, the sample, and a line that says where the settings were saved."""
        with Vertical(id="settings"):
            yield TextLines(Text(" Settings: Left and Right change a value, Esc goes back", "bold"), id="settings-head")
            yield ChoiceList(_choices(self.program.settings), id="choices")
            yield TextLines(id="sample")
            yield TextLines(id="settings-where")

    def on_mount(self) -> None:
        """Give the list the keyboard and draw the sample."""
        self.query_one(ChoiceList).focus()
        self.draw()

    def draw(self) -> None:
        """Redraw the sample cards."""
        if not self.is_mounted:
            return
        cards = [self.card_style.card(Card(text)) for text in SAMPLE]
        rows = [Text(" ") + Text("  ").join([card[line] for card in cards]) for line in range(CARD_LINES)]
        self.query_one("#sample", TextLines).update(rows)

    def on_choice_list_changed(self, message: ChoiceList.Changed) -> None:
        """Apply the changed setting and save all settings; say so, or why they could not be saved."""
        choice, default = message.choice, getattr(Settings(), message.choice.name)
        value: Any = choice.value == "yes" if isinstance(default, bool) else type(default)(choice.value)
        self.program.apply_settings(replace(self.program.settings, **{choice.name: value}))
        path = self.program.settings_path
        try:
            save_settings(self.program.settings, path)
            outcome = f" Saved in {clean(str(path))}"
        except OSError as reason:
            outcome = f" Could not be saved in {clean(str(path))}: {os.strerror(reason.errno or 0)}"
        self.query_one("#settings-where", TextLines).update(Text(outcome, QUIET))
        self.draw()

    def action_close(self) -> None:
        """Return to the screen below."""
        self.dismiss()


def _choices(settings: Settings) -> list[Choice]:
    return [
        _choice("keys", "Keys for piles", tuple(Keys), settings, "letters a-h, home row asdf..., typed as in sa, b4"),
        _choice("hints", "Hints", NO_YES, settings, "show which cards fit, and where"),
        _choice("colours", "Suit colours", tuple(Colours), settings, "two, four, or none"),
        _choice("ascii_cards", "ASCII cards", NO_YES, settings, "letters for suits, if your font lacks symbols"),
        _choice("dim_dead", "Dim dead cards", NO_YES, settings, "dim cards of piles that can no longer be placed"),
        _choice("reduced_motion", "Reduced motion", NO_YES, settings, "nothing slides or scrolls smoothly"),
        _choice("sound", "Sound", NO_YES, settings, "ring the bell at the start and the end"),
    ]


def _choice(name: str, label: str, values: tuple[str, ...], settings: Settings, note: str) -> Choice:
    value = getattr(settings, name)
    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return Choice(name, label, tuple(map(str, values)), list(map(str, values)).index(text), note)
