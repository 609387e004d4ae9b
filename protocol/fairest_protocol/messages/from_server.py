"""The messages that a server sends."""

from typing import Annotated, Literal

from pydantic import Field

from fairest_protocol.messages.daily import DailyView
from fairest_protocol.messages.entries import Entry
from fairest_protocol.messages.fields import (
    Answer,
    Capabilities,
    Code,
    LogTag,
    MatchId,
    Name,
    Phase,
    PlainText,
    PlayerRooms,
    PlayerTournaments,
    PublicKey,
    RoomCode,
    RulesName,
    Seat,
    ServerMessage,
    TimeMs,
    Token,
    Version,
)
from fairest_protocol.messages.options import Spectators
from fairest_protocol.messages.refusals import Breach, Refusal
from fairest_protocol.messages.rivals import RivalLevel, RivalSeconds
from fairest_protocol.messages.rounds import RoundsHead
from fairest_protocol.messages.scene import Scene
from fairest_protocol.messages.tournaments import Tournament, TournamentRace, TournamentTick


class Welcome(Answer):
    """The answer to `hello`. `token` is there only for a new player, once: keep it where nobody else reads it.

    `key` checks this server's signatures; it stays the same for as long as the deployment lives.
    `version` is that of the server. `rounds` is the head of its chain of rounds; null while it cannot be read.
    `capabilities` are those that the server has, such as `rivals`.
    `rooms` are the newest rooms in which this player has a seat, the newest first; null while they cannot be read.
    `tournaments` are the newest tournaments that this player has entered and that are not over, likewise.
    """

    type: Literal["welcome"] = "welcome"
    name: Name
    token: Token | None
    key: PublicKey
    now_ms: TimeMs
    version: Version
    rounds: RoundsHead | None = None
    capabilities: Capabilities = ()
    rooms: PlayerRooms | None = None
    tournaments: PlayerTournaments | None = None


class Snapshot(Answer):
    """A room as this viewer has seen it, up to and with this position of the viewer's view, under this tag."""

    type: Literal["snapshot"] = "snapshot"
    room: RoomCode
    seat: Seat | None
    position: int
    tag: LogTag
    now_ms: TimeMs
    scene: Scene


class View(Answer):
    """The next entries of this viewer's view, up to and with this position of it, under this tag."""

    type: Literal["view"] = "view"
    position: int
    tag: LogTag
    entries: tuple[Entry, ...]

    @property
    def first(self) -> int:
        """The position of the first entry."""
        return self.position - len(self.entries) + 1

    def part(self, start: int, end: int) -> "View":
        """Return a view of the entries from `start` up to, and without, `end`; both count from 0."""
        return View(position=self.first + end - 1, tag=self.tag, entries=self.entries[start:end])


class Elsewhere(ServerMessage):
    """An offer to a player, before its race: the room's address, where a client may go on, or not.

    This connection came by another path, and another process may serve the room by preference.
    """

    type: Literal["elsewhere"] = "elsewhere"
    room: RoomCode


class Placed(ServerMessage):
    """On a fixed tick, the cards on each seat's foundations, starters included: all that is told of a leader."""

    type: Literal["placed"] = "placed"
    placed: tuple[int, int]


class Watching(ServerMessage):
    """How many connections watch the room as spectators, about once a second and only when it has changed."""

    type: Literal["watching"] = "watching"
    watching: int


class Accepted(Answer):
    """The answer to a move sent again: it has been accepted before, under this number, and only once."""

    type: Literal["accepted"] = "accepted"
    number: int


class Refused(Answer):
    """A request was refused, nothing changed. `number` is the refused move's."""

    type: Literal["refused"] = "refused"
    to: str
    code: Annotated[Annotated[Refusal, Field(strict=False)] | Code, Field(union_mode="left_to_right")]
    sentence: str
    number: int | None = None


class Error(ServerMessage):
    """The protocol was broken, the connection is not admitted, or the server has a fault; it closes behind this."""

    type: Literal["error"] = "error"
    code: Annotated[Annotated[Breach, Field(strict=False)] | Code, Field(union_mode="left_to_right")]
    sentence: str


class Left(Answer):
    """The answer to `leave`: this connection is in no room any more."""

    type: Literal["left"] = "left"


class Queued(Answer):
    """The answer to `queue`, sent again whenever `waiting` changes: how many players wait for these rules, this one
    among them. `since_ms`: when this player began to wait.

    Without an `id`, it may come to a player in a room whose opponent did not arrive, or to which no program came before
    a person was found: the player has left the room, and waits in the queue again.
    """

    type: Literal["queued"] = "queued"
    rules: RulesName
    since_ms: TimeMs
    waiting: int


class LeftQueue(Answer):
    """The answer to `leave_queue`. It comes by itself when the same player queues over another connection."""

    type: Literal["left_queue"] = "left_queue"


class Announcement(ServerMessage):
    """A sentence of the operator to everybody who is connected. It may come at any time after `welcome`."""

    type: Literal["announcement"] = "announcement"
    text: PlainText


class MatchRecord(Answer):
    """The record of a finished match, line by line, ready to be written to a file."""

    type: Literal["record"] = "record"
    match: MatchId
    lines: tuple[str, ...]


class Renewed(Answer):
    """The answer to `renew`: from now on only the new token is that of this player."""

    type: Literal["renewed"] = "renewed"


class Pong(Answer):
    """The answer to `ping`, with the server's clock."""

    type: Literal["pong"] = "pong"
    now_ms: TimeMs


class ListedRoom(ServerMessage):
    """A room as the lobby knows it: nothing of a round but whether there is one. `since_ms`: when that began.

    With `rival_after_seconds` a program may take the free seat once the room has waited so long; null if none may.
    `certified` is there only if its deals are. `watching` and `placed` are those of the last seconds: the number of
    spectators, and the cards that each player has placed, null outside of a race and in a room without spectators.
    """

    room: RoomCode
    phase: Annotated[Phase, Field(strict=False)]
    names: tuple[Name | None, Name | None]
    wins: tuple[int, int]
    rules: str
    piles: int
    redeals: int
    best_of: int
    spectators: Annotated[Spectators, Field(strict=False)]
    since_ms: TimeMs
    rival_after_seconds: RivalSeconds | None = None
    rival_level: RivalLevel | None = None
    certified: Annotated[Literal[1] | None, Field(exclude_if=lambda value: value is None)] = None
    watching: int = 0
    placed: tuple[int, int] | None = None


class LobbyPage(Answer):
    """A page of the listed rooms: those with a free seat first, then the newest. `total` counts all of them."""

    type: Literal["lobby"] = "lobby"
    page: int
    pages: int
    total: int
    rooms: tuple[ListedRoom, ...]


class UnknownMessage(ServerMessage):
    """Stands for a message of a type that this version does not know, as the decoder returns it; no server sends it."""

    type: Literal["unknown"] = "unknown"


FromServer = Annotated[
    Welcome
    | Renewed
    | Pong
    | LobbyPage
    | Snapshot
    | View
    | Elsewhere
    | Placed
    | Watching
    | Accepted
    | Refused
    | Error
    | Left
    | Queued
    | LeftQueue
    | Announcement
    | MatchRecord
    | DailyView
    | Tournament
    | TournamentTick
    | TournamentRace
    | UnknownMessage,
    Field(discriminator="type"),
]
