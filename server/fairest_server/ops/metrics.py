"""Metrics of a process, for Prometheus: totals only, nothing about a single room or player.

They are served on the admin port, never to players: on a quiet server even the number of moves says how far a race is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from fairest_protocol.version import installed_version, python_version

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


class FastCounter(Collector):
    """A counter with one label that every move adds to: without the locks and checks of `prometheus_client.Counter`."""

    def __init__(self, name: str, documentation: str, label: str, registry: CollectorRegistry = REGISTRY) -> None:
        self._family = name, documentation
        self._labelnames = (label,)
        self._counts: defaultdict[str, int] = defaultdict(int)
        registry.register(self)

    def add(self, value: str) -> None:
        """Count one more under this value of the label."""
        self._counts[value] += 1

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the counter for the registry."""
        family = CounterMetricFamily(*self._family, labels=self._labelnames)
        for value, count in self._counts.items():
            family.add_metric([value], count)
        yield family


class FastHistogram(Collector):
    """A histogram that every batch adds to, likewise without locks and checks."""

    def __init__(
        self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry = REGISTRY
    ) -> None:
        self._family = name, documentation
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def add(self, amount: float) -> None:
        """Count one more observation of this size."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Yield the histogram for the registry; each bucket includes all smaller ones."""
        names = [*map(str, map(float, self._bounds)), "+Inf"]
        buckets = list(zip(names, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(*self._family, buckets, self._sum)


BUILD_INFO: Final = Gauge(
    "fairest_build_info", "1 for the versions of Fairest and of Python that this process runs.", ["version", "python"]
)
BUILD_INFO.labels(installed_version(), python_version()).set(1)
CONNECTIONS: Final = Gauge("fairest_connections", "Open WebSocket connections.")
TURNED_AWAY: Final = Counter(
    "fairest_turned_away",
    "Requests for a connection that were turned away, by reason: origin, full, address, draining.",
    ["reason"],
)
MESSAGES: Final = FastCounter("fairest_messages", "Messages from clients.", "type")
BREACHES: Final = Counter("fairest_breaches", "Connections that the server ended with an error, by its code.", ["code"])
THROTTLED: Final = Counter("fairest_throttled", "Messages after which a connection had to wait for its token bucket.")
CUT_OFF: Final = Counter(
    "fairest_cut_off",
    "Connections that the server ended without an error, by reason: unread, silent, too_big, bad_frame.",
    ["reason"],
)
ROOMS: Final = Gauge("fairest_rooms", "Rooms that are open in this process.")
TASKS: Final = Gauge("fairest_tasks", "Tasks of the event loop.")
REFUSALS: Final = Counter("fairest_refusals", "Requests that were refused, by code.", ["code"])
APPENDS: Final = FastCounter(
    "fairest_appends", "Appends to logs, by answer: appended, conflict, early, late, unknown.", "answer"
)
BATCHES: Final = FastHistogram(
    "fairest_append_batch", "Appends that shared one round trip to Redis.", (1, 2, 5, 10, 20, 50, 100)
)
APPEND_SECONDS: Final = FastHistogram(
    "fairest_append_seconds",
    "Seconds that the round trip of a batch of appends took.",
    (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 2, 5),
)
LOST_LOGS: Final = Counter(
    "fairest_lost_logs", "Rooms that were given up because their log was not the one that had been shown."
)
RECORDS: Final = Counter("fairest_records", "Records of finished matches that were stored.")
FAULTS: Final = Counter("fairest_faults", "Faults of the server itself; each has a traceback in the log.", ["where"])
REDIS_SILENT: Final = Gauge("fairest_redis_silent_seconds", "Seconds since Redis last answered a heartbeat.")
DURABILITY: Final = Gauge("fairest_durability", "1 for the durability that the settings of Redis promise.", ["promise"])


def expose() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(REGISTRY)
