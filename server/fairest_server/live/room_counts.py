"""The numbers of players, spectators and races on this process: counted for a scrape, not on the way of a move."""

from collections.abc import Iterable

from fairest_protocol.messages.fields import Phase
from fairest_protocol.value import Value
from fairest_server.live.live_room import LiveRoom


class RoomCounts(Value):
    """Connected players with a seat, connected spectators, and rooms whose race is under way."""

    players: int
    spectators: int
    races: int


def count_rooms(rooms: Iterable[LiveRoom]) -> RoomCounts:
    """Count over these rooms."""
    players = spectators = races = 0
    for room in rooms:
        players += len(room.subscribers.seats)
        spectators += len(room.subscribers.spectators)
        races += room.state is not None and room.state.phase is Phase.RACING
    return RoomCounts(players, spectators, races)
