"""The connections of clients to this process, in a room or not, as far as the operator's requests concern them."""

from collections.abc import Iterator
from typing import Protocol

from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_server import Announcement
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.subscribers import DropReason
from fairest_server.store.bans import Ban
from fairest_server.store.players import Player

_RACING = frozenset({Phase.DEALING, Phase.COUNTDOWN, Phase.RACING})


class ClientConnection(Protocol):
    """A connection whose client has said hello, or is about to."""

    connection_id: str
    address: str
    player: Player | None
    room: LiveRoom | None

    def show(self, data: bytes) -> None:
        """Send an encoded message."""

    def banned(self, ban: Ban) -> None:
        """Close the connection for good."""

    def sent_away(self, reason: DropReason) -> None:
        """Close the connection for this reason."""


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

    def races(self) -> int:
        """Return how many rooms have a race under way with a player on one of these connections."""
        return len({each.room.code for each in self._open if each.room is not None and is_racing(each)})

    def announce(self, text: str) -> int:
        """Show a sentence of the operator to every client that was welcomed; return their number."""
        data = encode(Announcement(text=text))
        welcomed = [each for each in self if each.player is not None]
        for connection in welcomed:
            connection.show(data)
        return len(welcomed)

    def drop_old_token(self, player_id: str, token_hash: str) -> int:
        """Close the connections on which this player has said hello with another token; return their number."""
        old = [each for each in self if each.player and each.player.player_id == player_id]
        old = [each for each in old if each.player and each.player.token_hash != token_hash]
        for connection in old:
            connection.sent_away(DropReason.TOKEN_LOST)
        return len(old)

    def send_away_others(self) -> None:
        """Let every client connect elsewhere that is not a player in a race."""
        for connection in self:
            if not is_racing(connection):
                connection.sent_away(DropReason.DRAINING)


def is_racing(connection: ClientConnection) -> bool:
    """Return whether a race is under way in which this connection speaks for a seat, from the deal to its result."""
    state = connection.room.state if connection.room is not None else None
    return (
        state is not None and state.phase in _RACING and state.seat_of_connection(connection.connection_id) is not None
    )
