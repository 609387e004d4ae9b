"""A fault of this program: its traceback goes to a file, and a sentence to the terminal."""

import os
import time
import traceback
from pathlib import Path

from fairest_cli.untrusted_text import clean


def keep_traceback(error: Exception, folder: Path) -> str:
    """Write down what this program was doing, for its user's eyes; returns what to say about it."""
    cause = error.__cause__ if error.__cause__ is not None else error
    what = clean(f"{type(cause).__name__}: {cause}")[:200]
    path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            # Without the values of variables: among them are tokens.
            file.write("".join(traceback.format_exception(error)))
    except OSError as reason:
        return f"fairest: a fault of this program ({what}); {clean(str(path))} could not be written: {reason.strerror}"
    return f"fairest: a fault of this program ended it ({what}). What it was doing is in {path}"
