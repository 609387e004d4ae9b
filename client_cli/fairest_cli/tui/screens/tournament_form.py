"""The form for a new tournament."""

import secrets
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from fairest_cli.bots.levels import Level
from fairest_cli.text.tournament import FORMATS
from fairest_cli.tui.widgets.choice_list import START_NOTE, Choice, ChoiceList
from fairest_protocol.calculation.rules import VARIANTS
from fairest_protocol.messages.tournaments import CreateTournament, TournamentFormat

ROUNDS: Final = {"as many as needed": None, "3": 3, "5": 5, "7": 7, "9": 9}
PLAYERS: Final = ("4", "8", "16", "32", "64", "128")
NO_RIVALS: Final = "no"
LIMITS: Final = {"5 minutes": 300, "10 minutes": 600, "20 minutes": 1200}
"""The times for a race to choose from, in seconds."""


class TournamentForm(ModalScreen[CreateTournament | None]):
    """Dismissed with the request to the server, or with None. Enter on the first line sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Back")]

    def compose(self) -> ComposeResult:
        """Show the choices."""
        with Vertical(id="form"):
            yield ChoiceList(
                [
                    Choice("start", "Create it", note=START_NOTE),
                    Choice("rules", "Variant", tuple(VARIANTS)),
                    Choice("format", "Format", tuple(FORMATS.values()), note="how players are paired"),
                    Choice("rounds", "Rounds", tuple(ROUNDS), note="of a Swiss tournament"),
                    Choice("players", "Most players", PLAYERS, PLAYERS.index("16")),
                    Choice("rivals", "Rivals", (NO_RIVALS, *Level), note="programs fill it up at the start"),
                    Choice("limit", "Time for a race", tuple(LIMITS), len(LIMITS) - 1),
                ],
                id="tournament-choices",
            )

    def on_choice_list_chosen(self, _: ChoiceList.Chosen) -> None:
        """Close with the request: the only line without values is the first one."""
        choices = self.query_one(ChoiceList)
        kind = next(name for name, words in FORMATS.items() if words == choices.value("format"))
        rivals = choices.value("rivals")
        self.dismiss(
            CreateTournament(
                rules=choices.value("rules"),
                format=TournamentFormat(kind),
                rounds=ROUNDS[choices.value("rounds")] if kind == TournamentFormat.SWISS else None,
                most_players=int(choices.value("players")),
                rival_level=None if rivals == NO_RIVALS else rivals,
                limit_seconds=LIMITS[choices.value("limit")],
                key=secrets.token_hex(16),
            )
        )

    def action_close(self) -> None:
        """Close without a tournament."""
        self.dismiss(None)
