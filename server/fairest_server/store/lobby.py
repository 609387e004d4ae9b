"""The lobby: the listed rooms of all buckets, as the script that appends to their logs left them."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom, LobbyPage
from fairest_server.store import keys

PAGE_ROOMS: Final = 50
STALE_SECONDS: Final = 1.0
"""However many ask, the lobby is read once in this time."""


class Lobby:
    """The listed rooms on one Redis, read anew when what is known is stale."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._rooms: Sequence[ListedRoom] = ()
        self._read_at = -STALE_SECONDS
        self._reading: asyncio.Task[None] | None = None

    async def page(self, number: int) -> LobbyPage:
        """A page, from 0; one behind the last is empty. Raises RedisError. Safe to cancel."""
        if self._reading is None and time.monotonic() - self._read_at > STALE_SECONDS:
            self._reading = asyncio.create_task(self._read())
        if self._reading is not None:
            await asyncio.shield(self._reading)
        return make_page(self._rooms, number)

    async def _read(self) -> None:
        """One read, for all who ask meanwhile."""
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for number in range(keys.BUCKETS):
                pipeline.hvals(keys.lobby(number))
            found = cast("list[list[bytes]]", await pipeline.execute())
            listed = [room for bucket in found for text in bucket if (room := _parse(text))]
            self._rooms = in_order(listed)
            self._read_at = time.monotonic()
        finally:
            self._reading = None


def in_order(rooms: Iterable[ListedRoom]) -> list[ListedRoom]:
    """Those with a free seat first, then the newest."""
    return sorted(rooms, key=lambda listed: (listed.phase is not Phase.WAITING, -listed.since_ms, listed.room))


def make_page(rooms: Sequence[ListedRoom], number: int) -> LobbyPage:
    """A page of these rooms."""
    first = number * PAGE_ROOMS
    return LobbyPage(
        page=number,
        pages=-(-len(rooms) // PAGE_ROOMS),
        total=len(rooms),
        rooms=tuple(rooms[first : first + PAGE_ROOMS]),
    )


def _parse(text: bytes) -> ListedRoom | None:
    """A line of the lobby, or None for one that a process of another version has written."""
    try:
        return ListedRoom.model_validate_json(text)
    except ValueError:
        return None
