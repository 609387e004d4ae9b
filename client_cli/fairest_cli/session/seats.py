"""The seats that a player of this machine has on a server, asked on a connection of its own that enters no room."""

from pathlib import Path

from fairest_cli.session.identity import IdentityInUse, open_identity
from fairest_cli.session.one_request import ask_once
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Ping
from fairest_protocol.messages.from_server import FromServer, Welcome


async def find_seats(server_url: str, name: str | None, folder: Path | None = None) -> tuple[str, ...]:
    """Return the codes of the rooms in which the player of this name has a seat, the newest first.

    Without a name, it is the player that the next client of this machine plays as. Empty for a player that is not
    stored or in use, and where the server does not answer. The player is free again before the server is asked. Safe
    to cancel.
    """
    token = _stored_token(server_url, name, folder)
    if token is None:
        return ()
    try:
        return await ask_once(server_url, token, lambda _: Ping(), _seats_in)
    except Rejected:
        return ()


def _stored_token(server_url: str, name: str | None, folder: Path | None) -> str | None:
    try:
        with open_identity(server_url, name, folder) as identity:
            return identity.token
    except (IdentityInUse, OSError, ValueError):
        # The client that plays as this player will say what is wrong with it.
        return None


def _seats_in(message: FromServer) -> tuple[str, ...] | None:
    return (message.rooms or ()) if isinstance(message, Welcome) else None
