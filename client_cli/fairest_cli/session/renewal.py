"""The renewal of a player's token."""

import secrets
from typing import Final

from fairest_cli.session.identity import Identity
from fairest_cli.session.one_request import ask_once
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.capabilities import RENEW
from fairest_protocol.messages.from_client import Renew
from fairest_protocol.messages.from_server import Error, FromServer, Renewed, Welcome
from fairest_protocol.messages.refusals import Breach

TOKEN_BYTES: Final = 32


class NotRenewed(Exception):
    """The token was not renewed, as far as we know; the text says why. To try again is safe."""


async def renew_token(server_url: str, identity: Identity) -> str:
    """Let the player of `identity` take a new token, store it, and return the player's name.

    The new token is stored before it is sent. If the answer is lost, the next client of this player says hello with
    the old one, and with the new one if the server does not know the old one any more. Raises `NotRenewed`.
    """
    renewal = _Renewal(identity)
    while not renewal.is_done:
        if identity.token is None:
            raise NotRenewed(f"{server_url} knows no player of this machine")
        try:
            renewal.is_done = await ask_once(server_url, identity.token, renewal.request, renewal.answer)
        except Rejected as reason:
            raise NotRenewed(str(reason)) from reason
    return renewal.name


class _Renewal:
    """The request for a new token, which is made again if the server knows only the token that was to be taken."""

    def __init__(self, identity: Identity) -> None:
        self.name = ""
        self.is_done = False
        self._identity = identity

    def request(self, welcome: Welcome) -> Renew:
        """Return the message with the next token, which is stored now. Raises `NotRenewed`."""
        self.name = welcome.name
        if RENEW not in welcome.capabilities:
            raise NotRenewed(f"this server (Fairest {welcome.version}) renews no tokens")
        if self._identity.next_token is None:
            self._identity.keep_next_token(secrets.token_urlsafe(TOKEN_BYTES))
        if self._identity.problem or self._identity.next_token is None:
            # A token that only the server had would be a player that nobody is any more.
            raise NotRenewed(self._identity.problem)
        return Renew(token=self._identity.next_token)

    def answer(self, message: FromServer) -> bool | None:
        """Return whether the token is renewed, or None for a message that does not say."""
        match message:
            case Renewed() if self._identity.next_token is not None:
                self._identity.keep_token(self._identity.next_token)
                return True
            case Error(code=Breach.BAD_TOKEN):
                self._identity.drop_token()
                return False
            case _:
                return None
