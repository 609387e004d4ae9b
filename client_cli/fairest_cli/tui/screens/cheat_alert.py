"""The server was caught: nothing else is shown until that was read."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.tui.widgets.text_lines import Paragraph


class AlarmScreen(ModalScreen[None]):
    """What the server did, and what to do now."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "close", "Understood")]

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__()
        self._sentences = sentences

    def compose(self) -> ComposeResult:
        """The sentences."""
        with Vertical(id="alarm"):
            text = "\n\n".join([*self._sentences, "Press Enter once you have read this."])
            yield Paragraph(Text(text, "bold"), id="alarm-text")

    def action_close(self) -> None:
        """Read."""
        self.dismiss()
