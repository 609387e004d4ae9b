"""What the lobby says of a listed room."""

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom
from fairest_server.room.state import RoomState


def list_room(code: str, state: RoomState | None, now_ms: int) -> ListedRoom | None:
    """The room's line in the lobby, None for a room that has none: private, closed, or empty."""
    if state is None or not state.options.listed or state.phase is Phase.CLOSED or not any(state.seats):
        return None
    first, second = state.seats
    return ListedRoom(
        room=code,
        phase=state.phase,
        names=(first.name if first else None, second.name if second else None),
        wins=(first.wins if first else 0, second.wins if second else 0),
        rules=state.rules.name,
        piles=state.rules.piles,
        redeals=state.rules.redeals,
        best_of=state.options.best_of,
        spectators=state.options.spectators,
        since_ms=now_ms,
    )


def changes_listing(before: RoomState | None, after: RoomState) -> bool:
    """Whether the lobby has to hear of this. Moves change nothing, until one ends the round."""
    if not after.options.listed:
        return False
    if before is None or before.phase is not after.phase:
        return True
    return before.seats is not after.seats and _seats(before) != _seats(after)


def _seats(state: RoomState) -> list[tuple[str, int] | None]:
    return [(seat.player, seat.wins) if seat else None for seat in state.seats]
