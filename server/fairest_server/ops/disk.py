"""Flushing to the disk."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of files to the disk. Without it, a power cut may undo the move of a file into the folder.

    Raises OSError.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
