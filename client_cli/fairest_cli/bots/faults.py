"""An exception that ended a rival's task and that nothing expected, for the lines of a house."""

import traceback
from pathlib import Path


def describe_fault(fault: BaseException) -> str:
    """Return an exception, and the place in the code where it was raised, in one line."""
    frames = traceback.extract_tb(fault.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{fault!r}{place}"
