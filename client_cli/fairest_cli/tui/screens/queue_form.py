"""The form before the wait for an opponent: the variant, and when a program may step in."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.bots.offering import RIVAL_AFTER_SECONDS
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.from_client import Queue

RIVAL_AFTER: Final = {"never": None, "20 seconds": 20, "1 minute": 60, "5 minutes": 300}
"""The times to choose from, in seconds, after which a program may become the opponent."""
DEFAULT: Final = list(RIVAL_AFTER.values()).index(RIVAL_AFTER_SECONDS)


class QueueForm(ModalScreen[Queue | None]):
    """Dismissed with the request to the server, or with None. Enter on the first line sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def compose(self) -> ComposeResult:
        """Show the choices."""
        with Vertical(id="form"):
            yield ChoiceList(
                [
                    Choice("start", "Find an opponent", note="anybody who waits as well"),
                    Choice("rules", "Variant", tuple(VARIANTS)),
                    Choice("rival", "A program after", tuple(RIVAL_AFTER), DEFAULT, note="if nobody has come by then"),
                ],
                id="queue-choices",
            )

    def on_choice_list_chosen(self, _: ChoiceList.Chosen) -> None:
        """Close with the request: the only line without values is the first one."""
        choices = self.query_one(ChoiceList)
        rival = RIVAL_AFTER[choices.value("rival")]
        self.dismiss(Queue(rules=choices.value("rules"), rival_after_seconds=rival))

    def action_close(self) -> None:
        """Close without a request."""
        self.dismiss(None)
