"""The form for a new race: shown before a room is created and before a race against a bot."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.bots.levels import Level
from fairest_cli.bots.offering import NEWCOMER, Offer
from fairest_cli.text.variant_reference import describe_counts
from fairest_cli.tui.board.card_style import QUIET
from fairest_cli.tui.widgets.choice_list import START_NOTE, Choice, ChoiceList
from fairest_cli.tui.widgets.text_lines import Paragraph, TextLines
from fairest_protocol.calculation.certified import PROCEDURE
from fairest_protocol.calculation.distance import PROCEDURE as CREDIT_PROCEDURE
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.options import RoomOptions, Spectators

BEST_OF: Final = ("1", "3", "5", "7", "9")
RIVAL: Final = {"no": None, "at once": 0, "after 20 seconds": 20, "after 1 minute": 60}
"""The times alone after which a program may take the seat, in seconds; the first is the default."""
GRACE: Final = {"1 minute": 60, "2 minutes": 120, "5 minutes": 300, "15 minutes": 900, "1 hour": 3600}
"""The grace periods to choose from, in seconds; the first is the default."""


class RoomForm(ModalScreen[ChoiceList]):
    """Dismissed with its list of choices, or with None. Enter on the first line starts with the defaults."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def __init__(self, *, is_against_bot: bool, offer: Offer = NEWCOMER) -> None:
        """`offer` has the level of a bot that is chosen at first, and of a rival that is wished for."""
        super().__init__()
        self._is_against_bot = is_against_bot
        self._offer = offer

    def compose(self) -> ComposeResult:
        """Show the choices, and below them a description of the chosen variant."""
        choices = [Choice("start", "Start the race" if self._is_against_bot else "Open the room", note=START_NOTE)]
        if self._is_against_bot:
            level = list(Level).index(self._offer.level)
            choices.append(Choice("level", "Bot", tuple(Level), level, note=f"offered: {self._described_offer}"))
        choices += [
            Choice("rules", "Variant", tuple(VARIANTS)),
            Choice("best_of", "Rounds, best of", BEST_OF),
        ]
        if not self._is_against_bot:
            choices += [
                Choice("listed", "In the lobby", ("no", "yes"), note="anybody can find and join it there"),
                Choice("rival", "Rival", tuple(RIVAL), note=f"a program, if nobody comes: {self._described_offer}"),
                Choice("spectators", "Spectators", tuple(Spectators), note="horizon: what both players turned"),
                Choice("credit", "Credit distance", ("yes", "no"), note="the time that distance to the server costs"),
                Choice("certified", "Certified deals", ("no", "yes"), note="only deals that are proved winnable"),
                Choice("grace", "Grace period", tuple(GRACE), note="a seat waits so long for a player who is away"),
            ]
        with Vertical(id="form"):
            yield ChoiceList(choices, id="room-choices")
            yield Paragraph(id="choice-note")
            yield TextLines(id="variant")

    @property
    def _described_offer(self) -> str:
        return f"{self._offer.level}, {self._offer.reason}"

    def on_mount(self) -> None:
        """Describe the variant that is chosen at first."""
        self._describe_variant()

    def on_choice_list_changed(self, _: ChoiceList.Changed) -> None:
        """Describe the variant, which may have changed."""
        self._describe_variant()

    def on_option_list_option_highlighted(self) -> None:
        """Show the note of the choice in full, which a narrow line has no room for."""
        self.query_one("#choice-note", Paragraph).update(Text(f" {self.query_one(ChoiceList).note}", QUIET))

    def on_choice_list_chosen(self, _: ChoiceList.Chosen) -> None:
        """Close with the choices: the only line without values is the first one, which starts the race."""
        self.dismiss(self.query_one(ChoiceList))

    def action_close(self) -> None:
        """Close without a race."""
        self.dismiss(None)

    def _describe_variant(self) -> None:
        variant = VARIANTS[self.query_one(ChoiceList).value("rules")]
        lines = [Text(f" {variant.title}", "bold"), Text(f" {describe_counts(variant.rules)}", QUIET)]
        lines.append(Text(f" {variant.rules.goal} cards to place", QUIET))
        self.query_one("#variant", TextLines).update(lines)


def options_from(choices: ChoiceList) -> RoomOptions:
    """Return the options of the room that `choices` describe."""
    named = choices.choices
    return RoomOptions.model_validate(
        {
            "rules": choices.value("rules"),
            "best_of": int(choices.value("best_of")),
            "listed": "listed" in named and (choices.value("listed") == "yes" or rival_seconds(choices) is not None),
            "certified": PROCEDURE if "certified" in named and choices.value("certified") == "yes" else None,
            "credit": CREDIT_PROCEDURE if "credit" in named and choices.value("credit") == "yes" else None,
            "spectators": choices.value("spectators") if "spectators" in named else Spectators.HORIZON,
            "grace_seconds": GRACE[choices.value("grace")] if "grace" in named else RoomOptions().grace_seconds,
        }
    )


def rival_seconds(choices: ChoiceList) -> int | None:
    """Return after how many seconds alone the player wants a rival; None for no rival. Such a room is listed."""
    return RIVAL[choices.value("rival")] if "rival" in choices.choices else None
