"""The players of this machine: a file that only its owner may read holds a token for each.

Two terminals of one person are two players: a profile is locked while a client uses it, and the next client takes the
next profile. The lock ends with the client's process, so a client that was killed comes back as the same player.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout
from msgspec.structs import asdict
from platformdirs import user_data_path

from fairest_cli.model.seal_check import EntropyCommitment
from fairest_cli.records.heads import head_problem, is_head_signed, keep_head, load_heads
from fairest_cli.records.private_file import write_private
from fairest_protocol.messages.from_server import Welcome

MAX_PROFILES: Final = 64


class IdentityInUse(Exception):
    """Another client on this machine plays as this player right now."""


class Identity:
    """A player at one server: the token, the server's key, and the entropy commitment of the round under way.

    `next_token` is the token that the player is about to take, or has taken: the server's answer is missing.

    The commitment has to outlive a client that is killed, since the server holds us to it. Without a path nothing is
    stored, and the player is gone with the client.
    """

    def __init__(self, path: Path | None = None, heads: Path | None = None) -> None:
        """`heads` is the folder with the heads of chains of rounds that this machine's players were shown.

        Raises OSError, and ValueError for a file that does not hold a player.
        """
        self._path = path
        self._heads = heads
        self.token: str | None = None
        self.next_token: str | None = None
        self.server_key: bytes | None = None
        self.entropy_commitment: EntropyCommitment | None = None
        self.problem = ""
        """Why the player could not be stored, and what follows from that; empty if it was."""
        if path is not None and path.exists():
            self._load(json.loads(path.read_text()))

    def keep_token(self, token: str) -> None:
        """Store the token of a new player, or the one that the player has taken."""
        self.token, self.next_token = token, None
        self._store()

    def keep_next_token(self, token: str) -> None:
        """Store the token that the player is about to take. Call it before the server is asked."""
        self.next_token = token
        self._store()

    def drop_token(self) -> None:
        """Forget a token that the server does not know. If the player was about to take another one, it has that."""
        self.token, self.next_token = self.next_token, None
        self._store()

    def as_stored(self) -> dict[str, Any]:
        """Return the player as its file has it."""
        known = self.entropy_commitment
        # The file's key "bond" is older than the name of the class; players' files have it.
        return {
            "token": self.token,
            "next_token": self.next_token,
            "server_key": self.server_key.hex() if self.server_key else None,
            "bond": {name: _text(value) for name, value in asdict(known).items()} if known else None,
        }

    def become(self, stored: Mapping[str, Any]) -> None:
        """Become the player that a file has, and store it. Raises ValueError for what is not a player."""
        self._load(stored)
        self._store()

    def compare(self, welcome: Welcome) -> str:
        """Store the key and the head of the chain of rounds that the server shows.

        Returns a warning if they contradict what it has shown before, else nothing.
        """
        return " ".join(filter(None, (self._compare_key(welcome.key), self._compare_head(welcome))))

    def _compare_head(self, welcome: Welcome) -> str:
        if self._heads is None or welcome.rounds is None:
            return ""
        try:
            known = load_heads(self._heads, welcome.key)
            problem = head_problem(welcome.rounds, welcome.key, welcome.now_ms, known)
            if is_head_signed(welcome.rounds, welcome.key):
                keep_head(self._heads, welcome.key, welcome.rounds)
        except (OSError, ValueError) as reason:
            why = reason.strerror if isinstance(reason, OSError) else reason
            return f"The heads of the server's chain of rounds could not be compared: {why}"
        return problem

    def _compare_key(self, key: bytes) -> str:
        known = self.server_key
        if key == known:
            return ""
        self.server_key = key
        self._store()
        if known is None:
            return ""
        return f"Beware: this server signs with another key than when you were here last ({key.hex()[:16]})."

    def keep_entropy_commitment(self, entropy_commitment: EntropyCommitment) -> None:
        """Store what we commit to. Call it before our hash is sent, and again before our entropy is sent."""
        self.entropy_commitment = entropy_commitment
        self._store()

    def _load(self, stored: Mapping[str, Any]) -> None:
        try:
            token, next_token, key = stored.get("token"), stored.get("next_token"), stored.get("server_key")
            server_key = bytes.fromhex(key) if key else None
            entropy_commitment = _read_commitment(stored.get("bond"))
        except (TypeError, AttributeError) as reason:
            raise ValueError(f"it does not hold a player ({reason})") from reason
        if not isinstance(token, str | None) or not isinstance(next_token, str | None):
            raise ValueError("its token is not a text")
        self.token, self.next_token = token, next_token
        self.server_key, self.entropy_commitment = server_key, entropy_commitment

    def _store(self) -> None:
        if self._path is None:
            return
        try:
            write_private(self._path, json.dumps(self.as_stored()))
            self.problem = ""
        except OSError as reason:
            self.problem = _describe_unstored(reason)


@contextmanager
def open_identity(server_url: str, name: str | None, folder: Path | None = None) -> Iterator[Identity]:
    """Lock and yield the player of this name at this server; without a name, the first profile that is not in use.

    In a folder that cannot be written to, yield a new player that is not stored. Raises `IdentityInUse` for a name that
    another client on this machine plays under.
    """
    address = urlsplit(server_url)
    server = re.sub(r"[^A-Za-z0-9.-]", "_", f"{address.hostname}_{address.port or address.scheme}")
    base = folder or user_data_path("fairest")
    players = base / "players" / server
    try:
        players.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as reason:
        yield _unstored(reason)
        return
    candidates = [f"name-{name.lower()}"] if name else [f"player-{number}" for number in range(1, MAX_PROFILES + 1)]
    for candidate in candidates:
        # The system releases the lock of a process that dies, and children do not inherit it.
        lock = FileLock(players / f"{candidate}.lock", timeout=0, thread_local=False)
        try:
            held = lock.acquire()
        except Timeout:
            continue
        except OSError as reason:
            yield _unstored(reason)
            return
        with held:
            yield Identity(players / f"{candidate}.json", base / "heads")
        return
    choose = "; choose another name with --name" if name else ""
    raise IdentityInUse(f"{name or 'every profile'} is in use by another fairest on this machine{choose}")


def _unstored(reason: OSError) -> Identity:
    identity = Identity()
    identity.problem = _describe_unstored(reason)
    return identity


def _describe_unstored(reason: OSError) -> str:
    return (
        f"Your player could not be saved on this machine ({reason.strerror}): "
        "if this program ends, you cannot come back to your seat."
    )


def _text(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _read_commitment(stored: dict[str, Any] | None) -> EntropyCommitment | None:
    if stored is None:
        return None
    read: dict[str, Any] = {
        name: bytes.fromhex(value) if isinstance(value, str) else value for name, value in stored.items()
    }
    return EntropyCommitment(**read)
