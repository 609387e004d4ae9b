"""Records of finished matches as files: saved where the user finds them, and read back."""

from pathlib import Path

from platformdirs import user_data_path

from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.from_server import MatchRecord


def records_folder() -> Path:
    """Where records are kept."""
    return user_data_path("fairest") / "records"


def short_path(path: Path) -> str:
    """A path as people write it who are at home there."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def save_record(message: MatchRecord, folder: Path | None = None) -> Path:
    """Write a record to its file in the records folder and return the path. Raises OSError, and `BadRecord`."""
    record = read_record(message.lines)
    place = folder or records_folder()
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{record.room}-{record.match_id[:8]}.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in message.lines).encode())
    return path


def load_record(path: Path) -> Record:
    """The record in a file. Raises `BadRecord` with the line that is wrong, and OSError."""
    try:
        return read_record(path.read_text().splitlines())
    except UnicodeDecodeError as reason:
        raise BadRecord(f"the file is no text: {reason}") from reason
