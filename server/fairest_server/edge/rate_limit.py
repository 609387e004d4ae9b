"""The token bucket that limits a client: pure arithmetic, with the time as an argument."""

from dataclasses import dataclass


@dataclass(slots=True)
class TokenBucket:
    """Allows `burst` tokens at once, and `rate_per_second` in the long run. Times are seconds of a monotonic clock."""

    rate_per_second: float
    burst: float
    at_seconds: float
    tokens: float = -1.0
    empty_since: float | None = None
    """The time at which the bucket ran empty; None again once it is half full."""

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def take(self, now_seconds: float, tokens: int = 1) -> float:
        """Take `tokens`, on credit if the bucket has fewer; return the seconds until they are paid back."""
        self._fill(now_seconds)
        self.tokens -= tokens
        if self.tokens < 0 and self.empty_since is None:
            self.empty_since = now_seconds
        return max(0.0, -self.tokens / self.rate_per_second)

    def try_take(self, now_seconds: float) -> bool:
        """Take one token if there is one; return whether there was."""
        self._fill(now_seconds)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def has_token(self, now_seconds: float) -> bool:
        """Return whether there is a token, and take none."""
        self._fill(now_seconds)
        return self.tokens >= 1

    def is_full(self, now_seconds: float) -> bool:
        """Return whether the bucket is full, so that it can be forgotten."""
        self._fill(now_seconds)
        return self.tokens >= self.burst

    def _fill(self, now_seconds: float) -> None:
        self.tokens = min(self.burst, self.tokens + (now_seconds - self.at_seconds) * self.rate_per_second)
        self.at_seconds = now_seconds
        if self.tokens >= self.burst / 2:
            self.empty_since = None
