"""A list of choices, each on one line with its value. Enter, Left, Right and a click change the value."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fairest_cli.tui.board.card_style import GOLD, LETTER, QUIET
from fairest_protocol.value import Value, replace

EDGE_COLUMNS = 2
"""The blanks at both ends of a line of the list."""
LABEL_COLUMNS: Final = 22
"""The columns of the key and the label of a choice, behind which its value or its note begins."""

START_NOTE: Final = "Enter; Left and Right change a line below"
"""The note of the line that starts a form: the keys that a newcomer would have to guess."""


class Choice(Value):
    """A line of the list: a name and one of several values, or, without values, something to do."""

    name: str
    label: str
    values: tuple[str, ...] = ()
    current: int = 0
    note: str = ""
    key: str = ""
    """The key that does the same as the line."""

    @property
    def value(self) -> str:
        """The value that is chosen now."""
        return self.values[self.current]


class ChoiceList(OptionList):
    """Choices by name in `choices`, which holds the current values. Up and Down move between them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "change(1)", "Next value", show=False),
        Binding("left", "change(-1)", "Previous value", show=False),
    ]

    class Changed(Message):
        """Posted when a choice has another value."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    class Chosen(Message):
        """Posted when a line without values is chosen: do what it names."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, rows: Sequence[Choice | str], *, id: str | None = None) -> None:  # noqa: A002
        """`rows` are choices, and titles of those that follow; the cursor passes over a title."""
        self.choices = {row.name: row for row in rows if isinstance(row, Choice)}
        longest = max((len(_keyed(choice)) for choice in self.choices.values()), default=0)
        self._label_columns = max(LABEL_COLUMNS, longest)
        options = [
            Option(self._line(row), id=row.name)
            if isinstance(row, Choice)
            else Option(Text(f" {row}", QUIET, no_wrap=True), disabled=True)
            for row in rows
        ]
        super().__init__(*options, id=id, markup=False)

    def on_resize(self) -> None:
        """Show each note where it fits in full; none is cut off."""
        for choice in self.choices.values():
            self.replace_option_prompt(choice.name, self._fitted(choice))

    @property
    def note(self) -> str:
        """The note of the highlighted choice."""
        highlighted = self.highlighted_option
        return self.choices[highlighted.id or ""].note if highlighted is not None else ""

    def _fitted(self, choice: Choice) -> Text:
        line = self._line(choice)
        fits = line.cell_len <= self.scrollable_content_region.width - EDGE_COLUMNS
        return line if fits else self._line(replace(choice, note=""))

    def _line(self, choice: Choice) -> Text:
        line = Text(f" {_keyed(choice):<{self._label_columns}}", "bold" if not choice.values else "", no_wrap=True)
        line.stylize(LETTER, 1, 1 + len(choice.key))
        if choice.values:
            line.append(f"< {choice.value} >", f"bold {GOLD}")
        return line.append(f"  {choice.note}", f"not bold {QUIET}" if not choice.values else QUIET)

    def value(self, name: str) -> str:
        """Return the current value of the choice called `name`."""
        return self.choices[name].value

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Change the selected choice to its next value, or post that the line was chosen."""
        event.stop()
        choice = self.choices[event.option.id or ""]
        if choice.values:
            self._change(choice, 1)
        else:
            self.post_message(self.Chosen(choice.name))

    def action_change(self, steps: int) -> None:
        """Change the highlighted choice by `steps` values, round and round."""
        if self.highlighted is not None:
            choice = self.choices[self.get_option_at_index(self.highlighted).id or ""]
            if choice.values:
                self._change(choice, steps)

    def put(self, choice: Choice) -> None:
        """Show `choice` in place of the one with its name."""
        self.choices[choice.name] = choice
        self.replace_option_prompt(choice.name, self._fitted(choice))

    def _change(self, choice: Choice, steps: int) -> None:
        changed = replace(choice, current=(choice.current + steps) % len(choice.values))
        self.put(changed)
        self.post_message(self.Changed(changed))


def _keyed(choice: Choice) -> str:
    """Return the label of a choice behind its key, if it has one."""
    return f"{choice.key}  {choice.label}" if choice.key else choice.label
