"""Open a connection for a player's seat, for a spectator, or for the guest of a race on a local server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from fairest_cli.records.receipts import receipts_folder
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity, open_identity
from fairest_cli.session.websocket import EntryRequest
from fairest_protocol.messages.from_client import Join

MAX_ATTEMPTS: Final = 3
"""A server that has never answered is tried this often."""


@contextmanager
def open_seat(server: str, name: str | None, request: EntryRequest) -> Iterator[Connection]:
    """Open a connection for the player of this name on this machine, and keep the player's receipt.

    Without a name, the player is the first one on this machine that no other client plays as. Raises `IdentityInUse`.
    """
    with open_identity(server, name) as identity:
        yield Connection(server, identity, request, name=name, gives_up_after=MAX_ATTEMPTS, receipts=receipts_folder())


def open_unstored(server: str, request: EntryRequest, name: str | None = None) -> Connection:
    """Open a connection for a player that is not stored: a spectator, or a bot that takes a seat.

    Without a name, the server gives one.
    """
    return Connection(server, Identity(), request, name=name, gives_up_after=MAX_ATTEMPTS)


def open_guest_seat(url: str, room: str, *, is_person: bool) -> Connection:
    """Open a connection for the other seat of the house bot's room.

    The player is not stored, since the local server ends with the race.
    """
    receipts = receipts_folder() if is_person else None
    name = "you" if is_person else "guest"
    return Connection(url, Identity(), Join(room=room), name=name, gives_up_after=MAX_ATTEMPTS, receipts=receipts)
