"""All settings in a list. A change applies at once and is saved at once."""

import os
from functools import partial
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from fairest_cli.tui.board.card_style import CARD_LINES, QUIET
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.text_prompt import TextPrompt
from fairest_cli.tui.settings import TEXTS, Colours, Keys, Settings, save_settings
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.cards import Card
from fairest_protocol.value import replace

NO_YES = ("no", "yes")
QUESTIONS: Final = {
    "name": ("Your name on servers", "2 to 20 letters, digits, - or _; nothing: the server chooses one"),
    "server": ("Address of the server for rooms", "such as ws://192.168.0.5:8765; nothing: a server on this machine"),
}
SAMPLE = ("KC", "9D", "TH", "AS")
"""A card of each suit, and the one rank of two digits."""
SAMPLE_LINES: Final = 19
"""From this height on, there is room for the sample below the settings."""


class SettingsScreen(FairestScreen):
    """The list of settings, with sample cards drawn by them."""

    MIN_SIZE: ClassVar[tuple[int, int]] = (50, 16)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Back")]

    def compose_body(self) -> ComposeResult:
        """Yield a heading, the list, the sample, and a line that says where the settings were saved."""
        with Vertical(id="settings"):
            yield TextLines(Text(" Settings: Left, Right and Enter change a value", "bold"), id="settings-head")
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
        sample = self.query_one("#sample", TextLines)
        sample.update(rows)
        sample.display = self.size.height >= SAMPLE_LINES

    def on_option_list_option_highlighted(self) -> None:
        """Show the note of the choice in full, which a narrow line has no room for."""
        self.query_one("#settings-where", TextLines).update(Text(f" {self.query_one(ChoiceList).note}", QUIET))

    def on_choice_list_changed(self, message: ChoiceList.Changed) -> None:
        """Apply and save the changed setting."""
        choice, default = message.choice, getattr(Settings(), message.choice.name)
        value: Any = choice.value == "yes" if isinstance(default, bool) else type(default)(choice.value)
        self._save(replace(self.program.settings, **{choice.name: value}))

    def on_choice_list_chosen(self, message: ChoiceList.Chosen) -> None:
        """Ask for the text of the chosen setting, and again as long as it is refused."""
        name = message.name
        question, note = QUESTIONS[name]

        def keep(text: str | None) -> None:
            if text is not None:
                changed: Any = {name: text}
                self._save(replace(self.program.settings, **changed))
                self.query_one(ChoiceList).put(_typed(name, self.settings))

        prompt = TextPrompt(question, getattr(self.settings, name), note=note, refusal=partial(_refusal, name))
        self.app.push_screen(prompt, keep)

    def _save(self, settings: Settings) -> None:
        """Apply `settings` and save them; say so, or why they could not be saved."""
        self.program.apply_settings(settings)
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


def _refusal(name: str, text: str) -> str:
    """Return why a text cannot be the setting called `name`; an empty one stands for none."""
    return TEXTS[name](text) if text else ""


def _typed(name: str, settings: Settings) -> Choice:
    """Return the line of a setting that is typed."""
    labels = {"name": ("Your name", "chosen by the server"), "server": ("Server", "the one on this machine")}
    label, none = labels[name]
    return Choice(name, label, note=clean(getattr(settings, name)) or none)


def _choices(settings: Settings) -> list[Choice]:
    return [
        _typed("name", settings),
        _typed("server", settings),
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
