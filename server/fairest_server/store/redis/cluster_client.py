"""A client for a Redis Cluster: each command goes to the node that serves the slot of its key.

docs/decisions/0016-cluster.md says why redis-py's client for Clusters is not used.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import structlog
from redis.asyncio import Redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import AskError, MovedError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from fairest_server.ops.events import Event
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.driver import RedisCommand

REDIRECTIONS: Final = 5
"""How often a command follows a slot that has moved, or is moving, before it fails."""
REFRESH_SECONDS: Final = 0.5
"""The nodes are asked at most once in this time which of them serves which slot, however many commands fail."""
_SHARDED_SINCE: Final = 7
"""The major version of Redis since which a channel can belong to the node that serves its slot."""
_AWAY: Final = (RedisConnectionError, RedisTimeoutError, OSError)
_ASKING: Final[RedisCommand] = (("ASKING",), {})
_UNSERVED: Final = "no node serves this slot"
_LOG = structlog.get_logger(__name__)


class Cluster(BatchingRedis):
    """A client for the nodes of a Cluster. A node that does not answer does not delay commands for the others.

    `seeds` are the `host:port` of nodes that know the others. `open_node` returns a client for a `host:port`; with True
    as its second argument the client is used once, and has a time limit. A command has its key as the first argument,
    or runs a script. A command without arguments goes to the node that holds the keys of the processes, whose clock
    counts for them; send all other commands over one of `nodes`.
    """

    def __init__(self, seeds: Sequence[str], open_node: Callable[[str, bool], BatchingRedis]) -> None:
        super().__init__(connection_pool=open_node(seeds[0], False).connection_pool)
        self._open_node = open_node
        self._seeds = seeds
        self._owners: list[str] = [""] * REDIS_CLUSTER_HASH_SLOTS
        self._nodes: dict[str, BatchingRedis] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._refreshed_at = -math.inf
        self._failure = _UNSERVED
        """The text of the error for a slot without a known node."""
        self.is_sharded = False
        """Whether channels belong to slots, once the nodes are known."""

    async def nodes(self) -> dict[str, Redis]:
        """Return a client for each node that serves slots, by its `host:port`. Raises RedisError."""
        await self._refresh()
        served = sorted(set(self._owners) - {""})
        if not served:
            raise RedisConnectionError(self._failure)
        return {address: self._node(address) for address in served}

    async def owner(self, key: str) -> Redis:
        """Return a client for the node that serves `key`, by the answer of a node just now. Raises RedisError."""
        await self._refresh()
        return self._node(await self._owner(key_slot(key.encode())))

    async def send(self, slot: int, commands: Sequence[RedisCommand]) -> list[Any]:
        """Send `commands`, all for one slot, in one round trip; return their replies, errors in their places.

        Raises RedisError when the node is away and no other node has taken its place.
        """
        replies: list[Any] = [None] * len(commands)
        places = list(range(len(commands)))
        redirected = ""
        for _ in range(1 + REDIRECTIONS):
            address = redirected or await self._owner(slot)
            try:
                found = await self._deliver(address, [commands[place] for place in places], is_asking=bool(redirected))
            except _AWAY:
                redirected = ""
                await self._refresh(address)
                if self._owners[slot] == address:
                    raise
                continue
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply
            places = [place for place in places if isinstance(replies[place], AskError)]
            if not places:
                break
            # The last redirection is the newest. A node may leave out its own host.
            redirection = replies[places[-1]]
            host = redirection.host or address.rpartition(":")[0]
            elsewhere = _address(host, redirection.port)
            if isinstance(redirection, MovedError):
                self._owners[slot], redirected = elsewhere, ""
            else:
                redirected = elsewhere
        else:
            raise RedisConnectionError(f"the slot was still moving after {REDIRECTIONS} redirections")
        return replies

    async def send_commands(self, commands: Sequence[RedisCommand]) -> list[Any]:
        """Send `commands` and return their replies in order, errors in their places.

        Commands for one slot share a round trip. Those for a node that is away do not delay the others; their replies
        are errors.
        """
        places_by_slot: dict[int, list[int]] = {}
        for place, (words, _) in enumerate(commands):
            places_by_slot.setdefault(_slot(words), []).append(place)
        replies: list[Any] = [None] * len(commands)

        async def send_to_slot(slot: int, places: list[int]) -> None:
            try:
                found = await self.send(slot, [commands[place] for place in places])
            except (RedisError, OSError) as reason:
                found = [reason] * len(places)
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply

        await asyncio.gather(*(send_to_slot(slot, places) for slot, places in places_by_slot.items()))
        return replies

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close the connections to all nodes."""
        if self._refreshing is not None:
            await asyncio.wait([self._refreshing])
        for node in self._nodes.values():
            await node.aclose(close_connection_pool)

    async def _deliver(self, address: str, commands: Sequence[RedisCommand], *, is_asking: bool) -> list[Any]:
        if is_asking:
            # ASKING counts only for the next command on the same connection.
            commands = [each for command in commands for each in (_ASKING, command)]
        replies = await self._node(address).send_commands(commands)
        return replies[1::2] if is_asking else replies

    def _node(self, address: str) -> BatchingRedis:
        if address not in self._nodes:
            self._nodes[address] = self._open_node(address, False)
        return self._nodes[address]

    async def _owner(self, slot: int) -> str:
        if not self._owners[slot]:
            await self._refresh()
        if not self._owners[slot]:
            raise RedisConnectionError(self._failure)
        return self._owners[slot]

    async def _refresh(self, failed: str = "") -> None:
        """Ask which node serves which slot, at most once in `REFRESH_SECONDS`. `failed` is asked last.

        When no node answers, the slots stay as they were.
        """
        is_done = self._refreshing is None or self._refreshing.done()
        if is_done and time.monotonic() - self._refreshed_at > REFRESH_SECONDS:
            self._refreshing = asyncio.create_task(self._ask_nodes(failed))
        # The callers that wait may be cancelled; a read of redis-py with a time limit may not
        # (docs/decisions/0002-redis-client.md).
        assert self._refreshing is not None
        await asyncio.shield(self._refreshing)

    async def _ask_nodes(self, failed: str) -> None:
        known = dict.fromkeys((*self._owners, *self._seeds))
        known.pop("", None)
        for address in sorted(known, key=lambda address: address == failed):
            try:
                await self._ask_node(address)
            except (RedisError, OSError) as reason:
                self._failure = f"no node of the Cluster says which slots it serves: {reason}"
            else:
                break
        else:
            _LOG.warning(Event.CLUSTER_SILENT, reason=self._failure)
        self._refreshed_at = time.monotonic()

    async def _ask_node(self, address: str) -> None:
        node = self._open_node(address, True)
        try:
            ranges = await cast("Any", node).execute_command("CLUSTER", "SLOTS")
            version = (await node.info("server"))["redis_version"]
        finally:
            await node.aclose()
        owners = [""] * REDIS_CLUSTER_HASH_SLOTS
        for first, last, (host, port, *_), *_ in ranges:
            # A node that does not know its own address leaves it out: then it is the address by which we reached it.
            name = host.decode() if host else address.rpartition(":")[0]
            owners[first : last + 1] = [_address(name, port)] * (last + 1 - first)
        self._owners, self._failure = owners, _UNSERVED
        self.is_sharded = int(str(version).partition(".")[0]) >= _SHARDED_SINCE


def partition_count(redis: Redis) -> int:
    """Return how many parts of this Redis can fail on their own: one, or the number of buckets on a Cluster.

    Each part has connections of its own, for appends and for wake-ups.
    """
    return keys.BUCKETS if isinstance(redis, Cluster) else 1


async def nodes_of(redis: Redis) -> list[Redis]:
    """Return a client for each node of a Cluster, or the client itself for a single Redis. Raises RedisError."""
    return list((await redis.nodes()).values()) if isinstance(redis, Cluster) else [redis]


async def owner_of(redis: Redis, key: str) -> Redis:
    """Return a client for the node that serves `key`. Raises RedisError."""
    return await redis.owner(key) if isinstance(redis, Cluster) else redis


async def is_sharded(redis: Redis) -> bool:
    """Return whether channels belong to slots, so that messages are sent with SPUBLISH. Raises RedisError."""
    if not isinstance(redis, Cluster):
        return False
    await redis.nodes()
    return redis.is_sharded


async def channel_commands(redis: Redis) -> str:
    """Return the line of Lua that names the commands which publish and which count the subscriptions to a channel.

    There is no count on a Cluster without sharded channels, whose nodes count their own only. Raises RedisError.
    """
    if await is_sharded(redis):
        return "local publish, count = 'SPUBLISH', 'SHARDNUMSUB'\n"
    count = "nil" if isinstance(redis, Cluster) else "'NUMSUB'"
    return f"local publish, count = 'PUBLISH', {count}\n"


def _slot(words: Sequence[Any]) -> int:
    """Return the slot of the command's key; without a key, that of the keys of the processes."""
    match words:
        case ("EVALSHA" | "EVAL", _, _, key, *_) | (_, key, *_):
            return key_slot(key if isinstance(key, bytes) else key.encode())
        case _:
            return key_slot(keys.PROCESSES.encode())


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"
