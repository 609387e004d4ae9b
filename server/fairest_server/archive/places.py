"""Places for the files of an archive: a folder, or object storage by way of `fsspec`."""

import os
import secrets
import time
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from fairest_server.ops.disk import sync_folder

UNFINISHED: Final = ".unfinished"
"""The folder for files that are being written. A killed writer leaves its file there."""
ABANDONED_SECONDS: Final = 3600
"""A file in `UNFINISHED` that is older than this is nobody's any more: a record is written within seconds."""


class ArchiveUnavailable(Exception):
    """The archive cannot be opened, read or written; the text says why and what to do."""


class Place(Protocol):
    """Files by their names, such as `1f3/name.jsonl`. Every method blocks, and raises `ArchiveUnavailable`."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if there is no such file."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Put a file in place whole, so that it survives a power cut. A file of that name is replaced."""
        ...

    def remove_abandoned(self) -> int:
        """Remove the unfinished files of writers that were killed; return their number."""
        ...


class Folder:
    """A folder of this machine, or one that is mounted here."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if there is no such file."""
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as reason:
            raise _unavailable(f"cannot read {self._root / name}", reason) from reason

    def write(self, name: str, content: bytes) -> None:
        """Write under another name, flush to the disk, move into place, and flush the folder to the disk."""
        target = self._root / name
        unfinished = self._root / UNFINISHED / f"{target.name}.{secrets.token_hex(8)}"
        try:
            self._make_folder(unfinished.parent)
            self._make_folder(target.parent)
            try:
                with unfinished.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(target)
            finally:
                # It is there only if one of these steps failed.
                unfinished.unlink(missing_ok=True)
            sync_folder(target.parent)
        except OSError as reason:
            raise _unavailable(f"cannot write {target}", reason) from reason

    def remove_abandoned(self) -> int:
        """Remove the unfinished files of writers that were killed; return their number."""
        folder, removed = self._root / UNFINISHED, 0
        try:
            for path in folder.iterdir() if folder.is_dir() else ():
                if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                    path.unlink(missing_ok=True)
                    removed += 1
        except OSError as reason:
            raise _unavailable(f"cannot tidy up {folder}", reason) from reason
        return removed

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        # The folder is not on the disk before the one that lists it is; `self._root` may be new as well.
        sync_folder(folder.parent)
        sync_folder(self._root.parent)


class ObjectStorage:
    """A prefix of a bucket, or any other place that `fsspec` can write to, by its URL."""

    def __init__(self, url: str) -> None:
        # Loading it takes a moment, and a server or a command with a folder does not need it.
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # noqa: PLC0415

        scheme = urlsplit(url).scheme
        try:
            # An archive is written by others too, so nothing about it may be cached.
            files, root = url_to_fs(url, use_listings_cache=False)
        except ImportError as reason:
            raise ArchiveUnavailable(
                f"{scheme}:// needs a driver that is not installed here: {reason} (with pip, beside fairest)"
            ) from reason
        except Exception as reason:
            raise ArchiveUnavailable(f"{url!r} does not name an archive: {reason}") from reason
        self._files: Any = files
        self._root = root.rstrip("/")
        self._url = url

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, or None if there is none of that name."""
        try:
            return bytes(self._files.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None
        except Exception as reason:  # each driver has its own
            raise _unavailable(f"cannot read {name} in {self._url}", reason) from reason

    def write(self, name: str, content: bytes) -> None:
        """Write under another name, then move into place: not every place shows only whole objects."""
        target = f"{self._root}/{name}"
        unfinished = f"{self._root}/{UNFINISHED}/{name.rpartition('/')[2]}.{secrets.token_hex(8)}"
        try:
            for path in (unfinished, target):
                self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(unfinished, content)
            self._files.mv(unfinished, target)
        except Exception as reason:  # likewise
            raise _unavailable(f"cannot write {name} in {self._url}", reason) from reason

    def remove_abandoned(self) -> int:
        """Remove the unfinished objects of writers that were killed, where this storage says how old they are."""
        removed = 0
        try:
            for path in self._files.find(f"{self._root}/{UNFINISHED}"):
                if time.time() - self._files.modified(path).timestamp() > ABANDONED_SECONDS:
                    self._files.rm_file(path)
                    removed += 1
        except (NotImplementedError, FileNotFoundError):
            # This storage does not say how old an object is, or another process tidies up at the same time.
            return removed
        except Exception as reason:  # likewise
            raise _unavailable(f"cannot tidy up {UNFINISHED} in {self._url}", reason) from reason
        return removed


def open_place(destination: str, *, must_exist: bool = False) -> Place:
    """Return the place that a path or a URL names. A folder need not exist yet, unless `must_exist`.

    Raises `ArchiveUnavailable`.
    """
    parts = urlsplit(destination)
    # A single letter is a drive of Windows.
    if len(parts.scheme) > 1 and parts.scheme != "file":
        return ObjectStorage(destination)
    folder = Path(url2pathname(parts.path) if parts.scheme == "file" else destination).absolute()
    if (must_exist or folder.exists()) and not folder.is_dir():
        raise ArchiveUnavailable(f"the archive {folder} is not a folder" if folder.exists() else f"no folder {folder}")
    return Folder(folder)


def _unavailable(what: str, reason: Exception) -> ArchiveUnavailable:
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason) or type(reason).__name__
    return ArchiveUnavailable(f"{what}: {text}")
