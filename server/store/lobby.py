"""The lobby: the listed rooms of all buckets, as the script that appends to their logs left them."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final, cast

from redis.asyncio import Redis

from protocol.messages.fields import Phase
from protocol.messages.from_server import ListedRoom, LobbyPage
from server.store import keys

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
            self._rooms = [ListedRoom.model_validate_json(text) for bucket in found for text in bucket]
            self._read_at = time.monotonic()
        finally:
            self._reading = None


def make_page(rooms: Sequence[ListedRoom], number: int) -> LobbyPage:
    """A page of these rooms: those with a free seat first, then the newest."""
    ordered = sorted(rooms, key=lambda listed: (listed.phase is not Phase.WAITING, -listed.since_ms, listed.room))
    first = number * PAGE_ROOMS
    return LobbyPage(
        page=number,
        pages=-(-len(ordered) // PAGE_ROOMS),
        total=len(ordered),
        rooms=tuple(ordered[first : first + PAGE_ROOMS]),
    )
