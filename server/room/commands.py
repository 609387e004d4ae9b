"""What somebody wants to happen in a room; `decide` judges it."""

from dataclasses import dataclass
from typing import NamedTuple

from protocol.messages.from_client import Leave, Play, Ready, Rematch, Reveal
from protocol.messages.options import RoomOptions


@dataclass(frozen=True, slots=True)
class CreateRoom:
    """Begin the log of a new room, with this player in its first seat."""

    options: RoomOptions
    player: str
    name: str
    link: str


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """A player joins over a link, or comes back to the seat that it has."""

    player: str
    name: str
    link: str
    to: str = "join"


@dataclass(frozen=True, slots=True)
class LoseLink:
    """A link is gone. Means nothing when it speaks for no seat, or a newer link has taken its place."""

    link: str


Word = Play | Ready | Reveal | Rematch | Leave
"""What a player says in a room."""


class Say(NamedTuple):
    """Who speaks for a seat over this link says something that changes the room."""

    link: str
    word: Word


@dataclass(frozen=True, slots=True)
class PassTime:
    """It is this late on Redis' clock: judge every deadline that has passed."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class LoseProcess:
    """A server process is gone, and with it every link whose name begins with its own."""

    process_id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A time on Redis' clock in which no server was there to hear anybody: it counts for no deadline."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class StandStill:
    """There were these pauses: those that the room does not know of are taken out of its clocks."""

    pauses: tuple[Pause, ...]


@dataclass(frozen=True, slots=True)
class ConfirmPublished:
    """The record of this match of the room is stored."""

    match: int


Command = CreateRoom | TakeSeat | LoseLink | LoseProcess | StandStill | Say | PassTime | ConfirmPublished
