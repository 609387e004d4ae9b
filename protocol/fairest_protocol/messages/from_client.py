"""The messages that a client sends."""

from typing import Annotated, Literal

from pydantic import Field, WrapValidator

from fairest_protocol.messages.fields import (
    Capabilities,
    Hash,
    LogTag,
    MatchId,
    Message,
    MoveText,
    Name,
    RoomCode,
    RoundId,
    Secret,
    Token,
)
from fairest_protocol.messages.options import RoomOptions, keep_unplayable


class Hello(Message):
    """The first word on every connection. Without a token the server makes a new player and answers with its token.

    `capabilities` are those that the client has; a server needs none of them now.
    """

    type: Literal["hello"] = "hello"
    token: Token | None = None
    name: Name | None = None
    client: Annotated[str, Field(max_length=60)] = ""
    capabilities: Capabilities = ()


class Create(Message):
    """Open a room and take its first seat."""

    type: Literal["create"] = "create"
    options: Annotated[RoomOptions, WrapValidator(keep_unplayable)] = RoomOptions()


class Join(Message):
    """Take a free seat of a room, or come back to the seat that this player already has."""

    type: Literal["join"] = "join"
    room: RoomCode


class Watch(Message):
    """See a room as a spectator."""

    type: Literal["watch"] = "watch"
    room: RoomCode


class Resume(Message):
    """Come back to a seat and get what follows this position of the seat's view; 0 asks for a snapshot.

    `tag` is what the server sent with that position. If its log holds another one there, it answers with a snapshot, as
    it does without a tag.
    """

    type: Literal["resume"] = "resume"
    room: RoomCode
    position: Annotated[int, Field(ge=0)]
    tag: LogTag | None = None


class Ready(Message):
    """Ready for this round, with the hash of this player's own 32 random bytes."""

    type: Literal["ready"] = "ready"
    round: RoundId
    entropy_hash: Hash


class Reveal(Message):
    """The 32 bytes behind the hash, once both players are ready."""

    type: Literal["reveal"] = "reveal"
    round: RoundId
    entropy: Secret


class Play(Message):
    """A move. `number` counts this seat's accepted moves of the round, from 1; a refusal uses none."""

    type: Literal["play"] = "play"
    number: Annotated[int, Field(ge=1, le=100_000)]
    move: MoveText


class Rematch(Message):
    """After a match: play another one here. It starts when both players have asked."""

    type: Literal["rematch"] = "rematch"


class Leave(Message):
    """Leave the room. Once both players are ready, a player who leaves resigns."""

    type: Literal["leave"] = "leave"


class GetRecord(Message):
    """Ask for the record of a match: of `match`, or of the last match finished in this room."""

    type: Literal["get_record"] = "get_record"
    match: MatchId | None = None


class GetLobby(Message):
    """Ask for a page of the lobby, from 0."""

    type: Literal["get_lobby"] = "get_lobby"
    page: Annotated[int, Field(ge=0, le=100_000)] = 0


FromClient = Annotated[
    Hello | GetLobby | Create | Join | Watch | Resume | Ready | Reveal | Play | Rematch | Leave | GetRecord,
    Field(discriminator="type"),
]
