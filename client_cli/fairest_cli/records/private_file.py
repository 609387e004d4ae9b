"""Files that only their owner may read, written atomically."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace the file at `path` by `text`, with mode 0600. Raises OSError, which leaves the old file as it was."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Under a name that nobody can have prepared as a link, or as a file of theirs that they can read.
    descriptor, name = tempfile.mkstemp(prefix=".fairest-", suffix=".new", dir=path.parent)
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        fresh.replace(path)
    except OSError:
        # A full disk has room for an empty file, and for a part of one.
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
