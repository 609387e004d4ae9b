"""The messages of a player to the room that it is in, the refusal of any message, and how often a move is timed."""

from typing import Final, get_args

from fairest_protocol.messages.daily import PlayDaily
from fairest_protocol.messages.from_client import (
    AskFinish,
    FromClient,
    Leave,
    Play,
    Ready,
    Rematch,
    Reveal,
)
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import PlayTournament
from fairest_server.room.refusing import refuse

RoomMessage = Play | Ready | Reveal | Rematch | AskFinish | Leave
"""A message of a player to the room that it is in."""
ROOM_REQUESTS: Final = frozenset(each.model_fields["type"].default for each in get_args(RoomMessage))
"""The types of these messages."""
TIMED_SECONDS: Final = 1.0
"""The least time between two moves of a connection that are timed: so nearly all of a person's are, and under load few,
since timing one takes a fiftieth of it.
"""


def refuse_message(message: FromClient, code: Refusal) -> Refused:
    """Return the refusal of this message, with its id; that of a move carries the move's number."""
    number = message.number if isinstance(message, Play | PlayDaily | PlayTournament) else None
    return refuse(message.type, code, number=number).with_id(message.id)
