"""The chain of rounds in Redis, and the outboxes from which its entries come.

append.lua puts the opening and the end of a round into the outbox of the room's bucket, together with the events of the
log. One process at a time moves them from there to the chain. Redis adds entries to it only if it still ends where that
process read it, together with a mark for each entry. So an entry is in the chain once, even if a process dies between
any two of its steps, or another one does the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from fairest_protocol.calculation.seal import NO_ROUNDS
from fairest_protocol.messages.rounds import PAGE_LINES, parse_chained
from fairest_protocol.value import Value
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import RAW_REPLY, BatchingRedis
from fairest_server.store.redis.scripts import Script

MAX_ENTRIES: Final = 500
"""Entries that are read from one outbox, or added to the chain, at once: about 200 KiB."""


class RoundEntry(Value):
    """An entry in the outbox of a bucket: its id there, its text, and its mark, a hash of the text."""

    bucket: int
    entry_id: bytes
    text: str
    mark: str


class ChainEnd(Value):
    """The end of the chain at the time `now_ms` of Redis' clock: the newest entry's number and chain.

    `oldest` is the number of the oldest entry that is kept. `is_writer`: the process that asked extends the chain.
    `known_chain` is the chain of the entry that it named, b"" if it is not there.
    """

    now_ms: int
    number: int
    chain: bytes
    oldest: int
    is_writer: bool
    known_chain: bytes


class NewEntry(Value):
    """An entry that is to join the chain: its chain, its line, and the mark of its entry in an outbox, or nothing."""

    chain: bytes
    line: str
    mark: str = ""


class RoundStore:
    """The chain of rounds and its outboxes on one Redis. Every method raises RedisError, and is safe to call again."""

    def __init__(self, redis: BatchingRedis, process_id: str) -> None:
        self._redis = redis
        self._process_id = process_id
        self._read_head = Script("read_round_head.lua")
        self._extend = Script("extend_rounds.lua")

    async def read_end(self, known_number: int) -> ChainEnd:
        """Return the end of the chain, and become the process that extends it if there is none."""
        names = [keys.ROUND_CHAIN, keys.ROUND_WRITER]
        reply = await self._read_head.run(
            self._redis, names, [self._process_id, keys.ROUND_WRITER_SECONDS, known_number]
        )
        now_ms, number, chain, oldest, is_writer, known_chain = reply
        return ChainEnd(int(now_ms), number, chain or NO_ROUNDS, oldest, bool(is_writer), known_chain)

    async def waiting(self, after: Mapping[int, bytes]) -> tuple[list[RoundEntry], bool]:
        """Return the entries of all outboxes behind the ids `after` (by bucket), and whether these are all there are.

        An outbox on a node of a Cluster that is away counts as one that has more.
        """
        pipeline = self._redis.pipeline(transaction=False)
        for number in range(keys.BUCKETS):
            first = b"(" + after[number] if number in after else b"-"
            pipeline.execute_command("XRANGE", keys.round_outbox(number), first, "+", "COUNT", MAX_ENTRIES, **RAW_REPLY)
        found: list[RoundEntry] = []
        is_complete = True
        for number, reply in enumerate(await pipeline.execute(raise_on_error=False)):
            is_complete = is_complete and isinstance(reply, list) and len(reply) < MAX_ENTRIES
            for entry_id, fields in reply if isinstance(reply, list) else ():
                text = fields[1].decode()
                mark = hashlib.sha256(fields[1]).hexdigest()[:32]
                found.append(RoundEntry(number, entry_id, text, mark))
        return found, is_complete

    async def chained(self) -> dict[str, int]:
        """Return the marks of entries that the chain has, with the time in ms at which they joined it."""
        found = cast("dict[bytes, bytes]", await cast("Any", self._redis.hgetall(keys.CHAINED_ROUNDS)))
        return {mark.decode(): int(at_ms) for mark, at_ms in found.items()}

    async def extend(self, end: ChainEnd, entries: Sequence[NewEntry], at_ms: int, oldest: int) -> bool:
        """Add entries to the chain that ends at `end`, and drop those before `oldest`; False if it ends otherwise."""
        chain = end.chain if end.number else b""
        words = [word for entry in entries for word in (entry.chain, entry.mark, entry.line)]
        names = [keys.ROUND_CHAIN, keys.CHAINED_ROUNDS]
        return bool(await self._extend.run(self._redis, names, [end.number, chain, oldest, at_ms, *words]))

    async def remove(self, entries: Sequence[RoundEntry]) -> None:
        """Remove entries from their outboxes."""
        by_bucket: dict[int, list[bytes]] = {}
        for entry in entries:
            by_bucket.setdefault(entry.bucket, []).append(entry.entry_id)
        pipeline = self._redis.pipeline(transaction=False)
        for number, ids in by_bucket.items():
            pipeline.xdel(keys.round_outbox(number), *ids)
        if by_bucket:
            await pipeline.execute()

    async def forget(self, marks: Sequence[str]) -> None:
        """Remove marks whose entries are in no outbox any more."""
        if marks:
            await cast("Any", self._redis.hdel(keys.CHAINED_ROUNDS, *marks))

    async def read_page(self, page: int) -> tuple[bytes, list[str]] | None:
        """Return the chain before the entries of a page, counted from 0, and their lines; None if it is not kept."""
        first, last = page * PAGE_LINES, (page + 1) * PAGE_LINES
        found = await self._redis.execute_command("XRANGE", keys.ROUND_CHAIN, f"{first}-0", f"{last}-0", **RAW_REPLY)
        entries = [(int(entry_id.partition(b"-")[0]), fields) for entry_id, fields in found]
        if page == 0:
            before = NO_ROUNDS
        elif entries and entries[0][0] == first:
            before = entries.pop(0)[1][1]
        else:
            return None
        if entries and entries[0][0] != first + 1:
            return None
        return before, [fields[3].decode() for _, fields in entries]

    async def last_before(self, at_ms: int) -> tuple[int, bytes] | None:
        """Return the number and the chain of the newest entry with a time before `at_ms`, None if none is kept."""
        newest = "+"
        while True:
            found = await self._redis.execute_command(
                "XREVRANGE", keys.ROUND_CHAIN, newest, "-", "COUNT", PAGE_LINES, **RAW_REPLY
            )
            for entry_id, fields in found:
                number = int(entry_id.partition(b"-")[0])
                if parse_chained(fields[3].decode()).at_ms < at_ms:
                    return number, fields[1]
            if len(found) < PAGE_LINES:
                return None
            newest = f"({found[-1][0].decode()}"

    async def newest(self, count: int) -> list[str]:
        """Return the lines of the newest entries, the newest first."""
        found = await self._redis.execute_command("XREVRANGE", keys.ROUND_CHAIN, "+", "-", "COUNT", count, **RAW_REPLY)
        return [fields[3].decode() for _, fields in found]
