"""Who we are to a server: a token in a file that only its owner may read, one for each player on this machine.

Two terminals of one person are two players: a profile is locked while a client uses it, and the next client takes the
next profile. A client that was killed frees its lock, so starting it again brings the same player back.
"""

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from msgspec.structs import asdict
from platformdirs import user_data_path

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.session.private_file import write_private

MAX_PROFILES: Final = 64


class IdentityInUse(Exception):
    """Another client on this machine plays as this player right now."""


class Identity:
    """A player's token, the server's key, and the bond of the round under way, which must outlive a killed client.

    Without a path nothing is stored: the player is gone with the client.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.token: str | None = None
        self.server_key: bytes | None = None
        self.entropy_commitment: EntropyCommitment | None = None
        if path is not None and path.exists():
            stored = json.loads(path.read_text())
            self.token = stored.get("token")
            self.server_key = bytes.fromhex(stored["server_key"]) if stored.get("server_key") else None
            self.entropy_commitment = _read_bond(stored.get("bond"))

    def keep_token(self, token: str | None) -> None:
        """Remember the token of a new player, or forget one that the server does not know."""
        self.token = token
        self._store()

    def keep_server_key(self, key: bytes) -> None:
        """Remember the key that the server shows, to notice if it is another one next time."""
        if key != self.server_key:
            self.server_key = key
            self._store()

    def keep_entropy_commitment(self, bond: EntropyCommitment) -> None:
        """Remember what we are bound to, before anybody sees our hash, and before anybody sees our entropy."""
        self.entropy_commitment = bond
        self._store()

    def _store(self) -> None:
        if self._path is None:
            return
        server_key = self.server_key.hex() if self.server_key else None
        bond = (
            {name: _text(value) for name, value in asdict(self.entropy_commitment).items()}
            if self.entropy_commitment
            else None
        )
        write_private(self._path, json.dumps({"token": self.token, "server_key": server_key, "bond": bond}))


@contextmanager
def open_identity(server_url: str, name: str | None, folder: Path | None = None) -> Iterator[Identity]:
    """The player of this name at this server; without a name, the first profile that no other client uses.

    Raises `IdentityInUse` for a name that another client on this machine plays under.
    """
    address = urlsplit(server_url)
    server = re.sub(r"[^A-Za-z0-9.-]", "_", f"{address.hostname}_{address.port or address.scheme}")
    place = (folder or user_data_path("fairest")) / "players" / server
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    candidates = [f"name-{name.lower()}"] if name else [f"player-{number}" for number in range(1, MAX_PROFILES + 1)]
    for candidate in candidates:
        lock = _lock(place / f"{candidate}.lock")
        if lock is not None:
            with lock:
                yield Identity(place / f"{candidate}.json")
            return
    raise IdentityInUse(f"{name or 'every profile'} is in use by another fairest on this machine")


def _text(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _read_bond(stored: dict[str, Any] | None) -> EntropyCommitment | None:
    if stored is None:
        return None
    read: dict[str, Any] = {
        name: bytes.fromhex(value) if isinstance(value, str) else value for name, value in stored.items()
    }
    return EntropyCommitment(**read)


def _lock(path: Path) -> IO[str] | None:
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
