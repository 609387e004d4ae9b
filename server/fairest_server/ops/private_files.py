"""Folders and files that only the user of this process may read. Windows has no such modes."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PRIVATE_UMASK: Final = 0o077
"""New files and folders get no rights for other users."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class ForeignFile(Exception):
    """A folder, or a file in it, belongs to another user, who could read and change it; the text names it."""


def set_private_umask() -> None:
    """Let this process, and those that it starts, make files that no other user may read."""
    os.umask(PRIVATE_UMASK)


def make_private(folder: Path, patterns: Iterable[str]) -> None:
    """Make `folder` if it is missing; take the rights of other users from it, and from the files in it that match.

    On Windows this only makes the folder. Other files, and those behind symbolic links, are left as they are: the
    folder may hold more than ours. Raises ForeignFile, and OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "geteuid"):
        return
    # The folder first: from then on no other user can put anything into it.
    _take_rights(folder.resolve(), folder)
    for pattern in patterns:
        for path in folder.glob(pattern):
            _take_rights(path, folder)


def _take_rights(path: Path, folder: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        # An engine that another server runs here may remove files meanwhile.
        return
    if found.st_uid != os.geteuid():
        whose = str(folder) if path == folder.resolve() else f"{path.name} in {folder}"
        raise ForeignFile(f"{whose} belongs to another user")
    if found.st_mode & _OTHERS and not stat.S_ISLNK(found.st_mode):
        path.chmod(found.st_mode & ~_OTHERS)
