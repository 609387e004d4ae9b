"""The renewal of a player's token, on a connection of its own, which enters no room."""

import asyncio
import secrets
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.session.failures import describe_failure
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected, check_close, open_websocket
from fairest_protocol.messages.capabilities import RENEW
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.from_client import Hello, Renew
from fairest_protocol.messages.from_server import Error, Refused, Renewed, Welcome
from fairest_protocol.messages.refusals import Breach

ANSWER_SECONDS: Final = 15.0
TOKEN_BYTES: Final = 32


class NotRenewed(Exception):
    """The token was not renewed, as far as we know; the text says why. To try again is safe."""


async def renew_token(server_url: str, identity: Identity) -> str:
    """Let the player of `identity` take a new token, store it, and return the player's name.

    The new token is stored before it is sent. If the answer is lost, the next client of this player says hello with
    the old one, and with the new one if the server does not know the old one any more. Raises `NotRenewed`.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            name = await _ask(server_url, identity)
            while name is None:
                name = await _ask(server_url, identity)
    except (OSError, TimeoutError, InvalidHandshake) as reason:
        raise NotRenewed(describe_failure(server_url, reason)) from reason
    except InvalidURI as reason:
        raise NotRenewed(f"{server_url} is not a WebSocket address; one looks like ws://host:port") from reason
    except ProtocolViolation as reason:
        raise NotRenewed(f"the server contradicts itself: {reason}") from reason
    except Rejected as reason:
        raise NotRenewed(str(reason)) from reason
    return name


async def _ask(server_url: str, identity: Identity) -> str | None:
    """Renew the token; return the player's name, or None if the server knows only the token that was to be taken."""
    if identity.token is None:
        raise NotRenewed(f"{server_url} knows no player of this machine")
    name = ""
    async with open_websocket(server_url) as websocket:
        try:
            await websocket.send(encode(Hello(token=identity.token, client="fairest")).decode())
            async for frame in websocket:
                match decode_from_server(frame):
                    case Welcome() as welcome:
                        name = welcome.name
                        if RENEW not in welcome.capabilities:
                            raise NotRenewed(f"this server (Fairest {welcome.version}) renews no tokens")
                        if identity.next_token is None:
                            identity.keep_next_token(secrets.token_urlsafe(TOKEN_BYTES))
                        if identity.problem or identity.next_token is None:
                            # A token that only the server had would be a player that nobody is any more.
                            raise NotRenewed(identity.problem)
                        await websocket.send(encode(Renew(token=identity.next_token)).decode())
                    case Renewed() if identity.next_token is not None:
                        identity.keep_token(identity.next_token)
                        return name
                    case Error(code=Breach.BAD_TOKEN):
                        identity.drop_token()
                        return None
                    case Refused(sentence=sentence) | Error(sentence=sentence):
                        raise NotRenewed(sentence)
                    case _:
                        pass
        except ConnectionClosed:
            pass
        check_close(websocket.close_code or 0, websocket.close_reason or "")
        raise NotRenewed("the server ended the connection")
