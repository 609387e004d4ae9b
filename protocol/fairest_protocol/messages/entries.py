"""The entries of a view: everything that one viewer, a seat or a spectator, is shown of a room, in order.

The horizon rule decides which entry is shown to whom, and when: see `fairest_server.room.view`. Seats are 0 and 1 on
the wire; people read them as 1 and 2.
"""

from typing import Annotated, Literal

from pydantic import Field

from fairest_protocol.calculation.certified import STEPS
from fairest_protocol.calculation.race import Outcome
from fairest_protocol.calculation.rules import MAX_FOUNDATIONS, MAX_PILES, Foundation
from fairest_protocol.calculation.terms import BEST_OF
from fairest_protocol.messages.fields import (
    CardText,
    Hash,
    MoveText,
    Name,
    PlainText,
    RoundId,
    Seat,
    Secret,
    ServerMessage,
    ShownTurn,
    Signature,
    TimeMs,
)

CertifiedStepNumber = Annotated[int | None, Field(ge=0, lt=STEPS, exclude_if=lambda value: value is None)]
"""The step of a certified round, left out of every other one."""


class Seated(ServerMessage):
    """A player took a seat."""

    type: Literal["seated"] = "seated"
    seat: Seat
    name: Name


class SeatFreed(ServerMessage):
    """A player gave a seat up, was not ready in time, or stayed away; or the operator closes the room."""

    type: Literal["seat_freed"] = "seat_freed"
    seat: Seat
    reason: Literal["left", "not_ready", "away", "closed"]


class Attached(ServerMessage):
    """The seat's player is connected."""

    type: Literal["attached"] = "attached"
    seat: Seat


class Detached(ServerMessage):
    """The seat's player lost the connection; the seat waits until this time."""

    type: Literal["detached"] = "detached"
    seat: Seat
    until_ms: TimeMs


class Paused(ServerMessage):
    """All servers, or their Redis, were away for so long. Clocks stood still: every deadline is later by that."""

    type: Literal["paused"] = "paused"
    length_ms: TimeMs


class RoundOpened(ServerMessage):
    """A round can be made ready for until this time; it has this number in its match.

    `match` is the id of that match, and of its first round.

    `signature` binds the server to the secret behind `commitment`, and to the terms, before anybody is ready.
    """

    type: Literal["round_opened"] = "round_opened"
    round: RoundId
    match: RoundId
    round_number: Annotated[int, Field(ge=1, le=BEST_OF[-1])]
    commitment: Hash
    signature: Signature
    until_ms: TimeMs


class RoundVoided(ServerMessage):
    """The open round was called off before both players were ready; its commitment is opened all the same."""

    type: Literal["round_voided"] = "round_voided"
    round: RoundId
    secret: Secret


class PlayerReady(ServerMessage):
    """A player is ready, bound to the entropy behind this hash. `until_ms`: both are, and reveal until this time.

    It is null for the first player who is ready.
    """

    type: Literal["player_ready"] = "player_ready"
    seat: Seat
    entropy_hash: Hash
    until_ms: TimeMs | None = None


class Revealed(ServerMessage):
    """A player showed its entropy."""

    type: Literal["revealed"] = "revealed"
    seat: Seat
    entropy: Secret


class Dealt(ServerMessage):
    """The cards are dealt, and the countdown runs until this time.

    `envelopes` holds, for each sealed pass, one hash a position.

    With `piles` and `redeals` it is all that a client needs to lay the board out, whatever the variant. `step` is there
    only in certified rooms: the first step whose deal is proved winnable.
    """

    type: Literal["dealt"] = "dealt"
    layout: Annotated[tuple[Foundation, ...], Field(min_length=1, max_length=MAX_FOUNDATIONS)]
    starters: tuple[CardText, ...]
    markers: tuple[CardText, ...]
    piles: Annotated[int, Field(ge=1, le=MAX_PILES)]
    redeals: Annotated[int, Field(ge=0)]
    envelopes: Annotated[tuple[tuple[Hash, ...], ...], Field(min_length=1)]
    until_ms: TimeMs
    step: CertifiedStepNumber = None


class Started(ServerMessage):
    """The race is on, until this time at the latest."""

    type: Literal["started"] = "started"
    until_ms: TimeMs


class Turned(ServerMessage):
    """A seat turned a stock card: `turn` is its pass and its position there; the salt opens its envelope."""

    type: Literal["turned"] = "turned"
    seat: Seat
    turn: ShownTurn
    card: CardText
    salt: Hash


class Moved(ServerMessage):
    """A seat's accepted move, its number, and the card that moved. To the mover it is the acknowledgement."""

    type: Literal["moved"] = "moved"
    seat: Seat
    number: Annotated[int, Field(ge=1)]
    move: MoveText
    card: CardText | None


class Stopped(ServerMessage):
    """A seat has stopped and keeps its count; the other one has until this time. How it ended is told at the end.

    In the countdown, when the seat is stopped for being away, the time is that of a race that starts as announced.
    """

    type: Literal["stopped"] = "stopped"
    seat: Seat
    until_ms: TimeMs


class FinishAsked(ServerMessage):
    """A player whose race has ended asks the other one to finish: once a round at most. It changes nothing."""

    type: Literal["finish_asked"] = "finish_asked"
    seat: Seat


class RoundFinished(ServerMessage):
    """The result of a round, the rounds won by each seat in this match, and the secret behind the commitment."""

    type: Literal["round_finished"] = "round_finished"
    outcome: Outcome
    wins: tuple[int, int]
    match_is_over: bool
    duration_ms: TimeMs
    secret: Secret


class RematchWanted(ServerMessage):
    """A player asked for another match."""

    type: Literal["rematch_wanted"] = "rematch_wanted"
    seat: Seat


class RoomClosed(ServerMessage):
    """The room is gone: nobody came back to it in time, or the operator has closed it, for this `reason`."""

    type: Literal["room_closed"] = "room_closed"
    reason: PlainText | None = None


class UnknownEntry(ServerMessage):
    """Stands for an entry of a type that this version does not know, as the decoder puts it there; no server sends it.

    It keeps its place, so that positions count on, and changes nothing in the scene.
    """

    type: Literal["unknown"] = "unknown"


Entry = Annotated[
    Seated
    | SeatFreed
    | Attached
    | Detached
    | Paused
    | RoundOpened
    | RoundVoided
    | PlayerReady
    | Revealed
    | Dealt
    | Started
    | Turned
    | Moved
    | Stopped
    | FinishAsked
    | RoundFinished
    | RematchWanted
    | RoomClosed
    | UnknownEntry,
    Field(discriminator="type"),
]
