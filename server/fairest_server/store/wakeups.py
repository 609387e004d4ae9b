"""Wake-ups: the entries that other processes append to the logs of rooms that are open here, over pub/sub.

Pub/sub delivers at most once, so they are hints. A process that misses one finds the gap when the next one comes, or
when it compares the last positions of its logs. A connection that delivers nothing is noticed by a ping every second.
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

from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.room.steps import LogSlice
from fairest_server.store import keys
from fairest_server.store.log_entries import parse_wakeup
from fairest_server.store.redis.cluster_client import is_sharded, owner_of, partition_count

_LOG = structlog.get_logger(__name__)
_RETRY_SECONDS: Final = 0.5
_PING_SECONDS: Final = 1.0
SILENCE_SECONDS: Final = 3.0
"""After this long without a message, not even the reply to a ping, a subscription is replaced."""


class Wakeups:
    """Subscriptions to the rooms that are open in this process.

    `redis` must have no socket timeout, and is used for nothing else. `on_wakeup` is called with a room's code and the
    entries that another process, or this one, has appended to its log. Each part of Redis that can fail on its own has
    a connection of its own: a single Redis has one, a Cluster one for each bucket.
    """

    def __init__(self, redis: Redis, on_wakeup: Callable[[str, LogSlice], None]) -> None:
        self._listeners = [_BucketListener(redis, number, on_wakeup) for number in range(partition_count(redis))]

    def subscribe(self, room: str) -> None:
        """Call `on_wakeup` for this room from now on."""
        self._listener(room).subscribe(room)

    def unsubscribe(self, room: str) -> None:
        """Stop calling `on_wakeup` for this room."""
        self._listener(room).unsubscribe(room)

    def own_subscriptions(self, room: str) -> int:
        """Return how many of the subscriptions that Redis counts for a room are ours: 1 once it has confirmed ours."""
        return int(room in self._listener(room).confirmed)

    async def run(self) -> None:
        """Subscribe and listen until cancelled. A subscription that fails is replaced after half a second."""
        async with asyncio.TaskGroup() as tasks:
            for listener in self._listeners:
                tasks.create_task(listener.run())

    def _listener(self, room: str) -> "_BucketListener":
        return self._listeners[0 if len(self._listeners) == 1 else keys.bucket(room)]


class _BucketListener:
    """The subscription over one connection: of all rooms, or on a Cluster of those of one bucket, to its node."""

    def __init__(self, redis: Redis, number: int, on_wakeup: Callable[[str, LogSlice], None]) -> None:
        self._redis = redis
        self._keepalive_channel = keys.keepalive_channel(number)
        self._on_wakeup = on_wakeup
        self._rooms: set[str] = set()
        self.confirmed: set[str] = set()
        """The rooms whose subscription Redis has confirmed on this connection."""
        self._changed = asyncio.Event()
        self._last_message_at = 0.0

    def subscribe(self, room: str) -> None:
        """Call `on_wakeup` for this room from now on."""
        self._rooms.add(room)
        self._changed.set()

    def unsubscribe(self, room: str) -> None:
        """Stop calling `on_wakeup` for this room."""
        self._rooms.discard(room)
        self._changed.set()

    async def run(self) -> None:
        """Subscribe and listen until cancelled."""
        while True:
            with contained(Part.WAKEUPS):
                await self._run_subscription()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _run_subscription(self) -> None:
        """Subscribe over a new connection, and listen until it fails.

        The connection is never used again: redis-py would let two tasks reconnect it at the same time.
        """
        try:
            node = await owner_of(self._redis, self._keepalive_channel)
            channels = Channels(node.pubsub(), is_sharded=await is_sharded(self._redis))
        except (RedisError, OSError):
            return
        try:
            # Opens the connection that `_listen` reads from.
            await channels.add([self._keepalive_channel])
            self._last_message_at = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._subscribe(channels))
                tasks.create_task(self._listen(channels.pubsub))
                tasks.create_task(self._watch())
        except* (RedisError, OSError) as reasons:
            if self._last_message_at:
                _LOG.info(Event.SUBSCRIPTION_ENDED, reason=str(reasons.exceptions[0]))
            # A subscription that never began is not logged: while a node is away there are two a second.
            self._last_message_at = 0.0
        finally:
            self.confirmed.clear()
            await channels.close()

    async def _subscribe(self, channels: "Channels") -> None:
        subscribed: set[str] = set()
        next_ping = time.monotonic() + _PING_SECONDS
        while True:
            self._changed.clear()
            wanted = set(self._rooms)
            await channels.add(map(keys.log, wanted - subscribed))
            self.confirmed -= subscribed - wanted
            await channels.drop(map(keys.log, subscribed - wanted))
            subscribed = wanted
            # In a loop that also runs when rooms come and go: a ping must be sent however often they do.
            if time.monotonic() >= next_ping:
                next_ping = time.monotonic() + _PING_SECONDS
                await channels.ping()
            with suppress(TimeoutError):
                async with asyncio.timeout(next_ping - time.monotonic()):
                    await self._changed.wait()

    async def _listen(self, pubsub: PubSub) -> None:
        """Call `on_wakeup` for each message. Raises RedisError when the connection ends, or the bucket has moved."""
        while True:
            message = await pubsub.get_message(timeout=None)
            self._last_message_at = time.monotonic()
            if message is None:
                continue
            if message["type"] in ("message", "smessage"):
                room = _room_of(message["channel"])
                with contained(Part.ROOM, room=room):
                    self._on_wakeup(room, parse_wakeup(message["data"]))
            elif message["type"] in ("subscribe", "ssubscribe"):
                self.confirmed.add(_room_of(message["channel"]))
            elif message["type"] == "sunsubscribe" and message["channel"] == self._keepalive_channel.encode():
                # We never unsubscribe from this channel; the node does so when it gives the slot away.
                raise RedisConnectionError("the bucket has moved to another node")
            elif message["type"] in ("unsubscribe", "sunsubscribe"):
                # It may have been confirmed only after we had sent this.
                self.confirmed.discard(_room_of(message["channel"]))

    async def _watch(self) -> None:
        """Raise OSError after `SILENCE_SECONDS` without a message.

        A process that was held up reads late what has come, so a silence counts only if it had the time to read.
        """
        while True:
            slept_at = time.monotonic()
            await asyncio.sleep(_PING_SECONDS)
            woke_at = time.monotonic()
            had_time = woke_at - slept_at < 2 * _PING_SECONDS
            if had_time and woke_at - self._last_message_at > SILENCE_SECONDS:
                raise TimeoutError("no ping was answered")


def _room_of(channel: bytes) -> str:
    return channel.decode().rpartition(":")[2]


class Channels:
    """The channels of one connection: sharded ones where Redis has them, otherwise ordinary ones."""

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
        """Send PING, whose reply is a message. Raises RedisError.

        redis-py's own `ping` would reconnect if this fails, while the listener may do the same.
        """
        connection = self.pubsub.connection
        if connection is not None and connection.is_connected:
            await connection.send_command("PING", check_health=False)

    async def close(self) -> None:
        """End the connection, also under a task that reads from it."""
        if self.pubsub.connection is not None:
            await self.pubsub.connection.disconnect(nowait=True)
        await self.pubsub.aclose()  # type: ignore[no-untyped-call]
