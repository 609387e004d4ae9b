"""A question that is answered by one typed line, which stays open with the reason while the answer is refused."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_cli.untrusted_text import clean

MAX_ANSWER: Final = 400


def accept_any(_: str) -> str:
    """Refuse no answer."""
    return ""


class TextPrompt(ModalScreen[str | None]):
    """Dismissed with the answer, without blanks around it, or with None. A refused answer stays, to be corrected."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(
        self, question: str, answer: str = "", *, note: str = "", refusal: Callable[[str], str] = accept_any
    ) -> None:
        """`answer` is there to begin with. `refusal` returns why an answer cannot be taken, or nothing."""
        super().__init__()
        self._question, self._answer, self._note = question, answer, note
        self._refusal = refusal

    def compose(self) -> ComposeResult:
        """Show the question, the line for the answer, and a note that the reason for a refusal replaces."""
        with Vertical(id="text-prompt"):
            yield TextLines(Text(self._question, "bold"), id="question")
            yield Input(self._answer, max_length=MAX_ANSWER, id="answer", select_on_focus=False)
            yield Paragraph(Text(self._note, QUIET), id="answer-note")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the answer, or show why it is refused."""
        answer = event.value.strip()
        refused = self._refusal(answer)
        if refused:
            note = self.query_one("#answer-note", Paragraph)
            note.update(Text(clean(refused), "bold #ff8a70"))
            note.refresh(layout=True)
        else:
            self.dismiss(answer)

    def action_close(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
