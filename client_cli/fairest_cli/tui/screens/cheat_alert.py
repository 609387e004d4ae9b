"""The alert that the server cheated, which covers everything until the player has read it."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.tui.widgets.text_lines import Paragraph


class CheatAlert(ModalScreen[None]):
    """Says what the server did and what the player should do now."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "close", "Close")]

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__()
        self._sentences = sentences

    def compose(self) -> ComposeResult:
        """Show the sentences and how to close the alert."""
        with Vertical(id="cheat-alert"):
            text = "\n\n".join([*self._sentences, "Press Enter once you have read this."])
            yield Paragraph(Text(text, "bold"), id="cheat-alert-text")

    def action_close(self) -> None:
        """Close the alert; the program then goes to the home screen."""
        self.dismiss()
