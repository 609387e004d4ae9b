"""The messages that a race is made of, written without a model in between, and any entry read back.

A move leads to an entry or two and to a view for each player; to build them as models and encode these takes longer
than everything that a server has to decide about the move. Tests hold these words to what the models say.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from fairest_protocol.calculation.cards import Card
from fairest_protocol.calculation.moves import Move
from fairest_protocol.messages.entries import Entry

_ENTRY: Final = TypeAdapter[Entry](Entry)


def decode_entry(text: bytes) -> Entry:
    """The entry that this text says. Raises ValidationError."""
    return _ENTRY.validate_json(text)


def encode_moved(seat: int, number: int, move: Move, card: Card | None) -> bytes:
    """As `encode(Moved(...))`."""
    moved = f'"{card}"' if card else "null"
    return f'{{"type":"moved","seat":{seat},"number":{number},"move":"{move.text}","card":{moved}}}'.encode()


def encode_turned(seat: int, pass_number: int, position: int, card: Card, salt: bytes) -> bytes:
    """As `encode(Turned(...))`."""
    return (
        f'{{"type":"turned","seat":{seat},"pass_number":{pass_number},"position":{position},'
        f'"card":"{card}","salt":"{salt.hex()}"}}'
    ).encode()


def encode_view(position: int, entries: Sequence[bytes], tag: str) -> bytes:
    """As `encode(View(...))`, of entries that are encoded."""
    return b'{"type":"view","position":%d,"tag":"%b","entries":[%b]}' % (position, tag.encode(), b",".join(entries))
