"""Redis' clock, by which rooms live, as one process follows it; and the moments at which it may decide anything."""

import time
from typing import Final

from fairest_protocol.value import Value
from fairest_server.store import keys

APPEND_DEADLINE_MS: Final = 2_000
"""What Redis takes longer for is decided anew. It may have been a pause; or whoever asked was told that it failed."""
MAX_CLOCK_AGE_SECONDS: Final = 2.5
"""Redis was heard this lately, or nothing is decided. Less than what counts as a pause, `keys.PAUSE_MS`."""


class DecisionWindow(Value):
    """A moment at which something may be decided: Redis' clock as far as it is known here, and how long what is decided
    now may take to reach the log: JUDGE_MS, less before a pause.
    """

    now_ms: int
    not_after_ms: int


class RedisClock:
    """Redis' clock as far as it is known here, by its distance from our own."""

    def __init__(self) -> None:
        self._ahead_ms = 0.0
        self._heard_at = 0.0
        self._beat_ms = 0
        """What Redis' clock showed when it last answered a beat of ours."""

    @property
    def silent_seconds(self) -> float:
        """How long ago Redis told its clock, by one that nobody sets."""
        return time.monotonic() - self._heard_at

    def now_ms(self) -> int:
        """What Redis' clock shows now, give or take the time of an answer."""
        return int(time.time() * 1000 - self._ahead_ms)

    def decision_window(self) -> DecisionWindow | None:
        """The present moment; None if Redis was not heard so lately that no pause can have gone unnoticed."""
        if self.silent_seconds >= MAX_CLOCK_AGE_SECONDS:
            return None
        now_ms = self.now_ms()
        return DecisionWindow(now_ms, min(now_ms + APPEND_DEADLINE_MS, self._beat_ms + keys.PAUSE_MS))

    def set(self, redis_ms: int) -> None:
        """Redis' clock shows this."""
        self._ahead_ms = time.time() * 1000 - redis_ms

    def beat(self, redis_ms: int) -> None:
        """A beat of ours was answered, when Redis' clock showed this."""
        self.set(redis_ms)
        self._beat_ms = redis_ms
        self._heard_at = time.monotonic()
