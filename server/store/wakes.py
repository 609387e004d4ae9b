"""Wake-ups: what other processes append to the rooms that are followed here, over pub/sub.

They are hints: pub/sub delivers at most once. Who misses one finds the gap with the next, or when tails are compared.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.faults import contained
from server.store import keys
from server.store.log import Logged, parse_wake

_RETRY_SECONDS = 0.5


class Wakes:
    """The channels of the rooms that this process follows.

    `redis` is a client of its own without a socket time-out. `heard` is called with a room's code and the entries
    that another process, or this one, just appended to it.
    """

    def __init__(self, redis: Redis, heard: Callable[[str, list[Logged]], None]) -> None:
        self._pubsub = redis.pubsub(ignore_subscribe_messages=True)
        self._heard = heard
        self._rooms: set[str] = set()
        self._changed = asyncio.Event()

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
        await self._retrying(self._pubsub.subscribe, keys.PROCESSES)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._subscribe())
            tasks.create_task(self._listen())

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
                room = message["channel"].decode().rpartition(":")[2]
                with contained("a room", room=room):
                    self._heard(room, parse_wake(message["data"]))

    async def _retrying(self, ask: Callable[..., Awaitable[Any]], *channels: str) -> Any:
        """What Redis answers, however long it is away; tails are compared meanwhile."""
        while True:
            try:
                return await ask(*channels)
            except (RedisError, OSError):
                await asyncio.sleep(_RETRY_SECONDS)
