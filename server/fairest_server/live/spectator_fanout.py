"""The fan-out to the spectators of a room, which may be thousands, at no cost to the players.

Players get every message at once. The entries that spectators may see are collected for a moment, encoded once, and
sent to a few spectators at a time, with pauses, so that no player's move waits behind a thousand frames. Entries that
arrive meanwhile go into the next frame: the more spectators there are, the fewer frames each of them gets.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from fairest_protocol.messages.fast_encoding import encode_view
from fairest_server.room.view import ViewCursor

COLLECT_SECONDS: Final = 0.05
"""Entries of this time share one frame."""
FRAMES_PER_SECOND: Final = 2_000
"""The frames a second that all spectators of a room in one process get together."""
BURST_FRAMES: Final = 10
"""Frames that are written without a pause: at 10 us each, they take less time than a move."""
PAUSE_SECONDS: Final = BURST_FRAMES / FRAMES_PER_SECOND

Later = Callable[[float, Callable[[], None]], object]
"""Calls a function after this many seconds; 0 is as soon as everything that is ready has run."""


class Watching(Protocol):
    """A connected spectator."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""


Spectator = TypeVar("Spectator", bound=Watching)


class SpectatorFanout(Generic[Spectator]):
    """The spectators of a room in this process, and the frames on their way to them. Each gets all frames in order."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._spectators: dict[Spectator, int] = {}
        """For each spectator, how many frames had been made when it came: only later ones are for it."""
        self._collected: list[bytes] = []
        self._cursor = ViewCursor()
        """Behind the last collected entry."""
        self._frames_made = 0
        self._outgoing: list[tuple[int, bytes, deque[Spectator]]] = []
        """Frames with their numbers, each with the spectators that have not got it yet."""
        self._is_scheduled = False

    def __len__(self) -> int:
        return len(self._spectators)

    def __contains__(self, spectator: object) -> bool:
        return spectator in self._spectators

    def __iter__(self) -> Iterator[Spectator]:
        return iter(self._spectators)

    def add(self, spectator: Spectator) -> None:
        """Send this spectator every frame from here on; it has been shown all that was collected."""
        self._close_frame()
        self._spectators[spectator] = self._frames_made

    def discard(self, spectator: Spectator) -> None:
        """Send this spectator nothing more, not even if it comes back before a frame of now was sent to all others."""
        self._spectators.pop(spectator, None)

    def add_entries(self, entries: list[bytes], cursor: ViewCursor) -> None:
        """Collect entries of the spectators' view; `cursor` stands after the last of them."""
        self._collected.extend(entries)
        self._cursor = cursor
        self._schedule(COLLECT_SECONDS)

    def add_message(self, data: bytes) -> None:
        """Send an encoded message after the entries that were collected."""
        self._close_frame()
        self._add_frame(data)
        self._schedule(0)

    def _close_frame(self) -> None:
        """Make a frame of the collected entries, for the spectators that are here now."""
        if self._collected:
            self._add_frame(encode_view(self._cursor.position, self._collected, self._cursor.tag))
            self._collected = []

    def _add_frame(self, data: bytes) -> None:
        self._frames_made += 1
        self._outgoing.append((self._frames_made, data, deque(self._spectators)))

    def _schedule(self, seconds: float) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._later(seconds, self._send)

    def _send(self) -> None:
        """Write the next BURST_FRAMES frames, then pause if there are more."""
        self._is_scheduled = False
        if not self._outgoing:
            self._close_frame()
        for _ in range(BURST_FRAMES):
            while self._outgoing and not self._outgoing[0][2]:
                del self._outgoing[0]
            if not self._outgoing:
                break
            number, data, waiting = self._outgoing[0]
            spectator = waiting.popleft()
            # One that has left and come back was sent a snapshot, which this frame would lead back behind.
            if self._spectators.get(spectator, number) < number:
                spectator.show(data)
        if self._outgoing:
            self._schedule(PAUSE_SECONDS)
        elif self._collected:
            self._schedule(COLLECT_SECONDS)
