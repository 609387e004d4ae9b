"""Entries of a log: between values and the bytes that Redis stores."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.value import Value
from fairest_server.room.events import Event, JsonEvent, Played
from fairest_server.room.steps import LogEntry, LogSlice

_STAMP_DIGITS: Final = 13
_JSON_EVENTS: Final = TypeAdapter[JsonEvent](JsonEvent, config=ConfigDict(hide_input_in_errors=True))
"""Errors of validation are logged, so they leave out the input, which may hold a secret."""


def format_event(event: Event) -> bytes:
    """Return an event as JSON; a move, as nearly all events are, as the seat's digit and the move's text."""
    return f"{event.seat}{event.move.text}".encode() if isinstance(event, Played) else encode(event)


_PLAYED: Final = {
    format_event(played): played for move in MOVES.values() for played in (Played(0, move), Played(1, move))
}
"""Every move of either seat by its text; all rooms share these few hundred values."""


def parse_event(text: bytes) -> Event:
    """Parse an event. Raises ValueError."""
    return _PLAYED.get(text) or _JSON_EVENTS.validate_json(text)


class StoredEntry(Value):
    """An entry of the stream: one append, whose events have the indices from `index` on, and are texts still."""

    index: int
    tag: str
    at_ms: int
    texts: Sequence[bytes]

    @property
    def last_index(self) -> int:
        """The index of the last event."""
        return self.index + len(self.texts) - 1


def read_entry(entry_id: bytes, fields: Sequence[bytes]) -> StoredEntry:
    """Read an entry without parsing its events. Raises ValueError unless its fields are as append.lua says."""
    last_index = int(entry_id.partition(b"-")[0])
    match fields:
        case [b"t", at_ms, b"g", tag, b"e", text]:
            return StoredEntry(last_index, tag.decode(), int(at_ms), (text,))
        case [head, _, *_] if len(head) > _STAMP_DIGITS and not any(fields[2::2]) and len(fields) % 2 == 0:
            texts = fields[1::2]
            first = last_index - len(texts) + 1
            return StoredEntry(first, head[_STAMP_DIGITS:].decode(), int(head[:_STAMP_DIGITS]), texts)
    raise ValueError("an entry has a time and a tag as its first field, and a value for each event")


def parse_entry(entry_id: bytes, fields: Sequence[bytes]) -> list[LogEntry]:
    """Parse the events of an entry of the stream. Raises ValueError, as `read_entry` does."""
    stored = read_entry(entry_id, fields)
    tag, at_ms = stored.tag, stored.at_ms
    return [LogEntry(index, tag, at_ms, parse_event(text)) for index, text in enumerate(stored.texts, stored.index)]


def parse_entries(found: Iterable[tuple[bytes, Sequence[bytes]]]) -> list[LogEntry]:
    """Parse the events of consecutive entries of the stream. Raises ValueError, as `read_entry` does."""
    return [event for entry_id, fields in found for event in parse_entry(entry_id, fields)]


def parse_wakeup(payload: bytes) -> LogSlice:
    """Parse the payload of a wake-up, which append.lua wrote. Raises ValueError."""
    first, after_tag, tag, at_ms, events = json.loads(payload)
    entries = [
        LogEntry(int(first) + offset, tag, int(at_ms), parse_event(text.encode())) for offset, text in enumerate(events)
    ]
    return LogSlice(after_tag, entries)
