"""Entries of a log: between values and the bytes that Redis stores."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.codec import encode
from fairest_protocol.value import Value
from fairest_server.room.events import Event, JsonEvent, Played
from fairest_server.room.steps import LogEntry, LogSlice

_ENTRY: Final = re.compile(rb"([0-9]{13}) ([0-9]+) ([!-~]*)\n(.*)", re.DOTALL)
"""Its stamp in ms, the index of its last event, its tag, and its events."""
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
    """An entry of a log: one append, whose events have the indices from `index` on, and are texts still."""

    index: int
    tag: str
    at_ms: int
    texts: Sequence[bytes]

    @property
    def last_index(self) -> int:
        """The index of the last event."""
        return self.index + len(self.texts) - 1


def read_entry(text: bytes) -> StoredEntry:
    """Read an entry without parsing its events. Raises ValueError unless it is as append.lua says."""
    found = _ENTRY.fullmatch(text)
    if found is None:
        raise ValueError("an entry is a line with a time, an index and a tag, and a line for each event")
    at_ms, last_index, tag, events = found.groups()
    texts = events.split(b"\n")
    index = int(last_index) - len(texts) + 1
    if index < 1:
        raise ValueError("an entry has no more events than its index says")
    return StoredEntry(index, tag.decode(), int(at_ms), texts)


def parse_entries(found: Iterable[bytes], after: int = 0) -> list[LogEntry]:
    """Parse the events after the index `after` of consecutive entries. Raises ValueError, as `read_entry` does."""
    parsed: list[LogEntry] = []
    for text in found:
        stored = read_entry(text)
        if stored.last_index > after:
            tag, at_ms, numbered = stored.tag, stored.at_ms, enumerate(stored.texts, stored.index)
            parsed += [LogEntry(index, tag, at_ms, parse_event(event)) for index, event in numbered if index > after]
    return parsed


def parse_wakeup(payload: bytes) -> LogSlice:
    """Parse the payload of a wake-up, which append.lua wrote. Raises ValueError."""
    end_before, _, entry = payload.partition(b"\n")
    return LogSlice(end_before.partition(b" ")[2].decode(), parse_entries([entry]))
