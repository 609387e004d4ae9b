"""Commands: requests to change a room, made by players, timers and other processes. `decide` judges them.

`connection_id` names the connection that a command came over, or speaks of. `MakeMove` and `PlayerRequest` act for the
seat that this connection speaks for, and are refused if it speaks for none.
"""

from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.from_client import AskFinish, Leave, Ready, Rematch, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.rivals import RivalWish
from fairest_protocol.value import Value

RoomRequest = Ready | Reveal | Rematch | AskFinish | Leave
"""A message of a player, other than a move, that changes the room."""


class CreateRoom(Value):
    """Create a room, with this player in its first seat. `player` is the hash of the player's token.

    A repeated one takes a seat in a room that exists, as the same player's `create` may have made it. `rival` is the
    wish for a program in the other seat.
    """

    options: RoomOptions
    player: str
    name: str
    connection_id: str
    is_repeatable: bool = False
    rival: RivalWish | None = None


class TakeSeat(Value):
    """A player takes a free seat, or comes back to the seat that it has.

    `to` is the type of the message that asked for it: `join`, `resume`, or a repeated `create`. A `resume` never takes
    a free seat.
    """

    player: str
    name: str
    connection_id: str
    to: str = "join"


class Disconnect(Value):
    """A connection is lost. Nothing happens if it speaks for no seat, or a newer connection has replaced it."""

    connection_id: str


class MakeMove(Value):
    """The player of this connection makes the move with this number."""

    connection_id: str
    number: int
    move: Move


class NoteRoundTrip(Value):
    """The round trip of this connection was measured, in microseconds."""

    connection_id: str
    rtt_us: int


class PlayerRequest(Value):
    """The player of this connection sends another message that changes the room."""

    connection_id: str
    message: RoomRequest


class DealStep(Value):
    """Deal the cards of this certified round at the step that was found for it."""

    round_id: bytes
    step: int


class ExpireDeadline(Value):
    """Judge the next deadline, if it has passed: `now_ms` is the time on Redis' clock."""

    now_ms: int


class ProcessLapsed(Value):
    """A server process is gone, and with it these connections.

    They are those that spoke for a seat before the process was found to have lapsed. A connection that the process has
    taken since, because it is alive again, is not among them.
    """

    connection_ids: frozenset[str]


class Pause(Value):
    """A time, on Redis' clock, in which no server was running: it does not count for any deadline."""

    start_ms: int
    end_ms: int


class ApplyPauses(Value):
    """Delay the deadlines of the room by those of these pauses that it does not know yet."""

    pauses: tuple[Pause, ...]


class CloseRoom(Value):
    """The operator closes the room. `reason` is shown to everybody in it."""

    reason: str


class MarkRecorded(Value):
    """The record of this match of the room, counted from 1, is stored."""

    match: int


Command = (
    CreateRoom
    | TakeSeat
    | Disconnect
    | ProcessLapsed
    | ApplyPauses
    | MakeMove
    | NoteRoundTrip
    | PlayerRequest
    | DealStep
    | ExpireDeadline
    | CloseRoom
    | MarkRecorded
)
