"""What everybody may know of a room in numbers: its spectators, and the cards placed at the last tick.

Each process keeps one string with the counts of the rooms that it shows. They are about now, so they are in no log, and
those of a process that is gone expire.
"""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.store import keys

REWRITE_SECONDS: Final = 5.0
"""Counts that stay the same are written again after this time, so that they do not expire."""


class PublicCounts(Value):
    """The number of spectators of a room, and how many cards each player had placed at the last tick of the race.

    `placed` is None where no race is under way, or where strangers may not know.
    """

    watching: int = 0
    placed: tuple[int, int] | None = None


NO_COUNTS: Final = PublicCounts()


class PublicCountStore:
    """The counts of all processes on one Redis."""

    def __init__(self, redis: Redis, process_id: str) -> None:
        self._redis = redis
        self._key = keys.public_counts(process_id)
        self._written = ""
        self._written_at = 0.0

    async def write(self, counts: Mapping[str, PublicCounts]) -> None:
        """Replace the counts of this process, by room, if they have changed. Raises RedisError. Safe to repeat."""
        text = json.dumps({room: (each.watching, each.placed) for room, each in counts.items()}) if counts else ""
        if text == self._written and (not text or time.monotonic() - self._written_at < REWRITE_SECONDS):
            return
        if text:
            await self._redis.set(self._key, text, ex=keys.PUBLIC_COUNTS_SECONDS)
        else:
            await self._redis.delete(self._key)
        self._written, self._written_at = text, time.monotonic()


async def read_counts(redis: Redis) -> dict[str, PublicCounts]:
    """Return the counts of all processes together, by room. Raises RedisError. Safe to cancel."""
    processes = cast("list[bytes]", await cast("Any", redis.zrange(keys.PROCESSES, 0, -1)))
    if not processes:
        return {}
    found = cast(
        "list[bytes | None]",
        await cast("Any", redis.mget([keys.public_counts(process.decode()) for process in processes])),
    )
    return add_up(parse_counts(text) for text in found if text)


def parse_counts(text: bytes) -> dict[str, PublicCounts]:
    """Parse the counts of a process; those that a process of another version has written are left out."""
    try:
        return {
            room: PublicCounts(int(watching), None if placed is None else (int(placed[0]), int(placed[1])))
            for room, (watching, placed) in json.loads(text).items()
        }
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}


def add_up(counts: Iterable[Mapping[str, PublicCounts]]) -> dict[str, PublicCounts]:
    """Return the counts of several processes together: the sum of the spectators, and the most cards placed.

    Processes tick together, and a race only goes on, so the larger counts are those of the newest tick.
    """
    total: dict[str, PublicCounts] = {}
    for of_process in counts:
        for room, each in of_process.items():
            so_far = total.get(room, NO_COUNTS)
            total[room] = PublicCounts(so_far.watching + each.watching, _newer(so_far.placed, each.placed))
    return total


def _newer(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    if one is None or other is None:
        return one or other
    return max(one[0], other[0]), max(one[1], other[1])
