"""Moving records of finished matches from Redis to an archive, beside running servers."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from fairest_server.archive.record_archive import RecordArchive
from fairest_server.archive.record_proof import BrokenRecord
from fairest_server.store import keys
from fairest_server.store.records import RecordStore
from fairest_server.store.redis.cluster_client import nodes_of

AT_ONCE: Final = 8
"""Records under way at the same time: object storage takes a tenth of a second for each step of one."""
_MATCH_ID: Final = re.compile("[0-9a-f]{32}")


@dataclass(slots=True)
class Moved:
    """The results for the records seen so far."""

    moved: int = 0
    kept: int = 0
    """Records that are not old enough."""
    broken: list[str] = field(default_factory=list)
    """A sentence for each record that was left in Redis because of a fault."""

    @property
    def seen(self) -> int:
        """The number of records looked at."""
        return self.moved + self.kept + len(self.broken)


async def move_records(
    redis: Redis, archive: RecordArchive, older_than_days: float, on_progress: Callable[[Moved], None]
) -> Moved:
    """Move the records of matches that finished more than `older_than_days` ago, by Redis' clock.

    A record is deleted in Redis once the archive has given it back, byte for byte. Safe to end at any moment, to
    repeat, and to run twice at the same time. Raises RedisError and `ArchiveUnavailable`.
    """
    seconds, microseconds = await redis.time()
    finished_before_ms = seconds * 1000 + microseconds // 1000 - older_than_days * 86_400_000
    moved, records = Moved(), RecordStore(redis)
    for node in await nodes_of(redis):
        cursor: Any = None
        while cursor != 0:
            cursor, found = await node.scan(cursor or 0, match=RecordStore.key_pattern, count=500)
            names = [cast("bytes", key).decode(errors="replace") for key in found]
            matches = [match_id for name in names if (match_id := _match_id(moved, name))]
            old = await _finished_before(records, moved, matches, finished_before_ms)
            for start in range(0, len(old), AT_ONCE):
                await asyncio.gather(*(_move(records, archive, moved, each) for each in old[start : start + AT_ONCE]))
                on_progress(moved)
    return moved


async def _finished_before(
    records: RecordStore, moved: Moved, matches: Sequence[str], finished_before_ms: float
) -> list[str]:
    """Return the matches that finished before this time, and those whose time cannot be read."""
    old = []
    for match_id, head in zip(matches, await records.heads(matches), strict=True):
        try:
            finished_at_ms = int(json.loads(head.partition(b"\n")[0])["finished_at_ms"])
        except (ValueError, KeyError, TypeError):
            # The proof will say what is wrong with it.
            finished_at_ms = 0
        if finished_at_ms < finished_before_ms:
            old.append(match_id)
        else:
            moved.kept += 1
    return old


async def _move(records: RecordStore, archive: RecordArchive, moved: Moved, match_id: str) -> None:
    try:
        text = await records.read(match_id)
        if text is None:
            # Another run was faster, or SCAN returned the key twice.
            return
        await asyncio.to_thread(archive.keep, match_id, text + b"\n")
    except ResponseError as reason:
        moved.broken.append(f"{match_id}: it is not a record ({reason})")
        return
    except BrokenRecord as reason:
        moved.broken.append(f"{match_id}: {reason}")
        return
    if await records.remove(match_id, text):
        moved.moved += 1


def _match_id(moved: Moved, key: str) -> str | None:
    """Return the match of a record by its key; None for a key that no server writes, which counts as broken."""
    match_id = key.rpartition(":")[2]
    if _MATCH_ID.fullmatch(match_id) and keys.record(match_id) == key:
        return match_id
    moved.broken.append(f"{key}: no record has such a key")
    return None
