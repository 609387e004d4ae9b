"""What a process counts, for Prometheus. Totals of the process only: nothing here tells of a single room or player.

They are served on the admin port, never to players: in a quiet house even a total of moves says where a race stands.
"""

from functools import cache
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

CONNECTIONS: Final = Gauge("fairest_connections", "Open WebSocket connections.")
TURNED_AWAY: Final = Counter(
    "fairest_turned_away", "Requests for a connection that were turned away: origin, full, address.", ["reason"]
)
MESSAGES: Final = Counter("fairest_messages", "Messages from clients.", ["type"])
MESSAGES_OF_TYPE: Final = cache(MESSAGES.labels)
"""To find a counter by its label takes longer than to count."""
BREACHES: Final = Counter("fairest_breaches", "Connections ended with an error, by its code.", ["code"])
THROTTLED: Final = Counter("fairest_throttled", "Messages that waited for the token bucket of their connection.")
CUT_OFF: Final = Counter(
    "fairest_cut_off", "Connections ended without an error: unread, silent, too_big, bad_frame.", ["reason"]
)
ROOMS: Final = Gauge("fairest_rooms", "Rooms that this process has open.")
TASKS: Final = Gauge("fairest_tasks", "Tasks of the event loop.")
REFUSALS: Final = Counter("fairest_refusals", "Requests that were refused, by the code of the refusal.", ["code"])
APPENDS: Final = Counter("fairest_appends", "Appends to logs: appended, conflict, early, late, unknown.", ["answer"])
APPENDS_ANSWERED: Final = cache(APPENDS.labels)
BATCHES: Final = Histogram(
    "fairest_append_batch", "Appends that shared a round trip.", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500)
)
APPEND_SECONDS: Final = Histogram(
    "fairest_append_seconds",
    "Round trip of a batch of appends.",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 2, 5),
)
LOST_LOGS: Final = Counter("fairest_lost_logs", "Rooms given up because their log was not what had been shown.")
RECORDS: Final = Counter("fairest_records", "Records of finished matches stored.")
FAULTS: Final = Counter("fairest_faults", "Faults of ours: each has a traceback in the log.", ["where"])
REDIS_SILENT: Final = Gauge("fairest_redis_silent_seconds", "How long ago Redis answered a beat.")
DURABILITY: Final = Gauge("fairest_durability", "1 for the promise that Redis gives, as it says itself.", ["promise"])


def expose() -> bytes:
    """All of it, in Prometheus' text format."""
    return generate_latest(REGISTRY)
