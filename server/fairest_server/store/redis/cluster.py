"""A Redis Cluster behind the face of one Redis: each command goes to the node that serves its key.

redis-py has a client for Clusters as well; docs/decisions/0016-cluster.md says why this is not built on it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import structlog
from redis.asyncio import Redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import AskError, MovedError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis, Command

REDIRECTIONS: Final = 5
"""A command follows so many slots that have moved, or are about to."""
LEARN_SECONDS: Final = 0.5
"""However many commands find a node gone, the nodes are asked once in this time who serves what."""
_SHARDED_SINCE: Final = 7
"""The version of Redis from which on a channel belongs to the node that serves its slot."""
_AWAY: Final = (RedisConnectionError, RedisTimeoutError, OSError)
_ASKING: Final[Command] = (("ASKING",), {})
_LOG = structlog.get_logger(__name__)


class Cluster(BatchingRedis):
    """The nodes of a Cluster. A node that is away is no harm to commands for the others.

    `open_node` gives a client for a `host:port`, and with True one that is used once and never waits for long; `seeds`
    are nodes that know the others. A command has its key as the first argument, or is a script's run. What has no
    arguments goes to the node whose clock counts for the processes; all else is for one of `nodes`.
    """

    def __init__(self, seeds: Sequence[str], open_node: Callable[[str, bool], BatchingRedis]) -> None:
        super().__init__(connection_pool=open_node(seeds[0], False).connection_pool)
        self._open_node = open_node
        self._seeds = seeds
        self._owners: list[str] = [""] * REDIS_CLUSTER_HASH_SLOTS
        self._nodes: dict[str, BatchingRedis] = {}
        self._learning: asyncio.Task[None] | None = None
        self._asked_at = 0.0
        self._trouble = "nobody serves this slot"
        self.is_sharded = False
        """Whether channels belong to slots here. Known when the nodes are."""

    async def nodes(self) -> list[Redis]:
        """A client for each node that serves slots. Raises RedisError."""
        await self._learn()
        served = sorted(set(self._owners) - {""})
        if not served:
            raise RedisConnectionError(self._trouble)
        return [self._node(address) for address in served]

    async def owner(self, key: str) -> Redis:
        """A client for the node that serves this key, as the nodes say now. Raises RedisError."""
        await self._learn()
        return self._node(await self._owner(key_slot(key.encode())))

    async def send(self, slot: int, commands: Sequence[Command]) -> list[Any]:
        """The replies to these commands, all for one slot, in one round trip; an error in the place of a reply.

        Raises RedisError when the node is away, and nobody has taken its place.
        """
        replies: list[Any] = [None] * len(commands)
        places = list(range(len(commands)))
        asked = ""
        for _ in range(1 + REDIRECTIONS):
            address = asked or await self._owner(slot)
            try:
                found = await self._deliver(address, [commands[place] for place in places], is_asking=bool(asked))
            except _AWAY:
                asked = ""
                await self._learn(address)
                if self._owners[slot] == address:
                    raise
                continue
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply
            places = [place for place in places if isinstance(replies[place], AskError)]
            if not places:
                break
            # The last one says how things stand now. A node may leave out its own host.
            redirection = replies[places[-1]]
            host = redirection.host or address.rpartition(":")[0]
            elsewhere = _address(host, redirection.port)
            if isinstance(redirection, MovedError):
                self._owners[slot], asked = elsewhere, ""
            else:
                asked = elsewhere
        else:
            raise RedisConnectionError("the slot moves on and on")
        return replies

    async def send_commands(self, commands: Sequence[Command]) -> list[Any]:
        """As `BatchingRedis` says. Those for one slot share a round trip; what is away does not hold up the others."""
        places_by_slot: dict[int, list[int]] = {}
        for place, (words, _) in enumerate(commands):
            places_by_slot.setdefault(_slot(words), []).append(place)
        replies: list[Any] = [None] * len(commands)

        async def send_commands(slot: int, places: list[int]) -> None:
            try:
                found = await self.send(slot, [commands[place] for place in places])
            except (RedisError, OSError) as reason:
                found = [reason] * len(places)
            for place, reply in zip(places, found, strict=True):
                replies[place] = reply

        await asyncio.gather(*(send_commands(slot, places) for slot, places in places_by_slot.items()))
        return replies

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close all connections."""
        if self._learning is not None:
            await asyncio.wait([self._learning])
        for node in self._nodes.values():
            await node.aclose(close_connection_pool)

    async def _deliver(self, address: str, commands: Sequence[Command], *, is_asking: bool) -> list[Any]:
        if is_asking:
            # It counts for the next command on the same connection only.
            commands = [each for command in commands for each in (_ASKING, command)]
        replies = await self._node(address).send_commands(commands)
        return replies[1::2] if is_asking else replies

    def _node(self, address: str) -> BatchingRedis:
        if address not in self._nodes:
            self._nodes[address] = self._open_node(address, False)
        return self._nodes[address]

    async def _owner(self, slot: int) -> str:
        if not self._owners[slot]:
            await self._learn()
        if not self._owners[slot]:
            raise RedisConnectionError(self._trouble)
        return self._owners[slot]

    async def _learn(self, failed: str = "") -> None:
        """Learn who serves what, unless that was asked just now; what is known stays when no node answers."""
        is_done = self._learning is None or self._learning.done()
        if is_done and time.monotonic() - self._asked_at > LEARN_SECONDS:
            self._learning = asyncio.create_task(self._ask_nodes(failed))
        # A task of its own: it is never cancelled while it reads with a time limit (0002), whoever waits for it is.
        assert self._learning is not None
        await asyncio.shield(self._learning)

    async def _ask_nodes(self, failed: str) -> None:
        known = dict.fromkeys((*self._owners, *self._seeds))
        known.pop("", None)
        for address in sorted(known, key=lambda address: address == failed):
            try:
                await self._ask_node(address)
            except (RedisError, OSError) as reason:
                self._trouble = f"no node of the Cluster says who serves what: {reason}"
            else:
                break
        else:
            _LOG.warning("the nodes of the Cluster do not answer", reason=self._trouble)
        self._asked_at = time.monotonic()

    async def _ask_node(self, address: str) -> None:
        node = self._open_node(address, True)
        try:
            ranges = await cast("Any", node).execute_command("CLUSTER", "SLOTS")
            version = (await node.info("server"))["redis_version"]
        finally:
            await node.aclose()
        owners = [""] * REDIS_CLUSTER_HASH_SLOTS
        for first, last, (host, port, *_), *_ in ranges:
            # A node that does not know its own address leaves it out: it is the one by which we reached it.
            name = host.decode() if host else address.rpartition(":")[0]
            owners[first : last + 1] = [_address(name, port)] * (last + 1 - first)
        self._owners, self._trouble = owners, "nobody serves this slot"
        self.is_sharded = int(str(version).partition(".")[0]) >= _SHARDED_SINCE


def partition_count(redis: Redis) -> int:
    """How many parts of this Redis may fail on their own, and are written to and heard apart: buckets, or one."""
    return keys.BUCKETS if isinstance(redis, Cluster) else 1


async def nodes_of(redis: Redis) -> list[Redis]:
    """A client for each node; a Redis that is no Cluster is the only one. Raises RedisError."""
    return await redis.nodes() if isinstance(redis, Cluster) else [redis]


async def owner_of(redis: Redis, key: str) -> Redis:
    """A client for the node that serves this key. Raises RedisError."""
    return await redis.owner(key) if isinstance(redis, Cluster) else redis


async def is_sharded(redis: Redis) -> bool:
    """Whether channels belong to slots, so that SPUBLISH tells what is told. Raises RedisError."""
    if not isinstance(redis, Cluster):
        return False
    await redis.nodes()
    return redis.is_sharded


def _slot(words: Sequence[Any]) -> int:
    match words:
        case ("EVALSHA" | "EVAL", _, _, key, *_) | (_, key, *_):
            return key_slot(key if isinstance(key, bytes) else key.encode())
        case _:
            return key_slot(keys.PROCESSES.encode())


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"
