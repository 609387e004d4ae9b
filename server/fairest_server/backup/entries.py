"""The lines of a backup: one for each key, by its type in Redis. Bytes are Latin-1, which has a character for each."""

from typing import Final

import msgspec

from fairest_protocol.value import Value

ENCODING: Final = "latin-1"


class Heading(Value, tag="backup", tag_field="type"):
    """The first line: the version of this format, and Redis' clock when the backup began."""

    format: int
    taken_at_ms: int


class Text(Value, tag="string", tag_field="type"):
    """A key that is a string. Here and below `expires_at_ms` is 0 for a key that does not expire."""

    key: str
    expires_at_ms: int
    text: str


class Fields(Value, tag="hash", tag_field="type"):
    """A key that is a hash."""

    key: str
    expires_at_ms: int
    fields: dict[str, str]


class Items(Value, tag="list", tag_field="type"):
    """A key that is a list."""

    key: str
    expires_at_ms: int
    items: list[str]


class Members(Value, tag="set", tag_field="type"):
    """A key that is a set."""

    key: str
    expires_at_ms: int
    members: list[str]


class Scores(Value, tag="zset", tag_field="type"):
    """A key that is a sorted set."""

    key: str
    expires_at_ms: int
    scores: dict[str, str]


class Stream(Value, tag="stream", tag_field="type"):
    """A stream: the id of each entry, and its fields and values in turn."""

    key: str
    expires_at_ms: int
    entries: list[tuple[str, list[str]]]


class Room(Value, tag="room", tag_field="type"):
    """A room at one instant: its log, the time of its next check, and its entry in the lobby, where it has them."""

    room: str
    expires_at_ms: int
    log: list[str]
    next_check: str | None
    lobby: str | None


class Trailer(Value, tag="end", tag_field="type"):
    """The last line: the number of lines between the first and this one, and the SHA-256 of all before it."""

    entries: int
    sha256: str


Entry = Text | Fields | Items | Members | Scores | Stream | Room

_LINES: Final[msgspec.json.Decoder[Heading | Entry | Trailer]] = msgspec.json.Decoder(Heading | Entry | Trailer)
_ENCODER: Final = msgspec.json.Encoder()


def encode_line(line: Heading | Entry | Trailer) -> bytes:
    """Return a line, with its line feed."""
    return _ENCODER.encode(line) + b"\n"


def decode_line(text: bytes) -> Heading | Entry | Trailer:
    """Parse a line. Raises ValueError."""
    return _LINES.decode(text)


def as_text(value: bytes) -> str:
    """Return bytes as the text that stands for them."""
    return value.decode(ENCODING)


def as_bytes(text: str) -> bytes:
    """Return the bytes that a text stands for. Raises ValueError."""
    return text.encode(ENCODING)
