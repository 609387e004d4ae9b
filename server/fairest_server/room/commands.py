"""What somebody wants to happen in a room; `decide` judges it."""

from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.from_client import Leave, Ready, Rematch, Reveal
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.value import Value


class CreateRoom(Value):
    """Begin the log of a new room, with this player in its first seat."""

    options: RoomOptions
    player: str
    name: str
    connection_id: str


class TakeSeat(Value):
    """A player joins over a link, or comes back to the seat that it has."""

    player: str
    name: str
    connection_id: str
    to: str = "join"


class Disconnect(Value):
    """A link is gone. Means nothing when it speaks for no seat, or a newer link has taken its place."""

    connection_id: str


class MakeMove(Value):
    """Who speaks for a seat over this link makes its move with this number."""

    connection_id: str
    number: int
    move: Move


class PlayerRequest(Value):
    """Who speaks for a seat over this link says something else that changes the room."""

    connection_id: str
    message: Ready | Reveal | Rematch | Leave


class ExpireDeadline(Value):
    """It is this late on Redis' clock: judge every deadline that has passed."""

    now_ms: int


class ProcessLapsed(Value):
    """A server process is gone, and with it every link whose name begins with its own."""

    process_id: str


class Pause(Value):
    """A time on Redis' clock in which no server was there to hear anybody: it counts for no deadline."""

    start_ms: int
    end_ms: int


class ApplyPauses(Value):
    """There were these pauses: those that the room does not know of are taken out of its clocks."""

    pauses: tuple[Pause, ...]


class MarkArchived(Value):
    """The record of this match of the room is stored."""

    match: int


Command = (
    CreateRoom
    | TakeSeat
    | Disconnect
    | ProcessLapsed
    | ApplyPauses
    | MakeMove
    | PlayerRequest
    | ExpireDeadline
    | MarkArchived
)
