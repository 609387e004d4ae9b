"""The connections of clients to this process, in a room or not, as far as the operator's requests concern them."""

from collections.abc import Iterator
from typing import Protocol


class ClientConnection(Protocol):
    """A connection whose client has said hello, or is about to."""

    def show(self, data: bytes) -> None:
        """Send an encoded message."""


class ClientConnections:
    """The open connections of this process."""

    def __init__(self) -> None:
        self._open: set[ClientConnection] = set()

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[ClientConnection]:
        """Iterate over the connections of this moment, while others may come and go."""
        return iter(list(self._open))

    def add(self, connection: ClientConnection) -> None:
        """Add a connection that was opened."""
        self._open.add(connection)

    def remove(self, connection: ClientConnection) -> None:
        """Remove a connection that has ended."""
        self._open.discard(connection)
