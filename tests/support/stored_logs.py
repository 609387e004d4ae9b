"""Logs that a test writes into Redis itself, past the append queue."""

from typing import Any, cast

from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Leave
from fairest_server.room.checkpoint import make_checkpoint
from fairest_server.room.events import Checkpoint
from fairest_server.store import keys
from tests.support.races import Table


def entry_text(index: int, tag: str, at_ms: int, *events: str) -> str:
    """Return an entry whose last event has this index."""
    return "\n".join((f"{at_ms:013} {index} {tag}", *events))


def any_checkpoint() -> Checkpoint:
    """Return the checkpoint of a room that its only player has left."""
    table = Table(1)
    table.submit(table.request(0, Leave()))
    checkpoint = make_checkpoint(table.steps, table.now_ms)
    assert checkpoint is not None
    return checkpoint


async def store_entries(redis: Redis, room: str, *entries: str) -> None:
    """Add these entries to a room's log."""
    await cast("Any", redis.rpush(keys.log(room), *entries))


async def stored_entries(redis: Redis, room: str) -> list[bytes]:
    """Return the entries of a room's log as Redis holds them."""
    return cast("list[bytes]", await cast("Any", redis.lrange(keys.log(room), 0, -1)))


async def count_entries(redis: Redis, room: str) -> int:
    """Return the number of entries of a room's log."""
    return len(await stored_entries(redis, room))


async def store_old_entry(redis: Redis, room: str, index: int, **fields: object) -> None:
    """Add an entry of version 0.1.0 to a room's log; without `fields`, a move."""
    words = fields or {"t": 1, "g": f"t{index}", "e": "0sa"}
    await redis.xadd(keys.log(room), cast("Any", words), id=f"{index}-0")
