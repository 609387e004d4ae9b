"""Players that move to another folder in a test, where their server is not asked."""

from pathlib import Path
from typing import Final

from fairest_cli.session.identity_transfer import MovedPlayer, import_player
from fairest_cli.session.recognition import Recognised

NOT_ASKED: Final = Recognised(None, "No server answers.")


def import_unasked(file: Path, folder: Path, *, replaces: bool = False) -> MovedPlayer:
    """Import the player of a file as if its server could not be reached."""
    return import_player(file, lambda _server, _player: NOT_ASKED, replaces=replaces, folder=folder)
