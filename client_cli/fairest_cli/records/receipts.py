"""The player's own receipt: the messages sent and received about the deals and races of a room, one on each line.

Each line is written as it happens, so a crash or a cheat loses none. `fairest verify --receipt` compares a record with
the receipt.
"""

import json
import os
from pathlib import Path
from typing import IO

from platformdirs import user_data_path

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.from_client import Play, Ready, Reveal
from fairest_protocol.messages.from_server import Snapshot, View


def receipts_folder() -> Path:
    """Return the folder with the receipts of this machine's players."""
    return user_data_path("fairest") / "receipts"


class Receipt:
    """A receipt that is being written. It begins with the first snapshot that shows us a seat of our own.

    `path` is None before that. `problem` says why the receipt could not be written; the race goes on without it.
    """

    def __init__(self, folder: Path) -> None:
        self.path: Path | None = None
        self.problem = ""
        self._folder = folder
        self._file: IO[str] | None = None

    def add_heard(self, message: Snapshot | View, server_url: str, key: bytes | None, at_ms: int) -> None:
        """Add a message of the server, received at `at_ms` of our clock. A spectator's messages are not kept."""
        if self.path is None and isinstance(message, Snapshot) and message.seat is not None:
            server = key.hex()[:8] if key else "unsigned"
            self.path = self._folder / f"{message.room}-seat{message.seat + 1}-{server}.jsonl"
            self._write({"type": "receipt", "server": server_url, "key": key.hex() if key else None})
        if self.path is not None:
            self._write({"at_ms": at_ms, "heard": json.loads(encode(message))})

    def add_said(self, message: Ready | Reveal | Play, at_ms: int) -> None:
        """Add a message of ours, sent at `at_ms` of our clock."""
        if self.path is not None:
            self._write({"at_ms": at_ms, "said": json.loads(encode(message))})

    def close(self) -> None:
        """Close the file. A message that is added later opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: object) -> None:
        if self.problem or self.path is None:
            return
        try:
            if self._file is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                self._file = os.fdopen(descriptor, "a", encoding="utf-8")
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._file.flush()
        except OSError as reason:
            self.problem = f"The receipt {self.path} could not be written: {reason.strerror}"
