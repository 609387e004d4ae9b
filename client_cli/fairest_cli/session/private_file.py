"""Files for their owner's eyes, written all or nothing."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Put this text in the place of what is there. Raises OSError, and leaves what was there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)
