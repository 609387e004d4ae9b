"""Reports the round trip of a seated client to its room, if the room credits distance."""

from fairest_server.edge.round_trip import RoundTrip
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.ops import metrics
from fairest_server.room.commands import NoteRoundTrip
from fairest_server.room.distance import note_round_trip


def measure_distance(round_trip: RoundTrip, connection_id: str, room: LiveRoom) -> None:
    """Measure the round trip of a client from now on, and report it to the room now and whenever it is shorter.

    Does nothing in a room without credit. The room decides by measurements that stand in its log, so every process
    decides alike, whichever holds the connection.
    """
    if room.state is None or room.state.options.credit is None:
        return

    def report() -> None:
        rtt_us = round_trip.shortest_us
        if rtt_us is None or room.state is None or not note_round_trip(room.state, connection_id, rtt_us):
            return
        metrics.ROUND_TRIP.add(rtt_us / 1_000_000)
        room.submit(Request(NoteRoundTrip(connection_id, rtt_us)))

    round_trip.begin(report)
    report()
