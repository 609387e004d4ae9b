"""What happened in a room: the events of its log, from which everything else is computed.

Times are not in the events; the log stamps each of them with Redis' clock. What follows from an event by the rules
(a stuck player, a finished round) is no event of its own: `evolve` finds it every time in the same way.
"""

from typing import Annotated, Literal

from pydantic import Field

from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.round import Ending
from fairest_protocol.messages.fields import Hash, Message, Name, RoundId, Seat, Secret, Signature, TimeMs
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value


class RoomCreated(Message):
    """The first event of every log."""

    type: Literal["room_created"] = "room_created"
    options: RoomOptions


class SeatTaken(Message):
    """A player, known by the hash of its token, sits down."""

    type: Literal["seat_taken"] = "seat_taken"
    seat: Seat
    player: str
    name: Name


class SeatFreed(Message):
    """A seat is free again; an open round nobody is bound to yet is called off with it."""

    type: Literal["seat_freed"] = "seat_freed"
    seat: Seat
    reason: Literal["left", "not_ready", "away"]


class Attached(Message):
    """A seat's player is connected by this link; an older link of the seat counts no more."""

    type: Literal["attached"] = "attached"
    seat: Seat
    link: str


class Detached(Message):
    """A seat's link was lost. `lapsed`: its process was silent for so long that it was given up."""

    type: Literal["detached"] = "detached"
    seat: Seat
    link: str
    lapsed: bool = False


class Paused(Message):
    """In this time no server was there to hear anybody: every clock stood still."""

    type: Literal["paused"] = "paused"
    start_ms: TimeMs
    end_ms: TimeMs


class RoundOpened(Message):
    """A round with the server's secret, of which only the signed commitment is shown until the end."""

    type: Literal["round_opened"] = "round_opened"
    round: RoundId
    secret: Secret
    signature: Signature


class PlayerReady(Message):
    """A player is ready, bound to the entropy behind this hash."""

    type: Literal["player_ready"] = "player_ready"
    seat: Seat
    entropy_hash: Hash


class Revealed(Message):
    """A player showed its entropy; with the second one the cards are dealt."""

    type: Literal["revealed"] = "revealed"
    seat: Seat
    entropy: Secret


class Started(Message):
    """The countdown is over, the race is on."""

    type: Literal["started"] = "started"


class Played(Value):
    """A seat's accepted move. There are more of them than of all the others, so they have a shorter form in the log."""

    seat: Seat
    move: Move


class SeatsStopped(Message):
    """The clock, absence or leaving ended the race of these seats."""

    type: Literal["seats_stopped"] = "seats_stopped"
    seats: tuple[Seat, ...]
    ending: Annotated[Ending, Field(strict=False)]


class RematchAsked(Message):
    """A player wants another match."""

    type: Literal["rematch_asked"] = "rematch_asked"
    seat: Seat


class MatchPublished(Message):
    """The finished match's result and record are stored where they outlive the room."""

    type: Literal["match_published"] = "match_published"


class RoomClosed(Message):
    """Nobody came back in time; the log is left to expire."""

    type: Literal["room_closed"] = "room_closed"


JsonEvent = Annotated[
    RoomCreated
    | SeatTaken
    | SeatFreed
    | Attached
    | Detached
    | Paused
    | RoundOpened
    | PlayerReady
    | Revealed
    | Started
    | SeatsStopped
    | RematchAsked
    | MatchPublished
    | RoomClosed,
    Field(discriminator="type"),
]
"""The events that stand in the log as JSON."""

Event = JsonEvent | Played
