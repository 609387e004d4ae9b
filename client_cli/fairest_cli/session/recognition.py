"""The question to a server which of its players a token is, before the token is stored on this machine."""

from fairest_cli.session.identity import Identity
from fairest_cli.session.one_request import ask_once
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Ping
from fairest_protocol.messages.from_server import Error, FromServer, Welcome
from fairest_protocol.messages.refusals import Breach
from fairest_protocol.value import Value


class UnknownPlayer(Exception):
    """The server knows no player with this token."""


class Recognised(Value):
    """The name under which the server knows a player, None if it could not be asked; `problem` is for people."""

    name: str | None
    problem: str = ""


async def recognise(server_url: str, identity: Identity) -> Recognised:
    """Ask the server which player `identity` is. Raises `UnknownPlayer`.

    A token that the player was about to take is tried if the server does not know the present one, and is the token of
    `identity` then.
    """
    while identity.token is not None:
        try:
            # The welcome, or the end of the connection, is the answer: nothing is asked behind it.
            welcome = await ask_once(server_url, identity.token, lambda _: Ping(), _welcome_in)
        except Rejected as reason:
            return Recognised(None, str(reason))
        if isinstance(welcome, Welcome):
            return Recognised(welcome.name, identity.compare(welcome))
        identity.drop_token()
    raise UnknownPlayer


def _welcome_in(message: FromServer) -> Welcome | bool | None:
    """Return the welcome, False for a token that the server does not know, None for any other message."""
    if isinstance(message, Error) and message.code == Breach.BAD_TOKEN:
        return False
    return message if isinstance(message, Welcome) else None
