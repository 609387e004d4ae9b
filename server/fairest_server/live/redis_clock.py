"""Redis' clock as one process follows it, and the window of time in which the process may decide anything."""

import time
from typing import Final

from fairest_protocol.value import Value
from fairest_server.store import keys

APPEND_DEADLINE_MS: Final = 2_000
"""An append that Redis executes later than this is rejected (`LATE`) and decided again, because the room may have been
paused in between or the sender may already have been refused.
"""
CLOCK_SKEW_MS: Final = 1_000
"""How much the clocks of two nodes of a Cluster may differ: a pause is recorded on one, and a room may be on another. A
pause that ends later than this after the time of the room's node is not taken into its log.
"""
MAX_CLOCK_AGE_SECONDS: Final = 2.5
"""Nothing is decided if the last answered heartbeat is older: less than what counts as a pause, `keys.PAUSE_MS`."""


class DecisionWindow(Value):
    """Redis' clock now, as far as this process knows it, and the last moment for a decision to reach the log.

    That is APPEND_DEADLINE_MS, or less if a pause could begin before.
    """

    now_ms: int
    not_after_ms: int


class RedisClock:
    """Redis' clock as far as this process knows it, kept as its distance from our own clock."""

    def __init__(self) -> None:
        self._ahead_ms = 0.0
        self._answered_at = 0.0
        self._heartbeat_ms = 0
        """The time on Redis' clock when it answered the last heartbeat."""

    @property
    def silent_seconds(self) -> float:
        """The time since the last answer to a heartbeat, by the monotonic clock."""
        return time.monotonic() - self._answered_at

    def now_ms(self) -> int:
        """Return the time on Redis' clock now, exact to the time that an answer takes."""
        return int(time.time() * 1000 - self._ahead_ms)

    def decision_window(self) -> DecisionWindow | None:
        """Return the window that begins now; None if Redis was silent so long that a pause may have gone unnoticed."""
        # `silent_seconds` and `now_ms`, without their calls: each move asks for a window.
        if time.monotonic() - self._answered_at >= MAX_CLOCK_AGE_SECONDS:
            return None
        now_ms = int(time.time() * 1000 - self._ahead_ms)
        return DecisionWindow(now_ms, min(now_ms + APPEND_DEADLINE_MS, self._heartbeat_ms + keys.PAUSE_MS))

    def set(self, redis_ms: int) -> None:
        """Correct the clock by an answer that carries Redis' time."""
        self._ahead_ms = time.time() * 1000 - redis_ms

    def beat(self, redis_ms: int) -> None:
        """Correct the clock by the answer to a heartbeat, which carries Redis' time."""
        self.set(redis_ms)
        self._heartbeat_ms = redis_ms
        self._answered_at = time.monotonic()
