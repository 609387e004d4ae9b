"""A player as a file, to take it to another machine: its token, the server's key, and what the player is bound to.

Everybody who has the file can play as this player.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fairest_cli.records.private_file import write_private
from fairest_cli.session.addresses import name_problem, server_problem
from fairest_cli.session.identity import Identity, open_identity
from fairest_cli.session.recognition import Recognised, UnknownPlayer
from fairest_protocol.value import Value

FORMAT: Final = 1
MAX_BYTES: Final = 64 * 1024
"""More than any file of a player has."""


class NotMoved(Exception):
    """The player was not exported or imported, and nothing has changed; the text says why."""


class MovedPlayer(Value):
    """A player that was imported: its server, and the name that chooses it on this machine, None without one.

    `recognised` is the server's answer to the question which player it is.
    """

    server: str
    name: str | None
    recognised: Recognised


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


def import_player(
    source: Path, ask: Callable[[str, Identity], Recognised], *, replaces: bool = False, folder: Path | None = None
) -> MovedPlayer:
    """Let the player of a file be a player of this machine; return it. `replaces` lets it take the place of another.

    `ask` asks a server which player it is, as `recognise` does, before anything is stored: a token that was renewed
    elsewhere replaces none.

    Raises `NotMoved`, `IdentityInUse`, ValueError for a stored player that cannot be read, and OSError for the file.
    """
    server, name, moved = _read(source)
    with open_identity(server, name, folder) as identity:
        if identity.token not in (None, moved.token) and not replaces:
            there = _describe(name, "a player")
            raise NotMoved(f"there is {there} at {server} on this machine already; --replace takes its place")
        known = identity.server_key
        if known is not None and not replaces and moved.server_key != known:
            # Otherwise nobody would be told that the server signs with another key than before.
            raise NotMoved(f"the file has another key of {server} than this machine; --replace takes it")
        try:
            recognised = ask(server, moved)
        except UnknownPlayer:
            raise NotMoved(
                f"{server} knows no player with the token of this file: it was renewed since, or the file is damaged"
            ) from None
        identity.become(moved.as_stored())
        if identity.problem:
            raise NotMoved(identity.problem)
    return MovedPlayer(server, name, recognised)


def _read(source: Path) -> tuple[str, str | None, Identity]:
    """Return the server, the name and the player of a file. Raises `NotMoved` for one that was not exported."""
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
    return server, name, trial


def _describe(name: str | None, noun: str) -> str:
    return f"{noun} {name}" if name else f"{noun} without a name"
