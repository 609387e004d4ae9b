"""The messages that a client sends."""

from typing import Annotated, Literal

from pydantic import Field, WrapValidator

from fairest_protocol.messages.daily import Daily, PlayDaily
from fairest_protocol.messages.fields import (
    Capabilities,
    ChosenId,
    Hash,
    LogTag,
    MatchId,
    MoveText,
    Name,
    RoomCode,
    RoundId,
    RulesName,
    Secret,
    Token,
    WithId,
)
from fairest_protocol.messages.options import RoomOptions, keep_unplayable
from fairest_protocol.messages.rivals import RivalLevel, RivalSeconds, RivalWish
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    PlayTournament,
    RaceTournament,
    ReadyTournament,
    RevealTournament,
    StartTournament,
    WatchTournament,
)


class Hello(WithId):
    """The first word on every connection. Without a token the server makes a new player and answers with its token.

    `capabilities` are those that the client has, such as `certified`.
    """

    type: Literal["hello"] = "hello"
    token: Token | None = None
    name: Name | None = None
    client: Annotated[str, Field(max_length=60)] = ""
    capabilities: Capabilities = ()


class Create(WithId):
    """Open a room and take its first seat. Sent again with the same `key`, it leads to the same room.

    The key is one of the client's own choice, for this player alone. The server knows it for ten minutes.
    With `rival_after_seconds`, and the capability `rivals`, a program may take the free seat of a listed room after
    this time; `rival_level` is the level that is wished for.
    """

    type: Literal["create"] = "create"
    options: Annotated[RoomOptions, WrapValidator(keep_unplayable)] = RoomOptions()
    key: ChosenId | None = None
    rival_after_seconds: Annotated[RivalSeconds | None, Field(exclude_if=lambda value: value is None)] = None
    rival_level: Annotated[RivalLevel | None, Field(exclude_if=lambda value: value is None)] = None

    @property
    def rival(self) -> RivalWish | None:
        """The wish for a rival, if there is one."""
        return None if self.rival_after_seconds is None else RivalWish(self.rival_after_seconds, self.rival_level)


class Queue(WithId):
    """Wait for an opponent who wants to race by the same rules; the answers are `queued`, and then the `snapshot` of
    the room of the two. Only with the capability `race_queue`.

    With `rival_after_seconds` a program may become the opponent after this time; `rival_level` is the level that is
    wished for.
    """

    type: Literal["queue"] = "queue"
    rules: RulesName = "classic"
    rival_after_seconds: RivalSeconds | None = None
    rival_level: RivalLevel | None = None


class LeaveQueue(WithId):
    """Wait no longer. Answered by `left_queue`, or refused if a room has been entered meanwhile."""

    type: Literal["leave_queue"] = "leave_queue"


class Join(WithId):
    """Take a free seat of a room, or come back to the seat that this player already has."""

    type: Literal["join"] = "join"
    room: RoomCode


class Watch(WithId):
    """See a room as a spectator."""

    type: Literal["watch"] = "watch"
    room: RoomCode


class Resume(WithId):
    """Come back to a seat and get what follows this position of the seat's view; 0 asks for a snapshot.

    `tag` is what the server sent with that position. If its log holds another one there, it answers with a snapshot, as
    it does without a tag.
    """

    type: Literal["resume"] = "resume"
    room: RoomCode
    position: Annotated[int, Field(ge=0)]
    tag: LogTag | None = None


class Ready(WithId):
    """Ready for this round, with the hash of this player's own 32 random bytes."""

    type: Literal["ready"] = "ready"
    round: RoundId
    entropy_hash: Hash


class Reveal(WithId):
    """The 32 bytes behind the hash, once both players are ready."""

    type: Literal["reveal"] = "reveal"
    round: RoundId
    entropy: Secret


class Play(WithId):
    """A move. `number` counts this seat's accepted moves of the round, from 1; a refusal uses none."""

    type: Literal["play"] = "play"
    number: Annotated[int, Field(ge=1, le=100_000)]
    move: MoveText


class Rematch(WithId):
    """After a match: play another one here. It starts when both players have asked."""

    type: Literal["rematch"] = "rematch"


class AskFinish(WithId):
    """Ask the other player to finish, once our own race has ended. Only for a server with the capability `ask_finish`.

    It is told once a round, and changes nothing in the race.
    """

    type: Literal["ask_finish"] = "ask_finish"


class Leave(WithId):
    """Leave the room. Once both players are ready, a player who leaves resigns."""

    type: Literal["leave"] = "leave"


class GetRecord(WithId):
    """Ask for the record of a match: of `match`, or of the last match finished in this room."""

    type: Literal["get_record"] = "get_record"
    match: MatchId | None = None


class GetLobby(WithId):
    """Ask for a page of the lobby, from 0."""

    type: Literal["get_lobby"] = "get_lobby"
    page: Annotated[int, Field(ge=0, le=100_000)] = 0


class Renew(WithId):
    """Take another token, of the client's own choice, and lose the present one, which somebody else may know.

    Keep the new token before this is sent: if the answer is lost, one of the two is right. Draw its 32 bytes at random.
    """

    type: Literal["renew"] = "renew"
    token: Token


class Ping(WithId):
    """Ask for a sign of life: a browser cannot send WebSocket pings."""

    type: Literal["ping"] = "ping"


FromClient = Annotated[
    Hello
    | GetLobby
    | Create
    | Queue
    | LeaveQueue
    | Join
    | Watch
    | Resume
    | Ready
    | Reveal
    | Play
    | Rematch
    | AskFinish
    | Leave
    | GetRecord
    | Renew
    | Daily
    | PlayDaily
    | CreateTournament
    | JoinTournament
    | LeaveTournament
    | StartTournament
    | WatchTournament
    | ReadyTournament
    | RevealTournament
    | RaceTournament
    | PlayTournament
    | Ping,
    Field(discriminator="type"),
]
