"""The messages of a player to the room that it is in: their refusal, and how often a move among them is timed."""

from typing import Final

from fairest_protocol.messages.from_client import Leave, Play, Ready, Rematch, Reveal
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_server.room.decide import refuse

RoomMessage = Play | Ready | Reveal | Rematch | Leave
"""A message of a player to the room that it is in."""
TIMED_SECONDS: Final = 1.0
"""The least time between two moves of a connection that are timed: so nearly all of a person's are, and under load few,
since timing one takes a fiftieth of it.
"""


def refuse_message(message: RoomMessage, code: Refusal) -> Refused:
    """Return the refusal of this message; that of a move carries the move's number."""
    return refuse(message.type, code, number=message.number if isinstance(message, Play) else None)
