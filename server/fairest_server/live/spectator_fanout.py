"""The spectators of a room: a crowd of any size that costs the players nothing.

Players are told at once. What spectators may see is gathered for a moment, encoded once, and sent to a few of them at a
time, with pauses, so that no player's move waits behind a thousand frames. What happens meanwhile is their next frame:
the larger the crowd, the fewer frames each of them gets.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from fairest_protocol.messages.fast_encoding import encode_view
from fairest_server.room.view import ViewCursor

GATHER_SECONDS: Final = 0.05
"""What happens within this time is one frame."""
FRAMES_PER_SECOND: Final = 2_000
"""A room's spectators of one process get no more frames than these, however many they are."""
SLICE: Final = 10
"""So many frames are written at once: at 10 us each, less than a move takes on its way."""
PAUSE_SECONDS: Final = SLICE / FRAMES_PER_SECOND

Later = Callable[[float, Callable[[], None]], object]
"""Calls a function after so many seconds; 0 is as soon as everything else has had its turn."""


class Watching(Protocol):
    """A spectator, connected."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""


Spectator = TypeVar("Spectator", bound=Watching)


class SpectatorFanout(Generic[Spectator]):
    """Who watches a room from this process, and what is on its way to them. Each of them sees every frame in order."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._spectators: dict[Spectator, None] = {}
        self._gathered: list[bytes] = []
        self._cursor = ViewCursor()
        self._outgoing: list[tuple[bytes, deque[Spectator]]] = []
        self._is_waiting = False

    def __len__(self) -> int:
        return len(self._spectators)

    def __contains__(self, spectator: object) -> bool:
        return spectator in self._spectators

    def __iter__(self) -> Iterator[Spectator]:
        return iter(self._spectators)

    def add(self, spectator: Spectator) -> None:
        """Show this spectator what comes from here on; it has been shown all that was gathered."""
        self._seal()
        self._spectators[spectator] = None

    def discard(self, spectator: Spectator) -> None:
        """Show it nothing more."""
        self._spectators.pop(spectator, None)

    def reveal(self, entries: list[bytes], cursor: ViewCursor) -> None:
        """These entries of their view are new; the last of them is at this mark."""
        self._gathered.extend(entries)
        self._cursor = cursor
        self._wait(GATHER_SECONDS)

    def tell(self, data: bytes) -> None:
        """Send this message, behind what was gathered."""
        self._seal()
        self._outgoing.append((data, deque(self._spectators)))
        self._wait(0)

    def _seal(self) -> None:
        """What was gathered becomes a frame for those who are here now."""
        if self._gathered:
            position = self._cursor.position - len(self._gathered) + 1
            data = encode_view(position, self._gathered, self._cursor.tag)
            self._outgoing.append((data, deque(self._spectators)))
            self._gathered = []

    def _wait(self, seconds: float) -> None:
        if not self._is_waiting:
            self._is_waiting = True
            self._later(seconds, self._send)

    def _send(self) -> None:
        """The moment is over, or a pause: send to the next few."""
        self._is_waiting = False
        if not self._outgoing:
            self._seal()
        for _ in range(SLICE):
            while self._outgoing and not self._outgoing[0][1]:
                del self._outgoing[0]
            if not self._outgoing:
                break
            data, waiting = self._outgoing[0]
            spectator = waiting.popleft()
            if spectator in self._spectators:
                spectator.show(data)
        if self._outgoing:
            self._wait(PAUSE_SECONDS)
        elif self._gathered:
            self._wait(GATHER_SECONDS)
