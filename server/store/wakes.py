"""Wake-ups: what other processes append to the rooms that are followed here, over pub/sub.

They are hints: pub/sub delivers at most once. Who misses one finds the gap with the next, or when tails are compared.
A connection that went deaf is noticed by the beats of the processes, which are told every second.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.faults import contained
from server.store import keys
from server.store.log import Tail, parse_wake

_RETRY_SECONDS: Final = 0.5
_DEAF_SECONDS: Final = 3.0
"""No beat for so long, not even our own: the connection is dead, or Redis is away; a new one finds out which."""


class Wakes:
    """The channels of the rooms that this process follows.

    `redis` is a client of its own without a socket time-out. `heard` is called with a room's code and what
    another process, or this one, just appended to it.
    """

    def __init__(self, redis: Redis, heard: Callable[[str, Tail], None]) -> None:
        self._pubsub = redis.pubsub(ignore_subscribe_messages=True)
        self._heard = heard
        self._rooms: set[str] = set()
        self._changed = asyncio.Event()
        self._heard_at = 0.0

    def follow(self, room: str) -> None:
        """Hear of this room from now on."""
        self._rooms.add(room)
        self._changed.set()

    def unfollow(self, room: str) -> None:
        """Hear no more of this room."""
        self._rooms.discard(room)
        self._changed.set()

    async def run(self) -> None:
        """Subscribe and listen until cancelled."""
        # A first subscription opens the connection that the listener reads from.
        await self._retrying(self._pubsub.subscribe, keys.BEATS)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._subscribe())
            tasks.create_task(self._listen())
            tasks.create_task(self._replace_deaf())

    async def _subscribe(self) -> None:
        subscribed: set[str] = set()
        while True:
            await self._changed.wait()
            self._changed.clear()
            wanted = set(self._rooms)
            if wanted - subscribed:
                await self._retrying(self._pubsub.subscribe, *map(keys.wake, wanted - subscribed))
            if subscribed - wanted:
                await self._retrying(self._pubsub.unsubscribe, *map(keys.wake, subscribed - wanted))
            subscribed = wanted

    async def _listen(self) -> None:
        while True:
            message = await self._retrying(partial(self._pubsub.get_message, timeout=None))
            if message:
                self._heard_at = time.monotonic()
            if message and message["channel"] != keys.BEATS.encode():
                room = message["channel"].decode().rpartition(":")[2]
                with contained("a room", room=room):
                    self._heard(room, parse_wake(message["data"]))

    async def _replace_deaf(self) -> None:
        """Let the listener connect and subscribe anew when it has heard nothing for too long."""
        self._heard_at = time.monotonic()
        while True:
            await asyncio.sleep(_DEAF_SECONDS / 3)
            connection = self._pubsub.connection
            if connection is not None and time.monotonic() - self._heard_at > _DEAF_SECONDS:
                self._heard_at = time.monotonic()
                await connection.disconnect(nowait=True)

    async def _retrying(self, ask: Callable[..., Awaitable[Any]], *channels: str) -> Any:
        """What Redis answers, however long it is away; tails are compared meanwhile."""
        while True:
            try:
                return await ask(*channels)
            except (RedisError, OSError):
                await asyncio.sleep(_RETRY_SECONDS)
