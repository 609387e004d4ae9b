"""Entries of a log: between values and the bytes that Redis stores."""

import json
from collections.abc import Sequence
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_server.room.events import Event, JsonEvent, Played
from fairest_server.room.steps import LogEntry, LogSlice

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


def index_of(entry_id: bytes) -> int:
    """Return the index of an entry, which is the first part of its id in the stream."""
    return int(entry_id.partition(b"-")[0])


def parse_entry(entry_id: bytes, fields: Sequence[bytes]) -> LogEntry:
    """Parse an entry of the stream. Raises ValueError unless its fields are those of append.lua, in the same order."""
    match fields:
        case [b"t", at_ms, b"g", tag, b"e", event]:
            return LogEntry(index_of(entry_id), tag.decode(), int(at_ms), parse_event(event))
    raise ValueError("an entry is a time, a tag and an event")


def parse_wakeup(payload: bytes) -> LogSlice:
    """Parse the payload of a wake-up, which append.lua wrote. Raises ValueError."""
    first, after_tag, tag, at_ms, events = json.loads(payload)
    entries = [
        LogEntry(int(first) + offset, tag, int(at_ms), parse_event(text.encode())) for offset, text in enumerate(events)
    ]
    return LogSlice(after_tag, entries)
