"""Records of finished matches as files, in a folder where the player finds them."""

import errno
import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from platformdirs import user_data_path

from fairest_protocol.calculation.record import MAX_BYTES, MAX_LINES, BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.from_server import MatchRecord


def records_folder() -> Path:
    """Return the folder with the records of this machine's players."""
    return user_data_path("fairest") / "records"


def short_path(path: Path) -> str:
    """Return a path as text, with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def save_record(message: MatchRecord, folder: Path | None = None) -> Path:
    """Write a record to a file in `folder`, by default the records folder, and return the path.

    No file is replaced: the server chooses room and match, so a record of another server may have the same name. Then
    this one gets the next free number behind its name. Raises OSError and `BadRecord`.
    """
    record = read_record(message.lines)
    content = "".join(f"{line}\n" for line in message.lines).encode()
    return write_new(folder or records_folder(), f"{record.room}-{record.match_id[:8]}", content)


def write_new(folder: Path, stem: str, content: bytes) -> Path:
    """Write `content` to a file of its own in `folder`, with `stem` or a number behind it as its name; return the path.

    A file that has the same content already is taken for it. Raises OSError, and leaves no part of a file behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        path = folder / f"{stem}{'' if number == 1 else f'-{number}'}.jsonl"
        if _write_new(path, content) or path.read_bytes() == content:
            return path
    raise AssertionError("there is always a next number")


def load_record(path: Path) -> Record:
    """Return the record in a file. Raises `BadRecord` with the line that is wrong, and OSError."""
    return read_record(split_lines(read_bounded(path)))


def read_bounded(path: Path) -> str:
    """Return the text of a file that may hold a record, without reading more than a record can have.

    Raises `BadRecord` for a longer file and for one that is not text, and OSError.
    """
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise BadRecord(f"the file is larger than a record can be, {MAX_BYTES // 2**20} MiB")
    try:
        return content.decode()
    except UnicodeDecodeError as reason:
        raise BadRecord(f"the file is not text: {reason}") from reason


def split_lines(text: str) -> Sequence[str]:
    """Return the lines of a record's file. Raises `BadRecord` for too many, and if the last one has no line feed."""
    if text.count("\n") > MAX_LINES:
        raise BadRecord(f"there are more than {MAX_LINES} lines, and a record has fewer")
    lines = text.split("\n")
    if lines.pop() != "":
        raise BadRecord("the file does not end where a record ends: its last line has no line feed")
    return lines


def _write_new(path: Path, content: bytes) -> bool:
    """Write a file that is not there yet; return whether it was not there.

    Raises OSError; a part of a file, as a full disk leaves it, is removed.
    """
    try:
        file = path.open("xb", buffering=0)
    except FileExistsError:
        return False
    try:
        with file:
            if file.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return True
