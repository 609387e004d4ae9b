"""Records in an archive, one file for each: exactly the file that `fairest verify` reads."""

from typing import Final

from fairest_server.archive.places import Place
from fairest_server.archive.record_proof import BrokenRecord, prove_record

SHARD_DIGITS: Final = 3
"""A match id is random, so its first digits spread the files over 4,096 folders: a million records are 250 in each."""


class RecordArchive:
    """The records of an archive by match id. Every method blocks, and raises `ArchiveUnavailable`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def read(self, match_id: str) -> bytes | None:
        """Return the file of a match, or None if the archive does not have it."""
        return self._place.read(file_name(match_id))

    def keep(self, match_id: str, content: bytes) -> None:
        """Put a record into the archive and read it back; return when the archive holds it for good.

        Safe to call again, also by several processes at once. Raises `BrokenRecord` for a record that does not prove
        itself, and when the archive already holds another one of this match; the archive is then as it was.
        """
        prove_record(content, match_id)
        name = file_name(match_id)
        held = self._place.read(name)
        if held not in (None, content):
            raise BrokenRecord(f"the archive already holds another record of this match, {name}: compare the two")
        # A file that is there may be that of a writer killed before it reached the disk, so it is written again.
        self._place.write(name, content)
        if self._place.read(name) != content:
            raise BrokenRecord(f"the archive did not give back what was written to {name}: check its disk")

    def remove_abandoned(self) -> int:
        """Remove unfinished files that killed writers left behind; return their number."""
        return self._place.remove_abandoned()


def file_name(match_id: str) -> str:
    """Return the name of a match's file in an archive."""
    return f"{match_id[:SHARD_DIGITS]}/{match_id}.jsonl"
