"""Wake-ups: what other processes append to the rooms that are followed here, over pub/sub.

They are hints: pub/sub delivers at most once. Who misses one finds the gap with the next, or when tails are compared.
A connection that went deaf is noticed by the beats of the processes, which are told every second.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from server.faults import contained
from server.store import keys
from server.store.log import Tail, parse_wake

_LOG = structlog.get_logger(__name__)
_RETRY_SECONDS: Final = 0.5
_DEAF_SECONDS: Final = 3.0
"""No beat for so long, not even our own: the connection is dead, or Redis is away; a new one finds out which."""


class Wakes:
    """The channels of the rooms that this process follows.

    `redis` is a client of its own without a socket time-out. `heard` is called with a room's code and what
    another process, or this one, just appended to it.
    """

    def __init__(self, redis: Redis, heard: Callable[[str, Tail], None]) -> None:
        self._redis = redis
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
        """Subscribe and listen until cancelled. Tails are compared while Redis is away."""
        while True:
            with contained("wake-ups"):
                await self._live()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _live(self) -> None:
        """One subscription, from its connection to its end.

        Nothing of it is used again: redis-py would have two tasks at work on one connection that is being replaced.
        """
        pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
        try:
            # A first subscription opens the connection that the listener reads from.
            await pubsub.subscribe(keys.BEATS)
            self._heard_at = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._subscribe(pubsub))
                tasks.create_task(self._listen(pubsub))
                tasks.create_task(self._watch())
        except* (RedisError, OSError) as reasons:
            _LOG.info("the subscription ended, another one follows", reason=str(reasons.exceptions[0]))
        finally:
            if pubsub.connection is not None:
                await pubsub.connection.disconnect(nowait=True)
            await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _subscribe(self, pubsub: PubSub) -> None:
        subscribed: set[str] = set()
        while True:
            self._changed.clear()
            wanted = set(self._rooms)
            if wanted - subscribed:
                await pubsub.subscribe(*map(keys.wake, wanted - subscribed))
            if subscribed - wanted:
                await pubsub.unsubscribe(*map(keys.wake, subscribed - wanted))
            subscribed = wanted
            await self._changed.wait()

    async def _listen(self, pubsub: PubSub) -> None:
        while True:
            message = await pubsub.get_message(timeout=None)
            if message:
                self._heard_at = time.monotonic()
            if message and message["channel"] != keys.BEATS.encode():
                room = message["channel"].decode().rpartition(":")[2]
                with contained("a room", room=room):
                    self._heard(room, parse_wake(message["data"]))

    async def _watch(self) -> None:
        """Raises OSError when nothing was heard for too long."""
        while True:
            await asyncio.sleep(_DEAF_SECONDS / 3)
            if time.monotonic() - self._heard_at > _DEAF_SECONDS:
                raise TimeoutError("no beat was heard")
