"""When to look for memory that only a search finds: objects that point at each other in a circle.

Rooms are trees of values, and a connection or a room that is gone points to nothing that points back: all of that goes
by its reference counts, at once (`tests/ops/test_gc_policy.py`). To search for circles whenever many values are made
costs a seventh of a busy server's time, and to search through all that is in use takes 0.3 s with a thousand rooms, in
which nobody is heard. So only the newest objects are searched, for the circles that there still are: exceptions, which
last no longer than what they were about.
"""

import gc
from typing import Final

NEWEST: Final = 5_000
"""When there are so many more objects, these are searched: 1 to 9 ms. With ten times as many, ten times more seldom, it
was up to 65 ms, since they were in no cache any more.
"""
_NEVER: Final = 1_000_000_000
"""Not even searches in which nothing was left count towards one of older objects."""


def configure_gc() -> None:
    """Called once, when all modules are loaded: what is there stays for ever and is never looked at again."""
    gc.set_threshold(NEWEST, _NEVER, _NEVER)
    gc.freeze()
