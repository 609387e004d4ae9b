"""What kind of race it is to be: shown before a room is created, or a bot asked to play."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.bots.policies import POLICIES
from fairest_cli.text.rule_cards import describe_counts
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.widgets.choice_list import Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import TextLines
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.options import RoomOptions, Spectators

HOUSE: Final = "house"
ROOM: Final = "room"
BEST_OF: Final = ("1", "3", "5", "7", "9")


class RoomForm(ModalScreen[ChoiceList]):
    """Dismissed with the choices, or with nothing. Enter on the first line starts with what suits most."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def compose(self) -> ComposeResult:
        """The list, and what the chosen variant is."""
        choices = [Choice("start", "Start the race" if self._kind == HOUSE else "Open the room")]
        if self._kind == HOUSE:
            choices.append(Choice("level", "Bot", tuple(POLICIES), 0, note="how well it plays"))
        choices += [
            Choice("rules", "Variant", tuple(VARIANTS)),
            Choice("best_of", "Rounds, best of", BEST_OF),
        ]
        if self._kind == ROOM:
            choices += [
                Choice("listed", "In the lobby", ("no", "yes"), note="for anybody to join"),
                Choice("spectators", "Spectators", tuple(Spectators), note="see what both have passed; all; nothing"),
            ]
        with Vertical(id="form"):
            yield ChoiceList(choices, id=self._kind)
            yield TextLines(id="variant")

    def on_mount(self) -> None:
        """Say what the variant is."""
        self._describe()

    def on_choice_list_changed(self, _: ChoiceList.Changed) -> None:
        """Another variant, perhaps."""
        self._describe()

    def on_choice_list_done(self, _: ChoiceList.Done) -> None:
        """Start."""
        self.dismiss(self.query_one(ChoiceList))

    def action_close(self) -> None:
        """Never mind."""
        self.dismiss(None)

    def _describe(self) -> None:
        variant = VARIANTS[self.query_one(ChoiceList).value("rules")]
        lines = [Text(f" {variant.title}", "bold"), Text(f" {describe_counts(variant.rules)}", QUIET)]
        lines.append(Text(f" {variant.rules.goal} cards to place", QUIET))
        self.query_one("#variant", TextLines).show(lines)


def options_from(choices: ChoiceList) -> RoomOptions:
    """The room that was chosen."""
    named = choices.choices
    return RoomOptions.model_validate(
        {
            "rules": choices.value("rules"),
            "best_of": int(choices.value("best_of")),
            "listed": "listed" in named and choices.value("listed") == "yes",
            "spectators": choices.value("spectators") if "spectators" in named else Spectators.HORIZON,
        }
    )
