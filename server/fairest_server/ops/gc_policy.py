"""When Python's garbage collector runs: only over the newest objects.

Rooms are trees of values, and a closed connection or room is in no reference cycle: both are freed by their reference
counts, at once (`tests/ops/test_gc_policy.py`). With Python's defaults, the collector takes a seventh of a busy
server's time, and a full collection with a thousand rooms stops the server for 0.3 s. The cycles that remain are young:
those of exceptions, which last no longer than the request that failed.
"""

import gc
from typing import Final

NEWEST: Final = 5_000
"""A collection runs whenever there are this many more objects, and takes 1 to 9 ms. With 50,000 it took up to 65 ms:
that many objects no longer fit into the cache.
"""
_NEVER: Final = 1_000_000_000
"""The threshold of the older generations. Each young collection counts towards it, whether anything survived or not."""


def configure_gc() -> None:
    """Freeze the objects that exist, so that the collector skips them, and collect only the youngest generation.

    Call once at start, after all imports.
    """
    gc.set_threshold(NEWEST, _NEVER, _NEVER)
    gc.freeze()
