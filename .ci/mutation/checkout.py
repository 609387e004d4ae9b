"""A copy of the tree, into which mutants are written: the tree that one works in is never changed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SOURCE_FOLDERS: Final = ("protocol", "server", "client_cli", ".ci", ".")


def copy_tree(root: Path, target: Path) -> None:
    """Copy the files of a work tree that git knows or would add. Raises CalledProcessError if it is not git's."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listing.stdout.split("\0")):
        source = root / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def enter(folder: Path) -> None:
    """Let this process and its children import Fairest from a copy, and from nowhere else.

    The folders of their tests are beside the copy: pytest deletes old ones of other runs where these share a folder.
    """
    os.chdir(folder)
    temporary = folder.with_name(f"{folder.name}-tmp")
    temporary.mkdir(exist_ok=True)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(temporary)
    paths = [str(folder / name) for name in SOURCE_FOLDERS]
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


@contextmanager
def written(folder: Path, path: str, source: str) -> Iterator[None]:
    """Have another source in a file of a copy, until the context ends."""
    file = folder / path
    original = file.read_bytes()
    try:
        _replace(file, source.encode())
        yield
    finally:
        _replace(file, original)


def _replace(file: Path, content: bytes) -> None:
    """Write a file and delete its compiled form, which is not found to be stale within a second."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()
    file.write_bytes(content)
