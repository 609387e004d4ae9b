"""How much one client may ask for: pure arithmetic, the time is an argument."""

from dataclasses import dataclass


@dataclass(slots=True)
class TokenBucket:
    """At most `burst` at once, and `rate_per_second` in the long run. Times are seconds of a clock that only grows."""

    rate_per_second: float
    burst: float
    at_seconds: float
    tokens: float = -1.0
    empty_since: float | None = None
    """Since when more was asked for than the rate allows, without a rest that filled half of the bucket."""

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def take(self, now_seconds: float, tokens: int = 1) -> float:
        """Take tokens, which may be lent: returns the seconds until they are there, 0 for at once."""
        self._fill(now_seconds)
        self.tokens -= tokens
        if self.tokens < 0 and self.empty_since is None:
            self.empty_since = now_seconds
        return max(0.0, -self.tokens / self.rate_per_second)

    def try_take(self, now_seconds: float) -> bool:
        """Take one token if it is there; whether it was."""
        self._fill(now_seconds)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def is_full(self, now_seconds: float) -> bool:
        """Whether nothing of it is remembered any more."""
        self._fill(now_seconds)
        return self.tokens >= self.burst

    def _fill(self, now_seconds: float) -> None:
        self.tokens = min(self.burst, self.tokens + (now_seconds - self.at_seconds) * self.rate_per_second)
        self.at_seconds = now_seconds
        if self.tokens >= self.burst / 2:
            self.empty_since = None
