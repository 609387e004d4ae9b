"""The field types that messages share, and the base of every message."""

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue

from fairest_protocol.calculation.cards import Card, is_card
from fairest_protocol.calculation.drand import DRAND_SIGNATURE_BYTES
from fairest_protocol.calculation.moves import MOVES, Move
from fairest_protocol.calculation.race import Turn
from fairest_protocol.calculation.seal import KEY_BYTES, ROUND_ID_BYTES, SECRET_BYTES, SIGNATURE_BYTES

SUBPROTOCOL: Final = "fairest.v1"
MAX_SERVER_MESSAGE_BYTES: Final = 4 * 2**20
"""No message of a server is larger. The record of nine rounds of the longest variant takes about half of it."""
TICK_SECONDS: Final = 3.0
"""The interval at which the numbers of placed cards are sent, ahead of the horizon."""


class Message(BaseModel):
    """A frozen, strict message: no unknown keys, no conversions between types, bytes as hexadecimal text."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", hide_input_in_errors=True
    )


class ServerMessage(Message):
    """A part of what a server sends. Unknown fields are left out, because a newer server may add some.

    docs/protocol.md says what version 1 of the protocol may add, and docs/decisions/0062-how-v1-grows.md why.
    """

    model_config = ConfigDict(extra="ignore")


ChosenId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
"""An id that a client chooses: 1 to 40 letters, digits, underscores and hyphens."""


class WithId(Message):
    """A message of a client, or an answer to one: `id` is the one that the client has given its message.

    It is left out of the text where there is none, so that it costs nothing on the way of a move.
    """

    id: Annotated[ChosenId | None, Field(exclude_if=lambda value: value is None)] = None

    def with_id(self, request_id: str | None) -> Self:
        """Return the same message as the answer to one with this id."""
        return self if request_id is None else self.model_copy(update={"id": request_id})


class Answer(WithId, ServerMessage):
    """The answer of a server to a message of a client."""


class Phase(StrEnum):
    """Where a room stands."""

    WAITING = "waiting"
    READY = "ready"
    DEALING = "dealing"
    COUNTDOWN = "countdown"
    RACING = "racing"
    FINISHED = "finished"
    CLOSED = "closed"


RACING: Final = Phase.RACING
"""The phase in which moves are made. Python 3.11 takes as long to look up a member of an enum as to call a function."""


def _check_card(text: str) -> Card:
    if not is_card(text):
        raise ValueError("not a card: rank A23456789TJQK, then suit CDHS or cdhs")
    return Card(text)


def _parse_move(text: object) -> Move:
    if isinstance(text, Move):
        return text
    if not isinstance(text, str) or text not in MOVES:
        raise ValueError("not a move: source s or a-h, then target 1-8 or a-h; or redeal, stop, resign")
    return MOVES[text]


def _check_turn(turn: Turn) -> Turn:
    if turn.pass_number < 0 or turn.position < 0:
        raise ValueError("not a turn: pass and position count from 0")
    return turn


CARD_SCHEMA: Final[JsonSchemaValue] = {"type": "string", "pattern": "^[A2-9TJQK][CDHScdhs]$"}
"""The JSON schema of a card."""
CardText = Annotated[Card, AfterValidator(_check_card), WithJsonSchema(CARD_SCHEMA)]
"""A card: its rank, then its suit, in small letters in the second deck of two."""

MoveText = Annotated[
    Move,
    PlainValidator(_parse_move),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^([sa-h][1-8a-h]|redeal|stop|resign)$"}),
]
"""A move: its source, then its target, such as `sa`, `s2`, `b4`; or `redeal`, `stop`, `resign`."""

ShownTurn = Annotated[Turn, AfterValidator(_check_turn)]
"""How far a seat has seen the stock, as the list `[pass_number, position]`."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{2,20}$")]
"""A player's name: letters, digits, underscore and hyphen, 2 to 20 of them."""

PLAIN_TEXT_LENGTH: Final = 500
"""Most characters of a text that the operator writes to players."""


def _check_plain_text(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("not plain text: one line of printable characters, without space around it")
    return text


PlainText = Annotated[str, Field(min_length=1, max_length=PLAIN_TEXT_LENGTH), AfterValidator(_check_plain_text)]
"""A sentence of the operator: one line of printable characters. It may hold markup, so show it as it is."""

MatchId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""The id of a match, as its record names it."""
RoomCode = Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+){1,5}$", max_length=60)]
"""A room's code, words joined by hyphens. Everybody who knows the code may join or watch the room."""

PlayerRooms = Annotated[tuple[RoomCode, ...], Field(max_length=16)]
"""Codes of rooms in which a player has a seat, the newest first."""

PlayerTournaments = Annotated[tuple[RoomCode, ...], Field(max_length=16)]
"""Codes of tournaments in which a player plays, the newest first."""

RulesName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,40}$")]
"""The name of a variant, such as `classic`."""

Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")]
"""256 random bits in unpadded base64url. It gives access to the player's seats: never log it or put it into a URL."""

Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""The code of a refusal or of a breach; a newer server may have some that this version does not know."""
Capability = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""The name of something that version 1 of the protocol did not have from the start."""
Capabilities = Annotated[tuple[Capability, ...], Field(max_length=64)]
"""The names of things that version 1 of the protocol did not have from the start, and that a program has."""

Hash = Annotated[bytes, Field(min_length=32, max_length=32)]
Secret = Annotated[bytes, Field(min_length=SECRET_BYTES, max_length=SECRET_BYTES)]
RoundId = Annotated[bytes, Field(min_length=ROUND_ID_BYTES, max_length=ROUND_ID_BYTES)]
Signature = Annotated[bytes, Field(min_length=SIGNATURE_BYTES, max_length=SIGNATURE_BYTES)]
DrandSignature = Annotated[bytes, Field(min_length=DRAND_SIGNATURE_BYTES, max_length=DRAND_SIGNATURE_BYTES)]
PublicKey = Annotated[bytes, Field(min_length=KEY_BYTES, max_length=KEY_BYTES)]
"""A server's Ed25519 key, by which its signatures are checked."""
Version = Annotated[str, Field(pattern=r"^[0-9A-Za-z.+!-]{1,60}$")]
"""A version of Fairest, as Python packages write it, such as `0.2.0`."""
LogTag = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
"""A random tag that all events of one append share.

A client sends back the tag of the last entry that it saw, so that a server can tell whether its log still holds what
the client saw.
"""
Seat = Literal[0, 1]
"""A seat; people read 0 as 1 and 1 as 2."""
TimeMs = Annotated[int, Field(ge=0, lt=2**53)]
"""Milliseconds since 1970 on the server's clock, below 2^53, so that every JSON reader keeps it exact."""


def as_seat(number: int) -> Seat:
    """Return the seat number, 0 or 1, as the literal type that messages and events ask for."""
    return 1 if number else 0
