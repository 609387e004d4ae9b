"""The list of finished matches, beside their records.

Each bucket has lists of its own, on the node of its rooms: a node of a Cluster that is away holds up no list of others,
as it holds up no records of others. A page is merged from the lists of all buckets. A row begins with its time and the
id of its match, so Redis keeps rows in the order of the list, and a cursor is the beginning of a row.
"""

from collections.abc import Iterable
from heapq import merge
from itertools import islice
from typing import Final, cast

from redis.asyncio import Redis

from fairest_protocol.messages.matches import PAGE_MATCHES, FinishedMatch, MatchesPage
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

_TIME_DIGITS: Final = 16
_CURSOR_BYTES: Final = _TIME_DIGITS + 32
_KEPT_MS: Final = keys.RECORD_SECONDS * 1000


class MatchList:
    """The finished matches of listed rooms, of everybody, by variant and by name. Every method raises RedisError."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._add = Script("add_match.lua")

    async def add(self, room: str, match: FinishedMatch) -> None:
        """Add a match that was played in this room. Safe to call again, and to cancel: a row is added only once."""
        row = _cursor(match.finished_at_ms, match.match) + match.model_dump_json()
        number = keys.bucket(room)
        by_name = {keys.matches_by_name(number, name) for name in match.names}
        lists = [keys.matches(number), keys.matches_by_rules(number, match.rules), *sorted(by_name)]
        limits = (keys.MATCHES_KEPT, _oldest(match.finished_at_ms), keys.RECORD_SECONDS)
        await self._add.run(self._redis, lists, (row, *limits))

    async def page(
        self, now_ms: int, *, name: str | None = None, rules: str | None = None, before: str | None = None
    ) -> MatchesPage:
        """Return the newest matches whose records are kept, of this player or variant, behind the cursor `before`.

        With a name and a variant, both are asked for. A page may then be short, or empty, and still name a next one.
        """
        pipeline = self._redis.pipeline(transaction=False)
        latest = "+" if before is None else f"({before}"
        for number in range(keys.BUCKETS):
            key = keys.matches(number)
            if name is not None:
                key = keys.matches_by_name(number, name)
            elif rules is not None:
                key = keys.matches_by_rules(number, rules)
            pipeline.zrevrangebylex(key, latest, f"[{_oldest(now_ms)}", 0, PAGE_MATCHES + 1)
        found = cast("list[list[bytes]]", await pipeline.execute())
        rows = list(islice(merge(*found, reverse=True), PAGE_MATCHES + 1))
        shown = rows[:PAGE_MATCHES]
        last = shown[-1][:_CURSOR_BYTES].decode() if len(rows) > PAGE_MATCHES else None
        return MatchesPage(matches=tuple(_of_rules(shown, rules)), next=last)


def _of_rules(rows: Iterable[bytes], rules: str | None) -> Iterable[FinishedMatch]:
    for row in rows:
        match = _parse(row[_CURSOR_BYTES:])
        if match is not None and rules in (None, match.rules):
            yield match


def _parse(text: bytes) -> FinishedMatch | None:
    """Parse a row; None for one that a process of another version has written."""
    try:
        return FinishedMatch.model_validate_json(text)
    except ValueError:
        return None


def _cursor(at_ms: int, match_id: str) -> str:
    return f"{at_ms:0{_TIME_DIGITS}x}{match_id}"


def _oldest(now_ms: int) -> str:
    """Return the place in the list before which all records have expired."""
    return f"{max(0, now_ms - _KEPT_MS):0{_TIME_DIGITS}x}"
