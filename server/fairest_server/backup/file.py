"""The file of a backup: compressed lines, closed by their number and their hash."""

import gzip
import hashlib
import os
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fairest_protocol.value import Value
from fairest_server.backup.entries import Entry, Heading, Trailer, decode_line, encode_line
from fairest_server.ops.disk import sync_folder

FORMAT: Final = 2
ABANDONED_SECONDS: Final = 3600
"""An unfinished file that nothing was written to for this long is that of a killed backup."""
_UNFINISHED: Final = ".unfinished"


class BadBackup(Exception):
    """A file is not a backup, or not all of it; the text says why."""


class BackupFacts(Value):
    """Facts about a whole backup: when it was taken, by Redis' clock, its number of entries, and its hash."""

    taken_at_ms: int
    entries: int
    sha256: str


class BackupFile:
    """A backup that is being written under a name of its own. Readable by its owner alone: it holds the private key."""

    def __init__(self, folder: Path, taken_at_ms: int) -> None:
        """Open a file in `folder`, which is made if it is missing. Raises OSError."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_abandoned(folder)
        stamp = datetime.fromtimestamp(taken_at_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
        self._target = folder / f"fairest-{stamp}.backup"
        self._path = folder / f".{self._target.name}.{secrets.token_hex(4)}{_UNFINISHED}"
        self._raw = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        # The envelopes of records do not compress: a higher level is slower and saves nothing. 31 makes a file of gzip.
        self._compressor = zlib.compressobj(level=1, wbits=31)
        self._hash = hashlib.sha256()
        self.entries = 0
        self._write(encode_line(Heading(FORMAT, taken_at_ms)))

    def add(self, entry: Entry) -> None:
        """Add an entry. Raises OSError."""
        self._write(encode_line(entry))
        self.entries += 1

    def finish(self) -> Path:
        """End the file, read it back from the disk, and give it its name; return its path.

        No file is replaced. Raises OSError, and `BadBackup` if the disk does not give back what was written.
        """
        self._write(encode_line(Trailer(self.entries, self._hash.hexdigest())))
        self._raw.write(self._compressor.flush())
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()
        if check_backup(self._path).entries != self.entries:
            raise BadBackup(f"{self._path} does not hold what was written to it: check its disk")
        target, number = self._target, 1
        while target.exists():
            number += 1
            target = self._target.with_stem(f"{self._target.stem}-{number}")
        self._path.rename(target)
        sync_folder(target.parent)
        return target

    def discard(self) -> None:
        """Remove an unfinished file; do nothing to a finished one."""
        # The rest in its buffer may not fit on the disk.
        with suppress(OSError):
            self._raw.close()
        self._path.unlink(missing_ok=True)

    def _write(self, line: bytes) -> None:
        self._hash.update(line)
        self._raw.write(self._compressor.compress(line))


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a backup. Raises `BadBackup` where it is damaged, at the latest at its end; and OSError."""
    for line in _lines(path):
        if not isinstance(line, (Heading, Trailer)):
            yield line


def check_backup(path: Path) -> BackupFacts:
    """Read a whole backup and return the facts about it. Raises `BadBackup` if anything is wrong with it, and OSError.

    The hash shows damage. It is no signature: a person who may write the file can make another hash.
    """
    taken_at_ms, ending = 0, None
    for line in _lines(path):
        if isinstance(line, Heading):
            taken_at_ms = line.taken_at_ms
        elif isinstance(line, Trailer):
            ending = line
    assert ending is not None, "a backup without an end is refused"
    return BackupFacts(taken_at_ms, ending.entries, ending.sha256)


def _lines(path: Path) -> Iterator[Heading | Entry | Trailer]:
    """Yield all lines, the heading first and the ending last."""
    digest, number, ending = hashlib.sha256(), 0, None
    try:
        with gzip.open(path, "rb") as file:
            for number, text in enumerate(file, 1):
                line = decode_line(text)
                if isinstance(line, Heading) != (number == 1) or ending is not None:
                    raise BadBackup(f"{path} is not a backup: line {number} stands in the wrong place")
                if isinstance(line, Heading) and line.format != FORMAT:
                    raise BadBackup(f"{path} is a backup of format {line.format}; this version reads {FORMAT}")
                if isinstance(line, Trailer):
                    ending = line
                    if (line.entries, line.sha256) != (number - 2, digest.hexdigest()):
                        raise BadBackup(f"{path} is damaged: its content does not fit its hash")
                digest.update(text)
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
        raise BadBackup(f"{path} is not a whole backup: {reason}") from reason
    except ValueError as reason:
        raise BadBackup(f"{path} is not a backup: line {number} cannot be read ({reason})") from reason
    if ending is None:
        raise BadBackup(f"{path} is not a whole backup: its end is missing")


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(f".fairest-*{_UNFINISHED}"):
        if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
            path.unlink(missing_ok=True)
