"""Refusals in the log: the first of each reason at once, and then one line for all that follow in some seconds.

A line for each of them would let anybody fill the disk. The metric `fairest_turned_away_total` counts every one.
"""

import asyncio
from collections import Counter
from typing import Final

import structlog

from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.ops.metrics import TurnedAway

SUMMARY_SECONDS: Final = 10.0
"""The time between two lines about refusals of the same reason."""
MAX_ADDRESSES: Final = 1_000
"""Addresses that are told apart for one line; refusals of further ones are counted together."""
_LOG = structlog.get_logger(__name__)
_OTHERS: Final = "others"


class RefusalLog:
    """Counts refusals, and logs them no more often than once in SUMMARY_SECONDS for each reason."""

    def __init__(self, summary_seconds: float = SUMMARY_SECONDS) -> None:
        self._summary_seconds = summary_seconds
        self._by_reason: dict[TurnedAway, Counter[str]] = {}
        """Refusals since the last line, by address; a reason is missing if its last line is long ago."""

    def add(self, reason: TurnedAway, address: str, sentence: str) -> None:
        """Count a refusal, and log it if it is the first of its reason."""
        metrics.TURNED_AWAY.labels(reason).inc()
        since = self._by_reason.get(reason)
        if since is None:
            _LOG.info(Event.TURNED_AWAY, address=address, reason=sentence)
            self._by_reason[reason] = Counter()
            self._wait(reason)
        else:
            since[address if address in since or len(since) < MAX_ADDRESSES else _OTHERS] += 1

    def _wait(self, reason: TurnedAway) -> None:
        asyncio.get_running_loop().call_later(self._summary_seconds, self._summarise, reason)

    def _summarise(self, reason: TurnedAway) -> None:
        since = self._by_reason.pop(reason)
        if since:
            ((address, most),) = since.most_common(1)
            counts = {"refused": since.total(), "addresses": len(since), "address": address, "of_address": most}
            _LOG.info(Event.TURNED_AWAY_MORE, kind=reason, **counts)
            self._by_reason[reason] = Counter()
            self._wait(reason)
