"""An event as its text in a log."""

from typing import Final

from pydantic import ConfigDict, TypeAdapter

from protocol.calculation.moves import MOVES
from protocol.messages.codec import encode
from server.room.events import Event, Played, Told

_TOLD: Final = TypeAdapter[Told](Told, config=ConfigDict(hide_input_in_errors=True))
"""What cannot be read is logged: without what stood there, which may be a secret."""


def format_event(event: Event) -> bytes:
    """Events as JSON, but for moves, which are nearly all there is: the seat's digit and the move's text."""
    return f"{event.seat}{event.move.text}".encode() if isinstance(event, Played) else encode(event)


def parse_event(text: bytes) -> Event:
    """The event that this text says. Raises ValueError."""
    if text.startswith(b"{"):
        return _TOLD.validate_json(text)
    move = MOVES.get(text[1:].decode())
    if move is None:
        raise ValueError("an event that is no JSON is a move")
    return Played(seat=1 if text[:1] == b"1" else 0, move=move)
