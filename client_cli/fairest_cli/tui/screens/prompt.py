"""A question with a line to answer in."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from fairest_cli.tui.widgets.text_lines import TextLines


class Ask(ModalScreen[str]):
    """Dismissed with what was typed, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and the line."""
        with Vertical(id="ask"):
            yield TextLines(Text(self._question, "bold"), id="question")
            yield Input(restrict=r"[A-Za-z -]*", max_length=60, id="answer")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        self.dismiss(event.value.strip().lower().replace(" ", "-"))

    def action_close(self) -> None:
        """Never mind."""
        self.dismiss("")
