"""The public counts of the rooms of this process: shared with other processes every second, and sent to the viewers.

The lobby shows them as well. Both are told no more than the tick of a race has told everybody who watches.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Final

from redis.asyncio import Redis

from fairest_protocol.calculation.sliced import Sliced
from fairest_protocol.messages.from_server import Placed, Watching
from fairest_protocol.messages.options import Spectators
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.slices import Slices
from fairest_server.store.public_counts import NO_COUNTS, PublicCounts, PublicCountStore, read_counts

SPECTATORS_FOR_SECOND: Final = 200
"""For so many spectators of a room, its count is sent a second later than for few: each time costs a frame for each."""


class PublicCounting:
    """Counts the spectators of the rooms of this process. `rooms` are the open ones by their codes."""

    def __init__(self, store: PublicCountStore, redis: Redis, rooms: Mapping[str, LiveRoom], slices: Slices) -> None:
        self._store = store
        self._redis = redis
        self._rooms = rooms
        self._slices = slices
        self._told: dict[str, tuple[int, float]] = {}
        """The rooms whose viewers were told a count, with it, and when it was."""

    async def advance(self) -> None:
        """Write the counts of this process, read those of all, and tell the viewers. Raises RedisError."""
        await self._store.write(await self._slices.finish(counting(list(self._rooms.values()))))
        self._tell(await read_counts(self._redis), time.monotonic())

    def _tell(self, counts: Mapping[str, PublicCounts], now: float) -> None:
        """Send each room with another count than before its new one, at most once a second, and less often to many."""
        self._told = {code: told for code, told in self._told.items() if code in self._rooms}
        for code in counts.keys() | self._told.keys():
            room, watching = self._rooms.get(code), counts.get(code, NO_COUNTS).watching
            before, told_at = self._told.get(code, (0, 0.0))
            if room is not None and watching != before and now - told_at >= watching / SPECTATORS_FOR_SECOND:
                self._told[code] = (watching, now)
                room.subscribers.send_counts(Watching(watching=watching))


def counting(rooms: Iterable[LiveRoom]) -> Sliced[dict[str, PublicCounts]]:
    """Return what everybody may know of each of these rooms, without those of which there is nothing. In slices."""
    found = {}
    for room in rooms:
        yield
        counts = PublicCounts(len(room.subscribers.spectators), _placed(room))
        if counts != NO_COUNTS:
            found[room.code] = counts
    return found


def _placed(room: LiveRoom) -> tuple[int, int] | None:
    """Return the counts of the room's last tick, if the room is in the lobby and strangers may watch it."""
    options = room.state.options if room.state is not None else None
    is_public = options is not None and options.listed and options.spectators is not Spectators.CLOSED
    tick = room.subscribers.latest.get("placed") if is_public else None
    return tick.placed if isinstance(tick, Placed) else None
