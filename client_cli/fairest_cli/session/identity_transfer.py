"""A player as a file, to take it to another machine: its token, the server's key, and what the player is bound to.

Everybody who has the file can play as this player.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fairest_cli.records.private_file import write_private
from fairest_cli.session.addresses import name_problem, server_problem
from fairest_cli.session.identity import Identity, open_identity
from fairest_protocol.value import Value

FORMAT: Final = 1
MAX_BYTES: Final = 64 * 1024
"""More than any file of a player has."""


class NotMoved(Exception):
    """The player was not exported or imported, and nothing has changed; the text says why."""


class MovedPlayer(Value):
    """A player that was imported: its server, and the name that chooses it on this machine, None without one."""

    server: str
    name: str | None


def export_player(server_url: str, name: str | None, target: Path, folder: Path | None = None) -> None:
    """Write the player of this name at a server to a new file that only its owner may read.

    Raises `NotMoved`, `IdentityInUse`, ValueError for a stored player that cannot be read, and OSError for the file.
    """
    if target.exists():
        raise NotMoved(f"{target} exists; choose another file")
    with open_identity(server_url, name, folder) as identity:
        stored = identity.as_stored()
    if stored["token"] is None:
        raise NotMoved(f"there is {_describe(name, 'no player')} at {server_url} on this machine")
    write_private(target, json.dumps({"fairest_player": FORMAT, "server": server_url, "name": name, "player": stored}))


def import_player(source: Path, *, replaces: bool = False, folder: Path | None = None) -> MovedPlayer:
    """Let the player of a file be a player of this machine; return it. `replaces` lets it take the place of another.

    Raises `NotMoved`, `IdentityInUse`, ValueError for a stored player that cannot be read, and OSError for the file.
    """
    moved, stored = _read(source)
    with open_identity(moved.server, moved.name, folder) as identity:
        if identity.token not in (None, stored["token"]) and not replaces:
            there = _describe(moved.name, "a player")
            raise NotMoved(f"there is {there} at {moved.server} on this machine already; --replace takes its place")
        known = identity.server_key
        if known is not None and not replaces and stored.get("server_key") != known.hex():
            # Otherwise nobody would be told that the server signs with another key than before.
            raise NotMoved(f"the file has another key of {moved.server} than this machine; --replace takes it")
        identity.become(stored)
        if identity.problem:
            raise NotMoved(identity.problem)
    return moved


def _read(source: Path) -> tuple[MovedPlayer, Mapping[str, Any]]:
    """Return the player that a file holds. Raises `NotMoved` for a file that `export_player` has not written."""
    with source.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    try:
        if len(content) > MAX_BYTES:
            raise ValueError("it is too long")
        found = json.loads(content)
        if not isinstance(found, dict) or found.get("fairest_player") != FORMAT:
            raise ValueError(f"it does not begin with format {FORMAT}")
        server, name, stored = found.get("server"), found.get("name"), found.get("player")
        if not isinstance(server, str) or not isinstance(name, str | None) or not isinstance(stored, dict):
            raise ValueError("it names no server, or no player")
        problem = server_problem(server) or (name_problem(name) if name is not None else "")
        if problem:
            raise ValueError(problem)
        # An identity without a file: what it refuses must not reach one that has a file.
        trial = Identity()
        trial.become(stored)
        tokens = [trial.token or "", *([trial.next_token] if trial.next_token is not None else [])]
        if not all(re.fullmatch("[A-Za-z0-9_-]{43}", token) for token in tokens):
            # A token that no server gives would end each program that sends it.
            raise ValueError("it has no token of a player")
    except (ValueError, RecursionError) as reason:
        raise NotMoved(f"{source} is not the file of a player: {reason}") from reason
    return MovedPlayer(server, name), stored


def _describe(name: str | None, noun: str) -> str:
    return f"{noun} {name}" if name else f"{noun} without a name"
