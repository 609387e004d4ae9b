"""One request to a server, on a connection of its own, which enters no room."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.session.failures import describe_failure
from fairest_cli.session.websocket import Rejected, check_close, open_websocket
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.from_client import FromClient, Hello
from fairest_protocol.messages.from_server import Error, FromServer, Refused, Welcome

ANSWER_SECONDS: Final = 15.0
"""A server gives its archive five seconds."""
T = TypeVar("T")


async def ask_once(
    server_url: str,
    token: str | None,
    request: Callable[[Welcome], FromClient],
    answer: Callable[[FromServer], T | None],
) -> T:
    """Say hello, send the `request` for this welcome, and return the first `answer` that is not None.

    `answer` is asked about each message of the server. Raises `Rejected` for a refusal or an error that it passes over,
    and when there is no answer within `ANSWER_SECONDS`; also whatever `request` and `answer` raise. Safe to cancel.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await _ask(server_url, token, request, answer)
    except (OSError, TimeoutError, InvalidHandshake) as reason:
        raise Rejected(describe_failure(server_url, reason)) from reason
    except InvalidURI as reason:
        raise Rejected(f"{server_url} is not a WebSocket address; one looks like ws://host:port") from reason
    except ProtocolViolation as reason:
        raise Rejected(f"the server contradicts itself: {reason}") from reason


async def _ask(
    server_url: str,
    token: str | None,
    request: Callable[[Welcome], FromClient],
    answer: Callable[[FromServer], T | None],
) -> T:
    async with open_websocket(server_url) as websocket:
        try:
            await websocket.send(encode(Hello(token=token, client="fairest")).decode())
            async for frame in websocket:
                message = decode_from_server(frame)
                found = answer(message)
                if found is not None:
                    return found
                if isinstance(message, Welcome):
                    await websocket.send(encode(request(message)).decode())
                elif isinstance(message, Refused | Error):
                    raise Rejected(message.sentence)
        except ConnectionClosed:
            pass
        check_close(websocket.close_code or 0, websocket.close_reason or "")
        raise Rejected("The server ended the connection.")
