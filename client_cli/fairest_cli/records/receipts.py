"""The player's own receipt: the messages sent and received about the deals and races of a room, one on each line.

It also has the times at which the connection broke and at which the client ended. All times are those of the client.

Each line is written as it happens, so a crash or a cheat loses none. `fairest verify --receipt` compares a record with
the receipt.

A server may send without end, so receipts have bounds. No line of a match is ever left out for that: a match that is
longer than any honest one is an alarm.
"""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path
from typing import BinaryIO, Final

from platformdirs import user_data_path

from fairest_cli.model.cheated import Cheated
from fairest_cli.model.known_room import KnownRoom
from fairest_cli.model.round_end import WayOut
from fairest_cli.records.earlier_run import EarlierRun, read_earlier_run
from fairest_cli.records.files import write_new
from fairest_cli.records.receipt_replay import BadReceipt
from fairest_protocol.messages import entries
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.from_client import Leave, Play, Ready, Reveal
from fairest_protocol.messages.from_server import Left, Snapshot, View
from fairest_protocol.messages.scene import Scene, SeatScene
from fairest_protocol.value import Value

MEBIBYTE: Final = 2**20
KEY_DIGITS: Final = 32
"""The digits of the server's key in the name of a file: 128 bits, for which nobody finds a second key."""
MAX_LINE_BYTES: Final = 4 * MEBIBYTE
"""The longest line: a frame of the server, in which each character may be escaped."""

NOT_OF_A_ROUND: Final = (
    entries.Seated,
    entries.SeatFreed,
    entries.Attached,
    entries.Detached,
    entries.Paused,
    entries.RematchWanted,
)
"""The entries that may come between two matches."""


class ReceiptBounds(Value):
    """The most bytes of receipts.

    With a match that begins when the file has `next_file` bytes, another file begins. `match` is the most for one file:
    nine rounds of the longest variant took 1.2 MB, and an opponent who reconnects twice a second for nine hours adds
    17 MB. `room` is the most for all files of one seat in one room.
    """

    next_file: int = MEBIBYTE
    match: int = 32 * MEBIBYTE
    room: int = 128 * MEBIBYTE


BOUNDS: Final = ReceiptBounds()


def receipts_folder() -> Path:
    """Return the folder with the receipts of this machine's players."""
    return user_data_path("fairest") / "receipts"


def read_receipt(path: Path) -> Iterator[str]:
    """Yield the lines of a receipt, one at a time. Raises OSError, and `BadReceipt` for what no client writes."""
    total = 0
    with path.open("rb") as file:
        for number in count(1):
            line = file.readline(MAX_LINE_BYTES + 1)
            total += len(line)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES:
                raise BadReceipt(f"line {number} is longer than a line of a receipt can be")
            if total > BOUNDS.match + MAX_LINE_BYTES:
                raise BadReceipt(f"line {number} is behind the most that a receipt can have")
            try:
                yield line.decode().rstrip("\r\n")
            except UnicodeDecodeError as reason:
                raise BadReceipt(f"line {number} is not text") from reason


class Receipt:
    """A receipt that is being written. It begins with the first snapshot that shows us a seat of our own.

    `path` is the present file, None before that. `problem` says why the receipt is not in that file; the race goes on.
    Lines that could not be written are kept, and written as soon as there is room again, or elsewhere by `save_copy`.
    `earlier` is the run of the client that wrote to the same file before, None if there was none.
    """

    def __init__(self, folder: Path, bounds: ReceiptBounds = BOUNDS) -> None:
        self.path: Path | None = None
        self.problem = ""
        self.earlier: EarlierRun | None = None
        self._folder = folder
        self._bounds = bounds
        self._stem: str
        """The name of the first file without its ending. It is set with the first snapshot, as the number is."""
        self._number: int
        self._size = 0
        """The bytes of all lines, written or not."""
        self._written = 0
        """The bytes of the lines in the file."""
        self._waiting: list[bytes] = []
        self._has_ended = False
        self._file: BinaryIO | None = None

    def add_heard(self, message: Snapshot | View | Left, model: KnownRoom, at_ms: int) -> None:
        """Add a message of the server, received at `at_ms` of our clock; `model` is our knowledge before it.

        A spectator's messages are not kept. Raises `Cheated` when the server has sent more than a match can have.
        """
        if self.path is None and isinstance(message, Snapshot) and message.seat is not None:
            key = model.seal_check.key
            self._stem = f"{message.room}-seat{message.seat + 1}-{key.hex()[:KEY_DIGITS] if key else 'unsigned'}"
            self._number = max(1, sum(1 for _ in self._files()))
            # A file that cannot be read is no reason to keep the player from the seat.
            with suppress(OSError, BadReceipt):
                self.earlier = read_earlier_run(read_receipt(self._numbered(self._number)), message.seat)
            self._begin(model)
        elif isinstance(message, View) and self._size >= self._bounds.next_file and _begins_match(message, model):
            self._begin_next(model, at_ms)
        if self._size > self._bounds.match:
            raise Cheated(
                f"The server has sent more about one match than a receipt holds, {self._bounds.match // MEBIBYTE} MiB; "
                "an honest server sends far less."
            )
        self._write({"at_ms": at_ms, "heard": json.loads(encode(message))})

    def add_said(self, message: Ready | Reveal | Play | Leave, at_ms: int) -> None:
        """Add a message of ours, sent at `at_ms` of our clock."""
        self._write({"at_ms": at_ms, "said": json.loads(encode(message))})

    def add_drop(self, alive_ms: int, at_ms: int) -> None:
        """Add that our socket has ended; `alive_ms` is the time at which it was last known to be up."""
        self._write({"at_ms": at_ms, "dropped": {"alive_ms": alive_ms}})

    def add_pong(self, at_ms: int, arrived: bytes | None = None) -> None:
        """Add that a ping was answered: a silent socket is up again, or the bytes for the round `arrived` are there."""
        self._write({"at_ms": at_ms, **({"arrived": {"round": arrived.hex()}} if arrived else {"returned": {}})})

    def add_end(self, way_out: WayOut, detail: str, at_ms: int) -> None:
        """Add that this client ended, and why; `detail` has the server's words."""
        self._write({"at_ms": at_ms, "ended": {"way_out": way_out, "detail": detail}})

    def close(self) -> None:
        """Close the file. A message that is added later opens it again."""
        if self._file is not None:
            file, self._file = self._file, None
            # Nothing is buffered, so the lines are where they are; only a network drive may complain.
            with suppress(OSError):
                file.close()

    def save_copy(self, folder: Path) -> Path | None:
        """Write the present file, with the lines that it lacks, to `folder`; return its path there, None without one.

        Raises OSError; a copy that is not whole is removed.
        """
        if self.path is None:
            return None
        written = b""
        if self._written:
            with self.path.open("rb") as file:
                written = file.read(self._written)
        return write_new(folder, self.path.stem, written + b"".join(self._waiting))

    def _files(self) -> Iterator[Path]:
        """Yield the files of this seat that are there already, in order."""
        return takewhile(Path.exists, map(self._numbered, count(1)))

    def _numbered(self, number: int) -> Path:
        return self._folder / f"{self._stem}{'' if number == 1 else f'-{number}'}.jsonl"

    def _begin(self, model: KnownRoom) -> None:
        key = model.seal_check.key
        self.path = self._numbered(self._number)
        self._write({"type": "receipt", "server": model.server_url, "key": key.hex() if key else None})

    def _begin_next(self, model: KnownRoom, at_ms: int) -> None:
        """Begin another file with what we know between two matches, unless the receipts of the room are too many.

        Lines that wait to be written belong to the present file, which then goes on.
        """
        if self._waiting:
            return
        if sum(path.stat().st_size for path in self._files()) > self._bounds.room:
            self.problem = (
                f"The receipts {self._stem}* take more than {self._bounds.room // MEBIBYTE} MiB, so no more are "
                "written; move them elsewhere"
            )
            self._has_ended = True
            return
        self.close()
        self._number += 1
        self._size = self._written = 0
        self._begin(model)
        if model.scene is not None and model.room is not None:
            known = Snapshot(
                room=model.room,
                seat=as_seat(model.seat) if model.seat is not None else None,
                position=model.position,
                tag=model.tag or "00000000",
                now_ms=at_ms,
                scene=_between_matches(model.scene),
            )
            self._write({"at_ms": at_ms, "known": json.loads(encode(known))})

    def _write(self, line: object) -> None:
        if self._has_ended or self.path is None:
            return
        try:
            self._open(self.path)
        except OSError as reason:
            self.problem = f"The receipt {self.path} could not be written: {reason.strerror}."
        text = (json.dumps(line, separators=(",", ":")) + "\n").encode()
        self._size += len(text)
        self._waiting.append(text)
        self._write_waiting()

    def _open(self, path: Path) -> None:
        """Open the file, to which an earlier run of the client may have written. Raises OSError."""
        if self._file is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "ab", buffering=0)
            present = os.fstat(descriptor).st_size
            self._size += present - self._written
            self._written = present

    def _write_waiting(self) -> None:
        """Write the lines that wait, the oldest first, each in full or not at all."""
        try:
            while self._file is not None and self._waiting:
                line = self._waiting[0]
                if self._file.write(line) != len(line):
                    self._file.truncate(self._written)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._written += len(self._waiting.pop(0))
                self.problem = ""
        except OSError as reason:
            self.problem = f"The receipt {self.path} could not be written: {reason.strerror}."


def _begins_match(view: View, model: KnownRoom) -> bool:
    """Return whether a view that follows without a gap opens the first round of a match before anything of a round."""
    if view.first != model.position + 1:
        return False
    first = next((entry for entry in view.entries if not isinstance(entry, NOT_OF_A_ROUND)), None)
    return isinstance(first, entries.RoundOpened) and first.round_number == 1


def _between_matches(scene: Scene) -> Scene:
    """Return the scene of a room without its last round, as that of a room in which nothing was dealt yet."""
    first, second = (
        SeatScene(name=seat.name, is_connected=seat.is_connected, until_ms=seat.until_ms) for seat in scene.seats
    )
    return Scene(options=scene.options, phase=Phase.WAITING, seats=(first, second))
