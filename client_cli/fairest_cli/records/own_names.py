"""The names of this machine's players, by which their seats in a record are known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

GUEST: Final = "you"
"""The name of the player in a race against the house bot."""
PREFIX: Final = "name-"
"""The beginning of the name of a file that holds a player with a name (`session/identity.py`)."""


def own_names(chosen: str = "", folder: Path | None = None) -> list[str]:
    """Return the names of this machine's players, the likeliest first: `chosen`, the guest's, then all that were used.

    `folder` is the folder of this machine's data. A folder that cannot be read holds no names.
    """
    players = (folder or user_data_path("fairest")) / "players"
    return [name for name in dict.fromkeys([chosen, GUEST, *_stored(players)]) if name]


def _stored(players: Path) -> Iterator[str]:
    try:
        yield from sorted(path.stem.removeprefix(PREFIX) for path in players.glob(f"*/{PREFIX}*.json"))
    except OSError:
        return
