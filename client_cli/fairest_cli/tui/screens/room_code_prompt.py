"""The question for the code of a room to join or to watch."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from fairest_cli.tui.widgets.text_lines import TextLines


class RoomCodePrompt(ModalScreen[str]):
    """A question with one line for the code. The screen is dismissed with the code that was typed, or with an empty
    string.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Show the question and the line for the answer."""
        with Vertical(id="room-code-prompt"):
            yield TextLines(Text(self._question, "bold"), id="question")
            yield Input(restrict=r"[A-Za-z -]*", max_length=60, id="answer")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the code in lower case; blanks may stand for hyphens."""
        self.dismiss(event.value.strip().lower().replace(" ", "-"))

    def action_close(self) -> None:
        """Close without a code."""
        self.dismiss("")
