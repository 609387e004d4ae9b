"""Limits of one address on what costs more than its messages: new players, rounds, and codes that lead to no room.

Each process counts for itself; the rooms that an address opens are counted in Redis (`store/room_openings.py`). An
address of IPv6 is its network of 64 bits.
"""

import time
from collections.abc import Callable
from typing import Final

from fairest_server.edge.rate_limit import TokenBucket
from fairest_server.settings import Settings

LIMIT_SECONDS: Final = 3_600
"""The limits are numbers for this time. All of it may be used at once."""
BUCKETS_PER_SWEEP: Final = 1_000
"""Full buckets are dropped whenever this many more addresses are known."""


class AddressBuckets:
    """A token bucket for each address, of `most` tokens that come back within `limit_seconds`."""

    def __init__(self, most: int, monotonic: Callable[[], float], limit_seconds: float = LIMIT_SECONDS) -> None:
        self._most = most
        self._limit_seconds = limit_seconds
        self._monotonic = monotonic
        self._buckets: dict[str, TokenBucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def try_take(self, address: str) -> bool:
        """Take one token of this address; return False, and take nothing, if there is none."""
        now = self._monotonic()
        return self._bucket(address, now).try_take(now)

    def take(self, address: str, tokens: int) -> float:
        """Take `tokens` of this address, on credit if it has fewer; return the seconds until they are paid back."""
        now = self._monotonic()
        return self._bucket(address, now).take(now, tokens)

    def has_token(self, address: str) -> bool:
        """Return whether this address has a token left."""
        bucket = self._buckets.get(address)
        return bucket is None or bucket.has_token(self._monotonic())

    def _bucket(self, address: str, now: float) -> TokenBucket:
        if address not in self._buckets:
            self._drop_full_buckets(now)
            self._buckets[address] = TokenBucket(self._most / self._limit_seconds, self._most, now)
        return self._buckets[address]

    def _drop_full_buckets(self, now: float) -> None:
        """Forget addresses whose buckets are full again: a new bucket would be the same."""
        if len(self._buckets) % BUCKETS_PER_SWEEP == 0:
            self._buckets = {address: bucket for address, bucket in self._buckets.items() if not bucket.is_full(now)}


class AddressLimits:
    """The limits of one process on each address, once its connections are open."""

    def __init__(self, settings: Settings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._new_players = AddressBuckets(settings.players_per_address, monotonic)
        self._rounds = AddressBuckets(settings.rounds_per_address, monotonic)
        self._openings = AddressBuckets(settings.rounds_per_address, monotonic)
        self._misses = AddressBuckets(settings.misses_per_address, monotonic)

    def may_enroll(self, address: str) -> bool:
        """Count one more new player from `address`; return False, and count nothing, if its limit is reached."""
        return self._new_players.try_take(address)

    def may_get_ready(self, address: str) -> bool:
        """Count one more `ready` from `address`, which may lead to a record that is kept for a year. As above."""
        return self._rounds.try_take(address)

    def may_open_round(self, address: str) -> bool:
        """Count one more `join` from `address` that opens a round, and so adds to the chain of rounds. As above."""
        return self._openings.try_take(address)

    def may_try_code(self, address: str) -> bool:
        """Return whether `address` may name a room that it may not know. Only misses count, by `count_miss`."""
        return self._misses.has_token(address)

    def count_miss(self, address: str) -> None:
        """Count a code from `address` that led to no room."""
        self._misses.try_take(address)
