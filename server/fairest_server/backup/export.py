"""Reading everything that Fairest keeps in Redis, beside running servers.

A room is read at one instant, its log together with its deadline and its entry in the lobby. Other keys are read one
by one, since none of them says anything about another. The keys of the processes come last: whatever the logs hold had
happened when the last heartbeat was read, and the time after it counts as a pause. The chain of rounds comes after the
outboxes and the marks of what it has: an entry may then join it a second time after a restore, and none is lost.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from fairest_server.backup.entries import Entry, Fields, Items, Members, Room, Scores, Stream, Text, as_text
from fairest_server.store import keys
from fairest_server.store.old_logs import OLD_ENTRIES, is_old_log
from fairest_server.store.redis.batching_client import RAW_REPLY
from fairest_server.store.redis.cluster_client import nodes_of
from fairest_server.store.redis.scripts import Script

_PAGE: Final = 200
"""Keys for each step of SCAN."""
_LATE: Final = ("fairest:{processes}:", keys.ROUND_CHAIN)
_BUCKETS: Final = frozenset(
    name(number) for number in range(keys.BUCKETS) for name in (keys.deadlines, keys.lobby, keys.signing_key_copy)
)
"""Keys whose content comes with the rooms, and the copies of the signing key."""

_Read = Callable[[str, int, Any], Entry]
_READERS: Final[Mapping[str, tuple[Sequence[str], _Read]]] = {
    "string": (("GET",), lambda key, expires, reply: Text(key, expires, as_text(reply))),
    "hash": (("HGETALL",), lambda key, expires, reply: Fields(key, expires, _pairs(reply))),
    "list": (("LRANGE", "0", "-1"), lambda key, expires, reply: Items(key, expires, list(map(as_text, reply)))),
    "set": (("SMEMBERS",), lambda key, expires, reply: Members(key, expires, sorted(map(as_text, reply)))),
    "zset": (
        ("ZRANGE", "0", "-1", "WITHSCORES"),
        lambda key, expires, reply: Scores(key, expires, _pairs(reply)),
    ),
    "stream": (("XRANGE", "-", "+"), lambda key, expires, reply: Stream(key, expires, _entries(reply))),
}


class CannotExport(Exception):
    """Redis holds something that cannot become a backup; the text says what, and why."""


async def export_entries(redis: Redis) -> AsyncIterator[Entry]:
    """Yield an entry for each key of Fairest, and for each room. Raises RedisError and `CannotExport`."""
    if await redis.exists(keys.RESTORING):
        raise CannotExport("a restore into this Redis has not ended: it holds only a part of a backup")
    read_room, seen, late = Script("export_room.lua", head=OLD_ENTRIES), set[str](), list[str]()
    for node in await nodes_of(redis):
        cursor: Any = None
        while cursor != 0:
            cursor, page = await node.scan(cursor or 0, match="fairest:*", count=_PAGE)
            # SCAN may return a key twice.
            found = [key for key in dict.fromkeys(map(_key, page)) if key not in seen]
            seen.update(found)
            late += [key for key in found if key.startswith(_LATE)]
            logs = [key for key in found if _is_log(key)]
            for key in logs:
                room = await _read_room(redis, read_room, key.partition(":log:")[2])
                if room is not None:
                    yield room
            others = [key for key in found if not (key.startswith(_LATE) or _is_log(key) or key in _BUCKETS)]
            for entry in await _read_keys(redis, others):
                yield entry
    # The last heartbeat is the last of all.
    late.sort(key=lambda key: key == keys.LAST_HEARTBEAT)
    for key in late:
        for entry in await _read_keys(redis, [key]):
            yield entry


async def _read_room(redis: Redis, script: Script, room: str) -> Room | None:
    names = keys.of_room(room)
    try:
        reply = await script.run(redis, [names.log, names.deadlines, names.lobby], [room])
    except ResponseError as error:
        if not is_old_log(error):
            raise
        raise CannotExport(f"the key {names.log!r} is not the log of a room; delete it if it is of no use") from None
    log, expires_at_ms, next_check, lobby = reply
    if not log:
        return None
    return Room(room, int(expires_at_ms), list(map(as_text, log)), _optional(next_check), _optional(lobby))


async def _read_keys(redis: Redis, names: Sequence[str]) -> list[Entry]:
    if not names:
        return []
    pipeline = redis.pipeline(transaction=False)
    for name in names:
        pipeline.execute_command("TYPE", name, **RAW_REPLY)
    kinds = [as_text(kind) for kind in await pipeline.execute()]
    chosen = [(name, kind) for name, kind in zip(names, kinds, strict=True) if kind != "none"]
    unknown = [name for name, kind in chosen if kind not in _READERS]
    if unknown:
        raise CannotExport(f"the key {unknown[0]!r} is of a type that no key of Fairest has")
    seconds, microseconds = await redis.time()
    now_ms = seconds * 1000 + microseconds // 1000
    pipeline = redis.pipeline(transaction=False)
    for name, kind in chosen:
        (command, *arguments), _ = _READERS[kind]
        # Redis-py would make objects of the replies; the words that Redis sends are wanted.
        pipeline.execute_command(command, name, *arguments, **RAW_REPLY)
        pipeline.execute_command("PTTL", name, **RAW_REPLY)
    replies = await pipeline.execute()
    entries = []
    for (name, kind), value, left_ms in zip(chosen, replies[::2], replies[1::2], strict=True):
        # -2 is a key that has gone meanwhile, -1 one that does not expire.
        is_there = value is not None and left_ms != -2
        # A stream may be a key without entries, and a restore writes entries.
        if is_there and (value or kind != "stream"):
            entries.append(_READERS[kind][1](name, now_ms + left_ms if left_ms >= 0 else 0, value))
    return entries


def _key(name: object) -> str:
    return as_text(cast("bytes", name))


def _is_log(key: str) -> bool:
    return ":log:" in key and key == keys.log(key.partition(":log:")[2])


def _pairs(reply: Any) -> dict[str, str]:
    words = [as_text(word) for word in reply]
    return dict(zip(words[::2], words[1::2], strict=True))


def _entries(reply: Any) -> list[tuple[str, list[str]]]:
    return [(as_text(entry_id), [as_text(word) for word in fields]) for entry_id, fields in reply]


def _optional(reply: Any) -> str | None:
    return None if reply is None else as_text(reply)
