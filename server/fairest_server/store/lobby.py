"""The lobby: the listed rooms of all buckets, as append.lua has written them."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_server.store import keys
from fairest_server.store.public_counts import NO_COUNTS, PublicCounts, read_counts

PAGE_ROOMS: Final = 50
STALE_SECONDS: Final = 1.0
"""The lobby is read at most once in this time, however many clients ask for it."""


class Lobby:
    """The listed rooms on one Redis, read again when they are stale."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._rooms: Sequence[ListedRoom] = ()
        self._read_at = -STALE_SECONDS
        self._reading: asyncio.Task[None] | None = None

    async def page(self, number: int) -> LobbyPage:
        """Return page `number`, counted from 0; a page after the last is empty. Raises RedisError. Safe to cancel."""
        if self._reading is None and time.monotonic() - self._read_at > STALE_SECONDS:
            self._reading = asyncio.create_task(self._read())
        if self._reading is not None:
            await asyncio.shield(self._reading)
        return make_page(self._rooms, number)

    async def _read(self) -> None:
        """Read the lobby once for all callers that wait."""
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for number in range(keys.BUCKETS):
                pipeline.hvals(keys.lobby(number))
            found = cast("list[list[bytes]]", await pipeline.execute())
            listed = [room for bucket in found for text in bucket if (room := _parse(text))]
            counts = await read_counts(self._redis)
            self._rooms = in_order(_with_counts(room, counts.get(room.room, NO_COUNTS)) for room in listed)
            self._read_at = time.monotonic()
        finally:
            self._reading = None


def _with_counts(listed: ListedRoom, counts: PublicCounts) -> ListedRoom:
    """Return the entry with what the processes say of the room. Counts of a race that is over may still be there."""
    is_racing = listed.phase is Phase.RACING
    return listed.model_copy(update={"watching": counts.watching, "placed": counts.placed if is_racing else None})


def in_order(rooms: Iterable[ListedRoom]) -> list[ListedRoom]:
    """Sort rooms: those with a free seat first, then the newest."""
    return sorted(rooms, key=lambda listed: (listed.phase is not Phase.WAITING, -listed.since_ms, listed.room))


def make_page(rooms: Sequence[ListedRoom], number: int) -> LobbyPage:
    """Return page `number` of these rooms, counted from 0."""
    first = number * PAGE_ROOMS
    return LobbyPage(
        page=number,
        pages=-(-len(rooms) // PAGE_ROOMS),
        total=len(rooms),
        rooms=tuple(rooms[first : first + PAGE_ROOMS]),
    )


def _parse(text: bytes) -> ListedRoom | None:
    """Parse an entry of the lobby; None for one that a process of another version has written."""
    try:
        return ListedRoom.model_validate_json(text)
    except ValueError:
        return None
