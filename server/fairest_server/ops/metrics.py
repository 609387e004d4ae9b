"""Metrics of a process, for Prometheus: totals only, nothing about a single room or player.

They are served on the admin port, never to players: on a quiet server even the number of moves says how far a race is.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Final, get_args

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from fairest_protocol.messages.from_client import FromClient
from fairest_protocol.messages.refusals import Breach, Refusal
from fairest_protocol.version import installed_version, python_version

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


class Passed(StrEnum):
    """The end of a socket on its way to the process of its room."""

    TAKEN = "taken"
    LATE = "late"
    """The other process did not take it in time, so this one serves it."""


class TurnedAway(StrEnum):
    """A reason for which a request becomes no connection, or is not answered with the page that it asks for."""

    ORIGIN = "origin"
    """A page of another site asks for a connection; or the request for a page names a host that is not ours."""
    FULL = "full"
    ADDRESS = "address"
    DRAINING = "draining"
    BANNED = "banned"
    SOCKETS = "sockets"
    """Its socket was closed before a byte was read: the address, or all together, had too many."""
    HEADERS = "headers"
    """It has two Origin or Host headers."""
    RECORDS = "records"
    """A page with a record: its address has read more records than it may."""


class CutOff(StrEnum):
    """A reason for which the server ends a connection without an error."""

    UNREAD = "unread"
    """The client left more unread than `--max-unsent-bytes`."""
    SILENT = "silent"
    """A ping was not answered."""
    TOO_BIG = "too_big"
    BAD_FRAME = "bad_frame"
    HANDSHAKE = "handshake"
    """A TLS or opening handshake failed, or did not end in time."""


class FrameKind(StrEnum):
    """A kind of data from a client, as budgets count it."""

    TEXT = "text"
    BINARY = "binary"
    CONTINUATION = "continuation"
    PING = "ping"
    PONG = "pong"
    CLOSE = "close"
    PART = "part"
    """Bytes of a frame that is not complete yet."""


class Part(StrEnum):
    """The part of the server in which a fault was contained."""

    CONNECTION = "connection"
    ROOM = "room"
    LOG = "log"
    PERIODIC = "periodic"
    """Work that a process does every second: the heartbeat, the sweep."""
    WAKEUPS = "wakeups"
    CONTROL = "control"
    """A request of the operator."""
    RATING = "rating"
    """The rating of a finished match."""
    RELOAD = "reload"
    ENGINE = "engine"
    """The start of the embedded engine."""


class Durability(StrEnum):
    """When an accepted move is on the disk, by the settings of Redis; weakest first."""

    NONE = "none"
    UNKNOWN = "unknown"
    SYSTEM = "system"
    EVERYSEC = "everysec"
    ALWAYS = "always"


class FastCounter(Collector):
    """A counter with one label that every move adds to: without the locks and checks of `prometheus_client.Counter`."""

    def __init__(
        self,
        name: str,
        documentation: str,
        label: str,
        values: Iterable[str] = (),
        registry: CollectorRegistry = REGISTRY,
    ) -> None:
        self._family = name, documentation
        self._labelnames = (label,)
        self._counts = dict.fromkeys(values, 0)
        registry.register(self)

    def declare(self, values: Iterable[str]) -> None:
        """Expose these values of the label from now on, with 0 until they are counted."""
        self._counts = dict.fromkeys(values, 0) | self._counts

    def add(self, value: str) -> None:
        """Count one more under this value of the label, which was declared."""
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


def counter(name: str, documentation: str, label: str, values: Iterable[str]) -> Counter:
    """Return a counter with one label, whose values are exposed as 0 from the start.

    `increase()` needs two samples: an alarm on a counter that appears with its first event never fires for that one.
    """
    made = Counter(name, documentation, [label])
    for value in values:
        made.labels(value)
    return made


def gauge(name: str, documentation: str, label: str, values: Iterable[str]) -> Gauge:
    """Return a gauge with one label, whose values are exposed as 0 from the start."""
    made = Gauge(name, documentation, [label])
    for value in values:
        made.labels(value)
    return made


MESSAGE_TYPES: Final = tuple(str(each.model_fields["type"].default) for each in get_args(get_args(FromClient)[0]))
"""The `type` of every message that a client may send."""

BUILD_INFO: Final = Gauge(
    "fairest_build_info", "1 for the versions of Fairest and of Python that this process runs.", ["version", "python"]
)
BUILD_INFO.labels(installed_version(), python_version()).set(1)
CONNECTIONS: Final = Gauge("fairest_connections", "Open WebSocket connections.")
TURNED_AWAY: Final = counter(
    "fairest_turned_away",
    "Requests for a connection or a page that were turned away, by reason: origin, full, address, draining, banned, "
    "sockets (before a byte was read), headers, records.",
    "reason",
    TurnedAway,
)
MESSAGES: Final = FastCounter("fairest_messages", "Messages from clients.", "type", MESSAGE_TYPES)
BREACHES: Final = counter(
    "fairest_breaches", "Connections that the server ended with an error, by its code.", "code", Breach
)
THROTTLED: Final = Counter("fairest_throttled", "Messages after which a connection had to wait for its token bucket.")
CUT_OFF: Final = counter(
    "fairest_cut_off",
    "Connections that the server ended without an error, by reason: unread, silent, too_big, bad_frame, handshake.",
    "reason",
    CutOff,
)
SOCKETS: Final = Gauge("fairest_sockets", "Accepted sockets: connections, pages, and handshakes under way.")
PASSED: Final = counter(
    "fairest_passed",
    "Sockets passed to the process of their room, by how that ended: taken, or late, so that this one serves them.",
    "end",
    Passed,
)
OFFERED: Final = Counter(
    "fairest_offered", "Players that were offered the address of their room, since they came by another."
)
PAUSED: Final = counter(
    "fairest_paused",
    "Times that a connection was not read for a while since it had sent too much, by the kind of most of its frames.",
    "kind",
    FrameKind,
)
FLOODS: Final = counter(
    "fairest_floods",
    "Connections cut off since they sent too many frames or bytes for too long, by the kind of most of their frames.",
    "kind",
    FrameKind,
)
ROOMS: Final = Gauge("fairest_rooms", "Rooms that are open in this process.")
TASKS: Final = Gauge("fairest_tasks", "Tasks of the event loop.")
REFUSALS: Final = counter("fairest_refusals", "Requests that were refused, by code.", "code", Refusal)
APPENDS: Final = FastCounter(
    "fairest_appends", "Appends to logs, by answer: appended, conflict, early, late, failed, unknown.", "answer"
)
BATCHES: Final = FastHistogram(
    "fairest_append_batch", "Appends that shared one round trip to Redis.", (1, 2, 5, 10, 20, 50, 100)
)
APPEND_SECONDS: Final = FastHistogram(
    "fairest_append_seconds",
    "Seconds that the round trip of a batch of appends took.",
    (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 2, 5),
)
MOVE_SECONDS: Final = FastHistogram(
    "fairest_move_seconds",
    "Seconds from the arrival of a move's frame to its acknowledgement; one accepted move a second of each player.",
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5),
)
ROUND_TRIP: Final = FastHistogram(
    "fairest_round_trip_seconds",
    "Seconds of the round trips that were measured in rooms with credit for distance, each time that one is shorter.",
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1),
)
LOOP_DELAY: Final = FastHistogram(
    "fairest_loop_delay_seconds",
    "Seconds by which the event loop was late for a timer, sampled four times a second.",
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5),
)
PLAYERS: Final = Gauge("fairest_players", "Players in a seat of a room on this process.")
SPECTATORS: Final = Gauge("fairest_spectators", "Spectators on this process.")
RACES: Final = Gauge(
    "fairest_races", "Rooms of this process with a race under way; one with players on two processes counts in both."
)
WORKER_DEATHS: Final = Counter(
    "fairest_worker_deaths", "Workers that have died in the place that this process has under --workers."
)
ENGINE_DEATHS: Final = Counter(
    "fairest_engine_deaths", "Times that the embedded engine has died, since this process was started."
)
LOST_LOGS: Final = Counter(
    "fairest_lost_logs", "Rooms that were given up because their log was not the one that had been shown."
)
CERTIFIED_DEALS: Final = Counter("fairest_certified_deals", "Certified deals whose step was found here.")
RECORDS: Final = Counter("fairest_records", "Records of finished matches that were stored.")
RATED: Final = Counter("fairest_rated_matches", "Finished matches that this process has rated.")
UNRATED: Final = Counter(
    "fairest_unrated_records", "Records of finished matches that did not prove themselves, so that they were not rated."
)
LOGS_CUT: Final = Counter("fairest_logs_cut", "Logs of rooms that were cut behind recorded matches.")
ROUND_ENTRIES: Final = Counter(
    "fairest_round_entries", "Entries that this process has added to the chain of rounds: two for each round."
)
LOST_ROUNDS: Final = Counter(
    "fairest_lost_rounds", "Times that the chain of rounds had lost its end, as this process declared in it."
)
TOURNAMENTS: Final = FastCounter(
    "fairest_tournaments",
    "Steps of tournaments that this process has taken: created, started, round_begun, over, cancelled.",
    "step",
)
FAULTS: Final = counter(
    "fairest_faults",
    "Faults of the server itself, by part: connection, room, log, periodic, wakeups, control, reload, "
    "engine. Each has a traceback in the log.",
    "where",
    Part,
)
REDIS_SILENT: Final = Gauge("fairest_redis_silent_seconds", "Seconds since Redis last answered a heartbeat.")
DURABILITY: Final = gauge(
    "fairest_durability",
    "1 for the durability that the settings of Redis promise: always, everysec, system, none, unknown.",
    "promise",
    Durability,
)


def expose() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(REGISTRY)
