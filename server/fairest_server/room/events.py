"""The events of a room's log, from which everything else about the room is computed.

Events hold no times: the log stamps each of them with Redis' clock. A consequence of the rules (a stuck player, a
finished round) is not an event of its own: `evolve` derives it from the event, each time in the same way.

Types and fields are the format of stored logs, so they keep their names: the field `link` holds the id of a connection,
which is `connection_id` everywhere else, and `match_published` says that the record of a match was stored.
"""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PlainSerializer, PlainValidator

from fairest_protocol.calculation.certified import STEPS
from fairest_protocol.calculation.moves import Move
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages.fields import Hash, Message, Name, PlainText, RoundId, Seat, Secret, Signature, TimeMs
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.scene import Scene
from fairest_protocol.value import Value
from fairest_server.room.saved_state import restore_state, save_state
from fairest_server.room.state import RoomState


class RoomCreated(Message):
    """The first event of every log that was not cut."""

    type: Literal["room_created"] = "room_created"
    options: RoomOptions
    rival_after_seconds: Annotated[int | None, Field(exclude_if=lambda value: value is None)] = None
    rival_level: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """The wish for a rival, which logs of older versions do not have."""


class SeatTaken(Message):
    """A player takes a seat. `player` is the hash of the player's token."""

    type: Literal["seat_taken"] = "seat_taken"
    seat: Seat
    player: str
    name: Name


class SeatFreed(Message):
    """A seat is free again. In the phase `ready` this also calls off the open round."""

    type: Literal["seat_freed"] = "seat_freed"
    seat: Seat
    reason: Literal["left", "not_ready", "away", "closed"]


class Attached(Message):
    """A seat's player is connected; from now on this connection, and no older one, speaks for the seat."""

    type: Literal["attached"] = "attached"
    seat: Seat
    link: str


class Detached(Message):
    """A seat's connection was lost. `lapsed`: the process that held it stopped sending heartbeats."""

    type: Literal["detached"] = "detached"
    seat: Seat
    link: str
    lapsed: bool = False


class Paused(Message):
    """No server was running in this time, so every clock of the room stood still."""

    type: Literal["paused"] = "paused"
    start_ms: TimeMs
    end_ms: TimeMs


class RoundOpened(Message):
    """A round was opened. Of the server's secret, only the signed commitment is shown until the end of the round."""

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
    """A player showed its entropy. Once both have, the cards are dealt, in a certified room once the step is found."""

    type: Literal["revealed"] = "revealed"
    seat: Seat
    entropy: Secret


class StepFound(Message):
    """The step of a certified round was found, so its cards are dealt. Every process finds the same one."""

    type: Literal["step_found"] = "step_found"
    step: Annotated[int, Field(ge=0, lt=STEPS)]


class Started(Message):
    """The countdown is over: the race starts."""

    type: Literal["started"] = "started"


class RoundTripMeasured(Message):
    """The process that holds a seat's connection, `link`, measured its round trip: the shortest so far on it."""

    type: Literal["round_trip_measured"] = "round_trip_measured"
    seat: Seat
    link: str
    rtt_us: Annotated[int, Field(ge=0, lt=10**9)]


class Played(Value):
    """A seat's accepted move. Most events are moves, so they have a shorter form in the log than JSON."""

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


class FinishAsked(Message):
    """A player whose race has ended asks the other one to finish."""

    type: Literal["finish_asked"] = "finish_asked"
    seat: Seat


class MatchPublished(Message):
    """Result and record of the finished match are stored where they outlive the room."""

    type: Literal["match_published"] = "match_published"


class RoomClosed(Message):
    """The room is closed, and its log expires: no player came back in time, or the operator gave `reason`."""

    type: Literal["room_closed"] = "room_closed"
    reason: PlainText | None = None


class CalledOffRound(Message):
    """A round that was called off before the first race of a match: the record of the next match will tell of it."""

    round: RoundId
    secret: Secret
    signature: Signature
    entropy_hashes: tuple[Hash | None, Hash | None]


class Checkpoint(Message):
    """Everything that still matters of the events before it, so that the log before it may be removed.

    It changes nothing: all viewers had been shown everything, and no match without a stored record had a result.
    `position` and `tag` are where every viewer stands, `scene` is what each of them has seen. `recorded_match` is the
    id of the newest match that is over, which has a record; `created_ms` is when the room was created.
    """

    type: Literal["checkpoint"] = "checkpoint"
    state: Annotated[RoomState, PlainValidator(restore_state), PlainSerializer(save_state)]
    position: NonNegativeInt
    tag: str
    scene: Scene
    called_off: tuple[CalledOffRound, ...] = ()
    recorded_match: RoundId | None = None
    created_ms: TimeMs


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
    | StepFound
    | Started
    | RoundTripMeasured
    | SeatsStopped
    | RematchAsked
    | FinishAsked
    | MatchPublished
    | Checkpoint
    | RoomClosed,
    Field(discriminator="type"),
]
"""The events that are stored as JSON."""

Event = JsonEvent | Played
