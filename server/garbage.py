"""When to look for memory that only a search finds: objects that point at each other in a circle.

Rooms are trees of values, which go by their reference counts; to look for circles among them whenever many values are
made costs a seventh of a busy server's time. Connections are circles, and so are rooms that were dropped. So the search
goes by the number of connections that have gone: when there were as many as are still here, what they left is at most
as much as is in use, and a search, which looks at everything in use, is paid for by all of them.
"""

import gc
from typing import Final

SELDOM: Final = (50_000, 20, 50)
"""Thresholds of the collector, for circles that are not of connections."""
LEAST: Final = 100
"""So many connections are gone before it is worth a look, which then takes about 2 ms."""


def look_seldom() -> None:
    """Called once, when all modules are loaded: what is there stays for ever and is never looked at again."""
    gc.set_threshold(*SELDOM)
    gc.freeze()


class Leavings:
    """What connections have left behind since the last search."""

    def __init__(self) -> None:
        self._gone = 0

    def add(self, still_here: int) -> bool:
        """A connection has gone; search if it is time. Returns whether there was a search."""
        self._gone += 1
        if self._gone < max(LEAST, still_here):
            return False
        self._gone = 0
        gc.collect()
        return True
