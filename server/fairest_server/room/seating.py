"""The events by which a player sits down, also in the place of a rival, or loses the connection with its process."""

from collections.abc import Set

from fairest_protocol.messages.fields import Phase, as_seat
from fairest_protocol.messages.rivals import is_bot_name
from fairest_server.room.commands import TakeSeat
from fairest_server.room.events import Attached, Detached, Event, SeatFreed, SeatTaken
from fairest_server.room.state import RoomState, open_round


def sit_down(seat: int, player: str, name: str, connection_id: str) -> tuple[Event, Event]:
    """Return the events by which a player takes a seat, and this connection speaks for it."""
    number = as_seat(seat)
    return SeatTaken(seat=number, player=player, name=name), Attached(seat=number, link=connection_id)


def detach_lapsed(state: RoomState, connection_ids: Set[str]) -> tuple[Detached, ...]:
    """Return the events of the seats for which one of these connections, of a process that is gone, has spoken."""
    return tuple(
        Detached(seat=as_seat(number), link=seat.connection_id, lapsed=True)
        for number, seat in enumerate(state.seats)
        if seat and seat.connection_id and seat.connection_id in connection_ids
    )


def replace_rival(state: RoomState, command: TakeSeat) -> tuple[Event, ...]:
    """Return the events by which a person takes the seat of a rival of a full room; none if it has to stay full.

    That is so as long as the match has not begun. The round that was opened with the rival is called off, as if the
    rival had left; the next one begins a match.
    """
    is_before_match = state.phase is Phase.READY and open_round(state).number == 1
    if state.rival is None or not is_before_match or is_bot_name(command.name):
        return ()
    for number in (0, 1):
        if is_bot_name(state.seat(number).name):
            freed = SeatFreed(seat=as_seat(number), reason="left")
            return (freed, *sit_down(number, command.player, command.name, command.connection_id))
    return ()
