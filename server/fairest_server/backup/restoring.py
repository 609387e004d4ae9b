"""Writing a backup into an empty Redis, in such a way that no server takes half of it for the whole."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis

from fairest_server.backup.entries import (
    Entry,
    Fields,
    Items,
    Members,
    Room,
    Scores,
    Stream,
    Text,
    as_bytes,
)
from fairest_server.backup.file import BackupFacts, read_entries
from fairest_server.store import keys
from fairest_server.store.redis.cluster_client import nodes_of

_AT_ONCE: Final = 500
"""Commands that share a round trip."""
_CONNECTION: Final = re.compile(r'"link":"([0-9a-f]+)-')
"""A connection in an event, whose id begins with that of its process."""

Command = tuple[str | bytes, ...]


class CannotRestore(Exception):
    """A backup may not be restored here; the text says why and what to do."""


class Restored:
    """Counts of a restore."""

    def __init__(self) -> None:
        self.entries = 0
        self.expired = 0
        """Entries that were left out, because they have expired since the backup."""


async def restore_entries(
    redis: Redis, path: Path, facts: BackupFacts, on_progress: Callable[[Restored], None]
) -> Restored:
    """Write the entries of a checked backup into an empty Redis, and count its keys afterwards.

    While it lasts, and after it was killed, the key `RESTORING` keeps servers from starting. It may be run again with
    the same file. Raises `CannotRestore`, `BadBackup`, OSError and RedisError.
    """
    await _begin(redis, facts)
    seconds, microseconds = await redis.time()
    now_ms = seconds * 1000 + microseconds // 1000
    restored, names, expiring = Restored(), set[bytes](), dict[bytes, int]()
    waiting: list[Command] = []
    for entry in read_entries(path):
        restored.entries += 1
        if 0 < entry.expires_at_ms <= now_ms:
            restored.expired += 1
            continue
        for command in _commands(entry):
            waiting.append(command)
            names.add(_bytes(command[1]))
            if command[0] == "PEXPIREAT":
                expiring[_bytes(command[1])] = entry.expires_at_ms
        if len(waiting) >= _AT_ONCE:
            await _send(redis, waiting)
            waiting = []
            on_progress(restored)
    await _send(redis, waiting)
    seconds, _ = await redis.time()
    fewest = len(names) - sum(at_ms <= (seconds + 1) * 1000 for at_ms in expiring.values())
    # One key more says that this restore is under way.
    found = await count_keys(redis) - 1
    if not fewest <= found <= len(names):
        raise CannotRestore(f"Redis holds {found} keys after the restore and should hold {len(names)}: do not use it")
    await redis.delete(keys.RESTORING)
    return restored


async def count_keys(redis: Redis) -> int:
    """Return the number of keys, of all nodes of a Cluster together. Raises RedisError."""
    return sum([await node.dbsize() for node in await nodes_of(redis)])


async def _begin(redis: Redis, facts: BackupFacts) -> None:
    begun = await redis.get(keys.RESTORING)
    if begun is None and await count_keys(redis):
        raise CannotRestore(
            "this Redis is not empty; restore into one that is, with all servers stopped: they would write into it"
        )
    if begun not in (None, facts.sha256.encode()):
        raise CannotRestore("the restore of another backup was begun here; end it with that file, or empty this Redis")
    await redis.set(keys.RESTORING, facts.sha256)


async def _send(redis: Redis, commands: list[Command]) -> None:
    pipeline = redis.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    if commands:
        await pipeline.execute()


def _commands(entry: Entry) -> Iterator[Command]:
    """Yield the commands that write an entry. They may be sent again; the key is the first argument of each."""
    key = as_bytes(keys.log(entry.room) if isinstance(entry, Room) else entry.key)
    match entry:
        case Text(text=text):
            yield "SET", key, as_bytes(text)
        case Fields(fields=fields):
            yield "HSET", key, *(as_bytes(word) for pair in fields.items() for word in pair)
        case Items(items=items):
            yield "DEL", key
            yield "RPUSH", key, *map(as_bytes, items)
        case Members(members=members):
            yield "SADD", key, *map(as_bytes, members)
        case Scores(scores=scores):
            yield "ZADD", key, *(as_bytes(word) for member, score in scores.items() for word in (score, member))
        case Stream(entries=entries):
            yield "DEL", key
            for entry_id, words in entries:
                yield "XADD", key, entry_id, *map(as_bytes, words)
        case Room(log=log):
            yield "DEL", key
            yield "RPUSH", key, *map(as_bytes, log)
            yield from _index_room(entry)
    if entry.expires_at_ms:
        yield "PEXPIREAT", key, str(entry.expires_at_ms)


def _index_room(entry: Room) -> Iterator[Command]:
    names = keys.of_room(entry.room)
    if entry.next_check is not None:
        yield "ZADD", names.deadlines, entry.next_check, entry.room
    if entry.lobby is not None:
        yield "HSET", names.lobby, entry.room, as_bytes(entry.lobby)
    # No process of the backup lives any more. Those that ever spoke for a player of this room count as lapsed, so that
    # the room learns it, also from a process that came or went while the backup was taken.
    processes = {found for text in entry.log for found in _CONNECTION.findall(text)}
    for process_id in sorted(processes) if not entry.expires_at_ms else ():
        yield "SADD", keys.attached_rooms(process_id), entry.room
        yield "ZADD", keys.PROCESSES, "0", process_id


def _bytes(word: Any) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()
