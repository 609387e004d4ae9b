"""Keepalive: pings to a client, and the end of one that does not answer. Pure; the connection has the timer."""

from enum import Enum, auto

from fairest_server.edge.round_trip import RoundTrip


class Tick(Enum):
    """The action that follows when a heartbeat is due."""

    PING = auto()
    WAIT = auto()
    SILENT = auto()
    """The client has not answered the last ping."""


class Keepalive:
    """One ping for each heartbeat; the client has until the next heartbeat to answer it."""

    __slots__ = ("_number", "_round_trip", "_unanswered")

    def __init__(self, round_trip: RoundTrip | None = None) -> None:
        """`round_trip` has pings of its own, whose pongs it is handed."""
        self._round_trip = round_trip
        self._number = 0
        self._unanswered: bytes | None = None

    def tick(self, *, is_behind: bool) -> Tick:
        """Decide what follows now that a heartbeat is due.

        `is_behind` says that not everything that the client has sent was read, on purpose: the answer may be in it.
        """
        if self._unanswered is None:
            return Tick.PING
        return Tick.WAIT if is_behind else Tick.SILENT

    def ping(self) -> bytes:
        """Return the payload of the next ping, which is unanswered from now on."""
        self._number = (self._number + 1) % 2**32
        self._unanswered = self._number.to_bytes(4, "big")
        return self._unanswered

    def pong(self, payload: bytes) -> None:
        """Take a pong of the client, asked for or not."""
        if payload == self._unanswered:
            self._unanswered = None
        elif self._round_trip is not None:
            self._round_trip.pong(payload)
