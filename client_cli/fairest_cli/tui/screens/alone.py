"""The first screen of what a player races alone: the daily deal, and a tournament."""

from fairest_cli.tui.launch import InDaily, InTournament
from fairest_cli.tui.screens.base import FairestScreen
from fairest_cli.tui.screens.daily import DailyScreen
from fairest_cli.tui.screens.tournament import TournamentScreen


def screen_alone(start: InDaily | InTournament) -> FairestScreen:
    """Return the screen that a start stands for."""
    if isinstance(start, InDaily):
        return DailyScreen(start.rules, start.server, start.name)
    return TournamentScreen(start.entering, start.server, start.name)
