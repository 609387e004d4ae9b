"""Records of finished matches as files, in a folder where the player finds them."""

from pathlib import Path

from platformdirs import user_data_path

from fairest_protocol.calculation.record import BadRecord, Record
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
    """Write a record to its file in `folder`, by default the records folder, and return the path.

    Raises OSError and `BadRecord`.
    """
    record = read_record(message.lines)
    place = folder or records_folder()
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{record.room}-{record.match_id[:8]}.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in message.lines).encode())
    return path


def load_record(path: Path) -> Record:
    """Return the record in a file. Raises `BadRecord` with the line that is wrong, and OSError."""
    try:
        return read_record(path.read_text().splitlines())
    except UnicodeDecodeError as reason:
        raise BadRecord(f"the file is not text: {reason}") from reason
