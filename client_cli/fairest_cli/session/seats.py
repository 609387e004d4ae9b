"""The seats that a player of this machine has on a server, in rooms and in tournaments.

They are asked on a connection of its own that enters no room.
"""

from pathlib import Path

from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.one_request import ask_once
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Ping
from fairest_protocol.messages.from_server import FromServer, Welcome
from fairest_protocol.value import Value


class Seats(Value):
    """The codes of the rooms in which a player has a seat, and of the tournaments in which it plays, newest first."""

    rooms: tuple[str, ...] = ()
    tournaments: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes, each once: first those of rooms."""
        return tuple(dict.fromkeys((*self.rooms, *self.tournaments)))


async def find_seats(server_url: str, name: str | None, folder: Path | None = None) -> Seats:
    """Return the seats of the player of this name.

    Without a name, it is the player that the next client of this machine plays as. Empty for a player that is not
    stored or in use, and where the server does not answer. The player is free again before the server is asked. Safe
    to cancel.
    """
    token = _stored_token(server_url, name, folder)
    if token is None:
        return Seats()
    try:
        return await ask_once(server_url, token, lambda _: Ping(), _seats_in)
    except Rejected:
        return Seats()


def _stored_token(server_url: str, name: str | None, folder: Path | None) -> str | None:
    try:
        with open_identity(server_url, name, folder) as identity:
            return identity.token
    except (IdentityInUse, OSError, ValueError):
        # The client that plays as this player will say what is wrong with it.
        return None


def _seats_in(message: FromServer) -> Seats | None:
    return Seats(message.rooms or (), message.tournaments or ()) if isinstance(message, Welcome) else None
