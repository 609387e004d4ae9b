"""The rating of finished matches, off the way of a move and of a record: once a second.

record_maker -> outbox of the bucket -> `advance`, of the process that stored the record -> proof -> rate_match.lua

What is proved depends on the `RecordSource` of the record: nothing of a match that this process has decided itself.

Matches that their own process leaves behind, because it was killed or the node of the ratings was away, are rated by
any other one. Two that rate the same match at once do no harm: the script takes the first (`store/ratings.py`).
"""

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

import structlog
from redis.exceptions import RedisError

from fairest_protocol.calculation.record import Record
from fairest_protocol.value import Value
from fairest_server.archive.record_proof import BrokenRecord, checking_made_record, proving_record
from fairest_server.live.record_finder import RecordFinder, RecordUnavailable
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.slices import Slices
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part
from fairest_server.ratings.match_result import DAY_MS, Unrated, read_result
from fairest_server.ratings.tally import rate_match
from fairest_server.store import keys
from fairest_server.store.ratings import Kept, RatingStore, WaitingMatch

LOOK_STRIDE: Final = 5
"""Every this many calls of `advance`, a process looks for matches that others have left behind."""
RATED_AT_ONCE: Final = 16
"""Matches that are rated at the same time, so that they share round trips to Redis."""
LEFT_BEHIND_MS: Final = 5_000
"""A match that finished longer ago than this, and is not rated yet, is rated by any process."""
FADING_STRIDE: Final = 300
"""Every this many calls of `advance`, a process takes players off the boards who were away for too long."""

_LOG = structlog.get_logger(__name__)


class RecordSource(Enum):
    """Where the record of a match comes from."""

    DECIDED = auto()
    """This process has decided each step of the match, and stored the record just now. Nothing is left to prove."""
    READ = auto()
    """This process has stored the record just now. Steps of it were read from the log, which something other than a
    server may have written, so its moves and its commitments are checked."""
    STORED = auto()
    """Redis had a record of the match, which is read back and proved whole."""


class _Expected(Value):
    """A match that waits to be rated, and its record if it has one of this process."""

    match: WaitingMatch
    record: Record | None = None
    source: RecordSource = RecordSource.STORED


class Rater:
    """Rates matches whose records prove themselves, each once. `public_key` returns the key of this deployment."""

    def __init__(
        self,
        ratings: RatingStore,
        records: RecordFinder,
        clock: RedisClock,
        slices: Slices,
        public_key: Callable[[], bytes],
    ) -> None:
        self._ratings = ratings
        self._records = records
        self._clock = clock
        self._slices = slices
        self._public_key = public_key
        self._own: list[_Expected] = []
        """Matches that this process expects since it advanced last."""
        self._advanced = 0

    async def expect(self, room: str, record: Record, players: tuple[str, str], source: RecordSource) -> None:
        """Let the match of a record that is stored be rated, if it can be. Raises RedisError; safe to call again."""
        if isinstance(read_result(record, players), Unrated):
            return
        match = WaitingMatch(keys.bucket(room), record.match_id, players, record.finished_at_ms)
        await self._ratings.add_waiting(match)
        self._own.append(_Expected(match, record, source))

    async def advance(self) -> None:
        """Rate what waits for this process, and now and then what others have left. Raises RedisError, OSError.

        Matches that a failure leaves are in their outboxes, and will be found there.
        """
        waiting, self._own = self._own, []
        self._advanced += 1
        if self._advanced % LOOK_STRIDE == 0:
            latest_ms = self._clock.now_ms() - LEFT_BEHIND_MS
            left = [match for match in await self._ratings.waiting() if match.finished_at_ms <= latest_ms]
            waiting += [_Expected(match) for match in left]
        for first in range(0, len(waiting), RATED_AT_ONCE):
            some = waiting[first : first + RATED_AT_ONCE]
            failures = await asyncio.gather(*map(self._rate_or_report, some))
            failure = next(filter(None, failures), None)
            if failure is not None:
                raise failure
        if self._advanced % FADING_STRIDE == 1:
            await self._ratings.drop_faded(self._clock.now_ms() // DAY_MS)

    async def _rate_or_report(self, expected: _Expected) -> RedisError | OSError | None:
        """Rate a match and return None, or return the error of a Redis that is away."""
        match = expected.match
        # A match that cannot be rated because of a fault of this program does not hold up those behind it.
        with contained(Part.RATING, match=match.match_id):
            try:
                await self._rate(match, await self._proved(expected))
            except BrokenRecord as reason:
                metrics.UNRATED.inc()
                _LOG.error(Event.UNRATED, match=match.match_id, reason=str(reason))
                await self._ratings.remove(match)
            except RecordUnavailable:
                return None
            except (RedisError, OSError) as reason:
                return reason
        return None

    async def _rate(self, match: WaitingMatch, record: Record) -> None:
        """Rate a match, and remove it from its outbox. Raises `BrokenRecord` as well."""
        result = read_result(record, match.players)
        if isinstance(result, Unrated):
            raise BrokenRecord(result.value)
        is_swapped = match.players[1] < match.players[0]
        kept = Kept.CHANGED
        while kept is Kept.CHANGED:
            before = await self._ratings.read_before(result.variant, match.players)
            after = rate_match(before.tallies, result, is_swapped=is_swapped)
            kept = await self._ratings.keep(match.match_id, match.players, record.names, result, before, after)
        if kept is Kept.RATED:
            metrics.RATED.inc()
        await self._ratings.remove(match)

    async def _proved(self, expected: _Expected) -> Record:
        """Return the record of a match, proved as its source asks for. Raises `BrokenRecord` if it fails."""
        made = expected.record
        if made is None or expected.source is RecordSource.STORED:
            return await self._read(expected.match.match_id)
        if expected.source is RecordSource.READ:
            await self._slices.finish(checking_made_record(made, self._public_key()))
        return made

    async def _read(self, match_id: str) -> Record:
        """Return the record that Redis or the archive has. Raises `BrokenRecord` if it does not prove itself."""
        text = await self._records.read(match_id)
        if text is None:
            raise BrokenRecord("its record is not kept any more")
        record = await self._slices.finish(proving_record(text, match_id))
        if record.key != self._public_key():
            raise BrokenRecord(f"its record is signed with another key, {record.key.hex()}")
        return record
