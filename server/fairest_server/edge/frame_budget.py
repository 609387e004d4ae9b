"""The budget of one connection for frames of every kind and for bytes: pure arithmetic, with the time as an argument.

Messages have a limit of their own, which the session keeps once it knows what a message asks for. This one is charged
where bytes arrive, so it also holds for what never becomes a message: pings, pongs, fragments, and frames in parts.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.ops.metrics import FrameKind
from fairest_server.settings import Settings

FRAMES_PER_MESSAGE: Final = 2
"""Frames that a client may send for each message that it may send: the message itself, and a ping or a fragment."""
LEAST_BYTES: Final = 64
"""Bytes that a read counts for at least, since to read one byte costs as much as to read these."""


class FrameBudget:
    """The allowance of a connection. A client that sends more is paused, and cut off if it goes on for too long."""

    __slots__ = ("_bytes", "_flood_seconds", "_frames", "_kinds")

    def __init__(self, settings: Settings, now_seconds: float) -> None:
        rate, burst = settings.messages_per_second, settings.messages_burst
        frame_bytes = settings.max_frame_bytes / 4
        self._frames = TokenBucket(FRAMES_PER_MESSAGE * rate, FRAMES_PER_MESSAGE * burst, now_seconds)
        self._bytes = TokenBucket(rate * frame_bytes, max(burst * frame_bytes, settings.max_frame_bytes), now_seconds)
        self._flood_seconds = settings.flood_seconds
        self._kinds: Counter[FrameKind] = Counter()

    def charge(self, kinds: Sequence[FrameKind], size_bytes: int, now_seconds: float) -> float:
        """Charge frames of these kinds, in `size_bytes`; return the seconds for which nothing more may be read."""
        wait_seconds = max(
            self._frames.take(now_seconds, len(kinds)), self._bytes.take(now_seconds, max(size_bytes, LEAST_BYTES))
        )
        if self._empty_since is None:
            self._kinds.clear()
        else:
            self._kinds.update(kinds or (FrameKind.PART,))
        return wait_seconds

    def is_flood(self, now_seconds: float) -> bool:
        """Return whether the budget has been exceeded for `flood_seconds` without a rest."""
        since = self._empty_since
        return since is not None and now_seconds - since > self._flood_seconds

    @property
    def main_kind(self) -> FrameKind:
        """The kind of most of the frames since the budget was last kept; `part` if there were none."""
        return max(self._kinds, key=self._kinds.__getitem__, default=FrameKind.PART)

    @property
    def _empty_since(self) -> float | None:
        """Return since when frames or bytes have been exceeded, whichever is longer ago."""
        frames, octets = self._frames.empty_since, self._bytes.empty_since
        return octets if frames is None else frames if octets is None else min(frames, octets)
