"""A list of choices, each on its line with its value: Enter, Left and Right change it, and so does a click."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.tui.board.card_style import GOLD, QUIET
from fairest_protocol.value import Value, replace


class Choice(Value):
    """A line: without values it is a thing to do."""

    name: str
    label: str
    values: tuple[str, ...] = ()
    current: int = 0
    note: str = ""

    @property
    def value(self) -> str:
        """What is chosen."""
        return self.values[self.current]


class ChoiceList(OptionList):
    """Choices to go through with the arrow keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "change(1)", "Next value", show=False),
        Binding("left", "change(-1)", "Previous value", show=False),
    ]

    class Changed(Message):
        """A choice has another value now."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    class Done(Message):
        """A thing to do was chosen."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, choices: Sequence[Choice], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(*(Option(_line(choice), id=choice.name) for choice in choices), id=id, markup=False)
        self.choices = {choice.name: choice for choice in choices}

    def value(self, name: str) -> str:
        """What is chosen there."""
        return self.choices[name].value

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        event.stop()
        choice = self.choices[event.option.id or ""]
        if choice.values:
            self._change(choice, 1)
        else:
            self.post_message(self.Done(choice.name))

    def action_change(self, steps: int) -> None:
        """Another value for the choice that is marked."""
        if self.highlighted is not None:
            choice = self.choices[self.get_option_at_index(self.highlighted).id or ""]
            if choice.values:
                self._change(choice, steps)

    def _change(self, choice: Choice, steps: int) -> None:
        changed = replace(choice, current=(choice.current + steps) % len(choice.values))
        self.choices[choice.name] = changed
        self.replace_option_prompt(choice.name, _line(changed))
        self.post_message(self.Changed(changed))


def _line(choice: Choice) -> Text:
    line = Text(f" {choice.label:<22}", "bold" if not choice.values else "", no_wrap=True)
    if choice.values:
        line.append(f"< {choice.value} >", f"bold {GOLD}")
    return line.append(f"  {choice.note}", QUIET)
