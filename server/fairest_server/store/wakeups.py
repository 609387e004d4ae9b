"""Wake-ups: what other processes append to the rooms that are followed here, over pub/sub.

They are hints: pub/sub delivers at most once. Who misses one finds the gap with the next, or when tails are compared.
A connection that went deaf is noticed by a ping, which each is asked every second.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from fairest_server.ops.faults import contained
from fairest_server.room.steps import LogSlice
from fairest_server.store import keys
from fairest_server.store.log_entries import parse_wakeup
from fairest_server.store.redis.cluster import is_sharded, owner_of, partition_count

_LOG = structlog.get_logger(__name__)
_RETRY_SECONDS: Final = 0.5
_PING_SECONDS: Final = 1.0
DEAF_SECONDS: Final = 3.0
"""Not even a ping was answered for so long: the connection is dead, or Redis is away; a new one finds out which."""


class Wakeups:
    """The channels of the rooms that this process follows.

    `redis` is a client of its own without a socket time-out. `heard` is called with a room's code and what
    another process, or this one, just appended to it. Each part of Redis that may be away on its own is listened to
    over a connection of its own: a single Redis is one, a Cluster has one for each bucket.
    """

    def __init__(self, redis: Redis, heard: Callable[[str, LogSlice], None]) -> None:
        self._listeners = [_BucketListener(redis, number, heard) for number in range(partition_count(redis))]

    def subscribe(self, room: str) -> None:
        """Hear of this room from now on."""
        self._listener(room).subscribe(room)

    def unsubscribe(self, room: str) -> None:
        """Hear no more of this room."""
        self._listener(room).unsubscribe(room)

    async def run(self) -> None:
        """Subscribe and listen until cancelled. Tails are compared while Redis is away."""
        async with asyncio.TaskGroup() as tasks:
            for listener in self._listeners:
                tasks.create_task(listener.run())

    def _listener(self, room: str) -> "_BucketListener":
        return self._listeners[0 if len(self._listeners) == 1 else keys.bucket(room)]


class _BucketListener:
    """What is heard over one connection: everything, or on a Cluster the rooms of one bucket, at its node."""

    def __init__(self, redis: Redis, number: int, heard: Callable[[str, LogSlice], None]) -> None:
        self._redis = redis
        self._keepalive_channel = keys.keepalive_channel(number)
        self._heard = heard
        self._rooms: set[str] = set()
        self._changed = asyncio.Event()
        self._heard_at = 0.0

    def subscribe(self, room: str) -> None:
        """Hear of this room from now on."""
        self._rooms.add(room)
        self._changed.set()

    def unsubscribe(self, room: str) -> None:
        """Hear no more of this room."""
        self._rooms.discard(room)
        self._changed.set()

    async def run(self) -> None:
        """Subscribe and listen until cancelled."""
        while True:
            with contained("wake-ups"):
                await self._run_subscription()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _run_subscription(self) -> None:
        """One subscription, from its connection to its end.

        Nothing of it is used again: redis-py would have two tasks at work on one connection that is being replaced.
        """
        try:
            node = await owner_of(self._redis, self._keepalive_channel)
            channels = _Channels(node.pubsub(), is_sharded=await is_sharded(self._redis))
        except (RedisError, OSError):
            return
        try:
            # A first subscription opens the connection that the listener reads from.
            await channels.add([self._keepalive_channel])
            self._heard_at = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._subscribe(channels))
                tasks.create_task(self._listen(channels.pubsub))
                tasks.create_task(self._watch())
        except* (RedisError, OSError) as reasons:
            if self._heard_at:
                _LOG.info("a subscription ended, another one follows", reason=str(reasons.exceptions[0]))
            # Those that do not come about are not told: while a node is away there are two a second.
            self._heard_at = 0.0
        finally:
            await channels.close()

    async def _subscribe(self, channels: "_Channels") -> None:
        subscribed: set[str] = set()
        next_ping = time.monotonic() + _PING_SECONDS
        while True:
            self._changed.clear()
            wanted = set(self._rooms)
            await channels.add(map(keys.wakeup_channel, wanted - subscribed))
            await channels.drop(map(keys.wakeup_channel, subscribed - wanted))
            subscribed = wanted
            # However often rooms come and go.
            if time.monotonic() >= next_ping:
                next_ping = time.monotonic() + _PING_SECONDS
                await channels.ping()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + next_ping - time.monotonic()):
                    await self._changed.wait()

    async def _listen(self, pubsub: PubSub) -> None:
        """Raises RedisError when there is nothing more to hear over this connection."""
        while True:
            message = await pubsub.get_message(timeout=None)
            self._heard_at = time.monotonic()
            if message is None:
                continue
            if message["type"] in ("message", "smessage"):
                room = message["channel"].decode().rpartition(":")[2]
                with contained("a room", room=room):
                    self._heard(room, parse_wakeup(message["data"]))
            elif message["type"] == "sunsubscribe" and message["channel"] == self._keepalive_channel.encode():
                # We never leave this one: it is the node that has given the slot away.
                raise RedisConnectionError("the bucket has moved to another node")

    async def _watch(self) -> None:
        """Raises OSError when nothing was heard for too long."""
        while True:
            await asyncio.sleep(DEAF_SECONDS / 3)
            if time.monotonic() - self._heard_at > DEAF_SECONDS:
                raise TimeoutError("no ping was answered")


class _Channels:
    """What one connection is subscribed to: channels of a slot where there are such, otherwise ordinary ones."""

    def __init__(self, pubsub: PubSub, *, is_sharded: bool) -> None:
        self.pubsub = pubsub
        self._is_sharded = is_sharded

    async def add(self, channels: Iterable[str]) -> None:
        """Subscribe. Raises RedisError."""
        if names := list(channels):
            await (self.pubsub.ssubscribe(*names) if self._is_sharded else self.pubsub.subscribe(*names))

    async def drop(self, channels: Iterable[str]) -> None:
        """Unsubscribe. Raises RedisError."""
        if names := list(channels):
            await (self.pubsub.sunsubscribe(*names) if self._is_sharded else self.pubsub.unsubscribe(*names))

    async def ping(self) -> None:
        """Ask for a sign of life. Raises RedisError.

        Past redis-py's own `ping`, which would connect anew if that fails, while the listener may do the same.
        """
        connection = self.pubsub.connection
        if connection is not None and connection.is_connected:
            await connection.send_command("PING", check_health=False)

    async def close(self) -> None:
        """End the connection, whoever reads from it."""
        if self.pubsub.connection is not None:
            await self.pubsub.connection.disconnect(nowait=True)
        await self.pubsub.aclose()  # type: ignore[no-untyped-call]
