"""The row of a listed room in the lobby."""

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import ListedRoom
from fairest_server.room.state import RoomState


def list_room(code: str, state: RoomState | None, now_ms: int) -> ListedRoom | None:
    """Return the room's row in the lobby, or None if it has none: the room is not listed, closed, or empty."""
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
        rival_after_seconds=state.rival.after_seconds if state.rival else None,
        rival_level=state.rival.level if state.rival else None,
        certified=state.options.certified,
    )


def changes_listing(before: RoomState | None, after: RoomState) -> bool:
    """Return whether the room's row changes between these states. A move changes it only if it ends the round."""
    if not after.options.listed:
        return False
    if before is None or before.phase is not after.phase:
        return True
    return before.seats is not after.seats and _seats(before) != _seats(after)


def _seats(state: RoomState) -> list[tuple[str, int] | None]:
    return [(seat.player, seat.wins) if seat else None for seat in state.seats]
