"""The files of a match when the folder for them cannot be written to: each problem said once, and a way to save them.

Files are never worth a race: what cannot be saved is said, and playing goes on.
"""

from pathlib import Path

from fairest_cli.records.files import save_record
from fairest_cli.records.receipts import Receipt
from fairest_cli.untrusted_text import clean
from fairest_protocol.calculation.record import BadRecord, Record
from fairest_protocol.calculation.record_parser import read_record
from fairest_protocol.messages.from_server import MatchRecord


class NewProblems:
    """Tells a problem once, however often it is looked for."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def among(self, *problems: str) -> str:
        """Return those of `problems`, empty for none, that were not returned before."""
        new = [problem for problem in problems if problem and problem not in self._known]
        self._known.update(new)
        return " ".join(new)


def try_save_record(message: MatchRecord) -> tuple[Record | None, Path | None, str]:
    """Save a record in the folder for records. Return it, the path of its file, and what was wrong, if anything was."""
    record = None
    try:
        record = read_record(message.lines)
        return record, save_record(message), ""
    except BadRecord as reason:
        return record, None, f"The record could not be saved: {clean(str(reason))}"
    except OSError as reason:
        return record, None, f"The record could not be saved: {reason.strerror}."


def save_elsewhere(folder: str, record: MatchRecord | None, receipt: Receipt | None) -> list[Path]:
    """Save the record and the receipt in `folder`, as a person typed it; return the paths of the files.

    The folder is made if it is not there. Raises OSError, and ValueError with a sentence for nothing to save.
    """
    place = Path(folder).expanduser()
    if not folder.strip():
        raise ValueError("Name a folder, such as ~/races.")
    if record is None and (receipt is None or receipt.path is None):
        raise ValueError("There is nothing to save yet.")
    saved = [save_record(record, place)] if record is not None else []
    copied = receipt.save_copy(place) if receipt is not None else None
    return saved + ([copied] if copied is not None else [])


def describe_unsaved(folder: str, reason: OSError | ValueError) -> str:
    """Return why nothing was saved in `folder`, and what to do."""
    if isinstance(reason, OSError):
        return f"Nothing could be saved in {folder}: {reason.strerror or reason}. Name another folder."
    return str(reason)
