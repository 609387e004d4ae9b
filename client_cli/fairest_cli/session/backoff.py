"""The waits of a client between its attempts to reach a server: short at first, longer after each failure."""

import random
from typing import Final

FIRST_SECONDS: Final = 0.1
LONGEST_SECONDS: Final = 5.0
GROWTH: Final = 1.4
"""The ratio of each wait to the one before it. Of 100 clients 99 are back 0.6 s after a server that was away for one
second; at a ratio of 2 it is 1.5 s.
"""
SHORTEST_SHARE: Final = 0.5
"""The least share of a wait. Thousands of clients that lost their server together spread over the rest."""
STEADY_SECONDS: Final = 5.0
"""A connection that lasted this long resets the waits."""
RACING_SECONDS: Final = 0.25
"""So does one that lasted this long and showed a change in the room, since servers may be killed one after the other. A
server that shows a room and closes at once does not, over and over: thousands of clients would come ten times a second.
"""


class Backoff:
    """The failures in a row of one client, and the waits that follow from them."""

    def __init__(self) -> None:
        self.failures = 0

    def next_wait(self, lasted_seconds: float, chance: random.Random, *, has_gone_on: bool) -> float:
        """Return the seconds to wait after an attempt, or after the connection that it led to.

        `lasted_seconds` is how long it lasted, 0 if there was none; `has_gone_on`: it has shown a change in the room.
        """
        is_good = lasted_seconds > STEADY_SECONDS or (has_gone_on and lasted_seconds > RACING_SECONDS)
        self.failures = 0 if is_good else self.failures + 1
        wait = min(LONGEST_SECONDS, FIRST_SECONDS * GROWTH**self.failures)
        return wait * chance.uniform(SHORTEST_SHARE, 1.0)
