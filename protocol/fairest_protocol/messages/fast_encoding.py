"""Encoders that write the most frequent messages of a race without building their models; and `decode_entry`.

A move leads to one or two entries, and to a view for each player. Building these as models and encoding them takes
longer than deciding the move. Tests check that the bytes equal those of the models.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.entries import Entry

_ENTRY: Final = TypeAdapter[Entry](Entry)


def decode_entry(text: bytes) -> Entry:
    """Return the entry with this text. Raises pydantic's ValidationError."""
    return _ENTRY.validate_json(text)


def encode_moved(seat: int, number: int, move: Move, card: Card | None) -> bytes:
    """Return the bytes of `encode(Moved(...))`."""
    moved = f'"{card}"' if card else "null"
    return f'{{"type":"moved","seat":{seat},"number":{number},"move":"{move.text}","card":{moved}}}'.encode()


def encode_turned(seat: int, pass_number: int, position: int, card: Card, salt: bytes) -> bytes:
    """Return the bytes of `encode(Turned(...))`."""
    return (
        f'{{"type":"turned","seat":{seat},"turn":[{pass_number},{position}],"card":"{card}","salt":"{salt.hex()}"}}'
    ).encode()


def encode_view(position: int, entries: Sequence[bytes], tag: str) -> bytes:
    """Return the bytes of `encode(View(...))`, with entries that are already encoded."""
    return b'{"type":"view","position":%d,"tag":"%b","entries":[%b]}' % (position, tag.encode(), b",".join(entries))


def add_id(text: bytes, request_id: str | None) -> bytes:
    """Return the bytes of a message that was encoded without an id, with the id of the message that it answers."""
    return text if request_id is None else b'{"id":"%b",%b' % (request_id.encode(), text[1:])
