"""What a process counts, for Prometheus. Totals of the process only: nothing here tells of a single room or player.

They are served on the admin port, never to players: in a quiet house even a total of moves says where a race stands.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


class FastCounter(Collector):
    """A counter by one label, for what every move adds to: without the locks and the checks of the library's."""

    def __init__(self, name: str, documentation: str, label: str, registry: CollectorRegistry = REGISTRY) -> None:
        self._family = name, documentation
        self._labelnames = (label,)
        self._counts: defaultdict[str, int] = defaultdict(int)
        registry.register(self)

    def add(self, value: str) -> None:
        """One more of those that the label has this value for."""
        self._counts[value] += 1

    def collect(self) -> Iterable[CounterMetricFamily]:
        """As the registry asks for it."""
        family = CounterMetricFamily(*self._family, labels=self._labelnames)
        for value, count in self._counts.items():
            family.add_metric([value], count)
        yield family


class FastHistogram(Collector):
    """A histogram for what every batch adds to, in the same way."""

    def __init__(
        self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry = REGISTRY
    ) -> None:
        self._family = name, documentation
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def add(self, amount: float) -> None:
        """One more, of this size."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """As the registry asks for it: each bucket counts those below it as well."""
        names = [*map(str, map(float, self._bounds)), "+Inf"]
        buckets = list(zip(names, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(*self._family, buckets, self._sum)


CONNECTIONS: Final = Gauge("fairest_connections", "Open WebSocket connections.")
TURNED_AWAY: Final = Counter(
    "fairest_turned_away", "Requests for a connection that were turned away: origin, full, address.", ["reason"]
)
MESSAGES: Final = FastCounter("fairest_messages", "Messages from clients.", "type")
BREACHES: Final = Counter("fairest_breaches", "Connections ended with an error, by its code.", ["code"])
THROTTLED: Final = Counter("fairest_throttled", "Messages that waited for the token bucket of their connection.")
CUT_OFF: Final = Counter(
    "fairest_cut_off", "Connections ended without an error: unread, silent, too_big, bad_frame.", ["reason"]
)
ROOMS: Final = Gauge("fairest_rooms", "Rooms that this process has open.")
TASKS: Final = Gauge("fairest_tasks", "Tasks of the event loop.")
REFUSALS: Final = Counter("fairest_refusals", "Requests that were refused, by the code of the refusal.", ["code"])
APPENDS: Final = FastCounter("fairest_appends", "Appends to logs: appended, conflict, early, late, unknown.", "answer")
BATCHES: Final = FastHistogram("fairest_append_batch", "Appends that shared a round trip.", (1, 2, 5, 10, 20, 50, 100))
APPEND_SECONDS: Final = FastHistogram(
    "fairest_append_seconds",
    "Round trip of a batch of appends.",
    (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 2, 5),
)
LOST_LOGS: Final = Counter("fairest_lost_logs", "Rooms given up because their log was not what had been shown.")
RECORDS: Final = Counter("fairest_records", "Records of finished matches stored.")
FAULTS: Final = Counter("fairest_faults", "Faults of ours: each has a traceback in the log.", ["where"])
REDIS_SILENT: Final = Gauge("fairest_redis_silent_seconds", "How long ago Redis answered a beat.")
DURABILITY: Final = Gauge("fairest_durability", "1 for the promise that Redis gives, as it says itself.", ["promise"])


def expose() -> bytes:
    """All of it, in Prometheus' text format."""
    return generate_latest(REGISTRY)
