"""The chain of rounds, as this process reads, extends and shows it. It is off the way of a move: once a second.

append.lua -> outbox of the bucket -> `advance`, of one process at a time -> chain -> signed head -> clients
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import monotonic
from typing import Final

import structlog

from fairest_protocol.calculation.seal import chain_round_line
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.rounds import (
    MERGE_SECONDS,
    PAGE_LINES,
    ChainedLoss,
    RoundsHead,
    RoundsPage,
    chained_line,
    parse_chained,
)
from fairest_protocol.value import replace
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.store.rounds import MAX_ENTRIES, ChainEnd, NewEntry, RoundEntry, RoundStore

KEPT_IN_OUTBOX_MS: Final = 20_000
"""An entry stays in its outbox for this long after it joined the chain: a Redis that loses its last seconds may lose it
from the chain only, and then it joins the chain again.
"""
FULL_READ_MS: Final = 10_000
"""Between two reads of whole outboxes, which find such entries, and those that can be removed."""
LOSSES_READ: Final = 100
"""Newest entries among which a process looks for a loss that another one has declared."""
CACHED_PAGES: Final = 16

_LOG = structlog.get_logger(__name__)


class RoundChain:
    """The chain of rounds. `sign` signs its head: number, chain, and time in ms. `kept` entries are kept."""

    def __init__(self, store: RoundStore, sign: Callable[[int, bytes, int], RoundsHead], kept: int) -> None:
        self._store = store
        self._sign = sign
        self._kept = kept
        self._end: ChainEnd | None = None
        """The end of the chain as it was read last; None before."""
        self._read_at = -inf
        """When the end was read last, on the clock of `time.monotonic`."""
        self._head: RoundsHead | None = None
        self._signed_end: ChainEnd | None = None
        """The end that `_head` signs."""
        self._read_upto: dict[int, bytes] = {}
        """The id of the last entry of each outbox whose way to the chain is over."""
        self._full_read_ms = 0
        self._pages: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._reading = asyncio.Lock()

    @property
    def head(self) -> RoundsHead | None:
        """The signed head of the chain, at most a second old while Redis answers.

        None before it was read, and when it could not be read for `MERGE_SECONDS`: clients take an old head for a lie.
        """
        end = self._end
        if monotonic() - self._read_at > MERGE_SECONDS:
            return None
        if end is not None and end is not self._signed_end:
            self._head, self._signed_end = self._sign(end.number, end.chain, end.now_ms), end
        return self._head

    @property
    def first_page(self) -> int:
        """The first page that is kept."""
        return -(-max(self._end.oldest - 1, 0) // PAGE_LINES) if self._end else 0

    async def advance(self) -> None:
        """Read the end of the chain; if this process extends it, move the entries there that wait. Raises RedisError.

        Safe to call again, and to cancel.
        """
        known = self._end
        asked_at = monotonic()
        end = await self._store.read_end(known.number if known else 0)
        if known is not None and _is_lost(known, end) and not await self._declare_loss(known, end):
            # Clients have seen the old end, so it is kept until the chain says that it is lost.
            return
        if not end.is_writer:
            self._full_read_ms = 0
        else:
            end = await self._move(end)
        self._end, self._read_at = end, asked_at

    async def page(self, number: int) -> bytes | None:
        """Return a page of entries, counted from 0, as JSON; None if it is not kept, or the head is before it.

        Raises RedisError. A page that is full never changes, and is kept here for the next reader.
        """
        end = self._end
        if end is None or not self.first_page <= number <= max(end.number - 1, 0) // PAGE_LINES:
            return None
        count = min(end.number - number * PAGE_LINES, PAGE_LINES)
        async with self._reading:
            body = self._pages.get((number, count))
            if body is None:
                found = await self._store.read_page(number)
                if found is None:
                    return None
                before, lines = found
                body = encode(RoundsPage(page=number, before=before, lines=tuple(lines[:count])))
                self._pages[number, count] = body
                if len(self._pages) > CACHED_PAGES:
                    self._pages.popitem(last=False)
            return body

    async def _move(self, end: ChainEnd) -> ChainEnd:
        """Move the entries that wait to the chain, and return its new end."""
        while True:
            is_full = end.now_ms - self._full_read_ms >= FULL_READ_MS
            # In this order: an entry that has left its outbox by then is never moved again, so that its mark can go.
            chained = await self._store.chained()
            entries, is_complete = await self._store.waiting({} if is_full else self._read_upto)
            extended = await self._extend(end, [entry for entry in entries if entry.mark not in chained])
            if extended is None:
                # Another process has extended the chain; the next call reads its end.
                return self._end or end
            end = extended
            for entry in entries:
                self._read_upto[entry.bucket] = entry.entry_id
            if is_full:
                await self._tidy(end.now_ms, chained, entries, is_complete=is_complete)
                self._full_read_ms = end.now_ms
            if is_complete or not entries:
                return end

    async def _extend(self, end: ChainEnd, entries: Sequence[RoundEntry]) -> ChainEnd | None:
        """Add the entries to the chain, and return its new end; None if it does not end where we believe."""
        for first in range(0, len(entries), MAX_ENTRIES):
            number, chain, added = end.number, end.chain, list[NewEntry]()
            for entry in entries[first : first + MAX_ENTRIES]:
                number += 1
                line = chained_line(entry.text, number, end.now_ms)
                chain = chain_round_line(chain, line)
                added.append(NewEntry(chain, line, entry.mark))
            if not await self._store.extend(end, added, end.now_ms, self._oldest(number)):
                return None
            metrics.ROUND_ENTRIES.inc(len(added))
            end = replace(end, number=number, chain=chain, oldest=max(end.oldest, self._oldest(number)))
        return end

    async def _tidy(
        self, now_ms: int, chained: Mapping[str, int], entries: Sequence[RoundEntry], *, is_complete: bool
    ) -> None:
        """Remove entries that joined the chain a while ago from their outboxes, then the marks of entries removed."""
        latest = now_ms - KEPT_IN_OUTBOX_MS
        await self._store.remove([entry for entry in entries if chained.get(entry.mark, now_ms) <= latest])
        if is_complete:
            await self._store.forget(list(chained.keys() - {entry.mark for entry in entries}))

    async def _declare_loss(self, known: ChainEnd, end: ChainEnd) -> bool:
        """Say in the chain that entries up to `known` are lost; return whether it is said there, by any process."""
        for line in await self._store.newest(LOSSES_READ):
            declared = parse_chained(line)
            if isinstance(declared, ChainedLoss) and declared.lost_number >= known.number:
                # One that we had read before is about an earlier loss.
                return declared.at_ms > known.now_ms
        number = end.number + 1
        loss = ChainedLoss(
            number=number, at_ms=end.now_ms, type="lost", lost_number=known.number, lost_chain=known.chain
        )
        line = encode(loss).decode()
        added = NewEntry(chain_round_line(end.chain, line), line)
        if await self._store.extend(end, [added], end.now_ms, end.oldest):
            metrics.LOST_ROUNDS.inc()
            _LOG.warning(Event.ROUNDS_LOST, lost=known.number, left=end.number)
            self._full_read_ms, self._end = 0, replace(end, number=number, chain=added.chain)
            self._pages.clear()
        return False

    def _oldest(self, number: int) -> int:
        """Return the number of the oldest entry to keep: the last one of a page, whose chain the next page needs."""
        return max(0, (number - self._kept) // PAGE_LINES * PAGE_LINES)


def _is_lost(known: ChainEnd, end: ChainEnd) -> bool:
    """Return whether the chain that now ends at `end` does not hold the entry at which it was known to end."""
    if known.number == 0 or known.number < end.oldest:
        return False
    return end.known_chain != known.chain
