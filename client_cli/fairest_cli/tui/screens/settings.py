"""Everything that can be set, changed and kept at once."""

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


class SettingsScreen(FairestScreen):
    """A list of settings and a hand of cards that shows what they look like."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def parts(self) -> ComposeResult:
        """The list."""
        with Vertical(id="settings"):
            yield TextLines(Text(" Settings: Left and Right change a value, Esc goes back", "bold"), id="settings-head")
            yield ChoiceList(_choices(self.settings), id="choices")
            yield TextLines(id="sample")
            yield TextLines(id="settings-where")

    def on_mount(self) -> None:
        """Show what is set."""
        self.query_one(ChoiceList).focus()
        self.draw()

    def draw(self) -> None:
        """The sample hand."""
        if not self.is_mounted:
            return
        cards = [self.card_style.card(Card(text)) for text in ("KC", "9D", "10H".replace("10", "T"), "AS")]
        rows = [Text(" ") + Text("  ").join([card[line] for card in cards]) for line in range(CARD_LINES)]
        self.query_one("#sample", TextLines).show(rows)

    def on_choice_list_changed(self, message: ChoiceList.Changed) -> None:
        """Take it over and keep it."""
        choice, default = message.choice, getattr(Settings(), message.choice.name)
        value: Any = choice.value == "yes" if isinstance(default, bool) else type(default)(choice.value)
        self.face.use(replace(self.settings, **{choice.name: value}))
        path = self.face.settings_path
        try:
            save_settings(self.settings, path)
            told = f" Kept in {clean(str(path))}"
        except OSError as reason:
            told = f" Not kept: {clean(str(path))}: {os.strerror(reason.errno or 0)}"
        self.query_one("#settings-where", TextLines).show(Text(told, QUIET))
        self.draw()

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def _choices(settings: Settings) -> list[Choice]:
    return [
        _one_of("keys", "Keys for piles", tuple(Keys), settings, "letters a-h; home row asdf jkl;; typed as in sa, b4"),
        _one_of("hints", "Hint marks", NO_YES, settings, "what fits where is marked, and told"),
        _one_of("colours", "Suits", tuple(Colours), settings, "in two colours, in four, or in none"),
        _one_of("ascii_cards", "ASCII cards", NO_YES, settings, "letters for suits, for fonts without them"),
        _one_of("reduced_motion", "Reduced motion", NO_YES, settings, "nothing slides or scrolls smoothly"),
        _one_of("sound", "Sound", NO_YES, settings, "the terminal's bell at the start and the end"),
    ]


def _one_of(name: str, label: str, values: tuple[str, ...], settings: Settings, note: str) -> Choice:
    value = getattr(settings, name)
    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return Choice(name, label, tuple(map(str, values)), list(map(str, values)).index(text), note)
