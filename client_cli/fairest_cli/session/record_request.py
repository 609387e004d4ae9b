"""The request for the record of one match, by its id: a connection of its own, which enters no room."""

import asyncio
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from fairest_cli.records.record_check import WrongRecord, verify_record
from fairest_cli.session.failures import describe_failure
from fairest_cli.session.websocket import Rejected, check_close, open_websocket
from fairest_protocol.messages.codec import ProtocolViolation, decode_from_server, encode
from fairest_protocol.messages.from_client import GetRecord, Hello
from fairest_protocol.messages.from_server import Error, MatchRecord, Refused, Welcome

ANSWER_SECONDS: Final = 15.0
"""A server gives its archive five seconds."""


async def fetch_record(server_url: str, match_id: str) -> str:
    """Return the text of the record that a server keeps of a match, as its file has it, after proving it.

    Raises `Rejected`, and `WrongRecord` for a record that does not prove itself or is of another match.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            message = await _ask(server_url, match_id)
    except (OSError, TimeoutError, InvalidHandshake) as reason:
        raise Rejected(describe_failure(server_url, reason)) from reason
    except InvalidURI as reason:
        raise Rejected(f"{server_url} is not a WebSocket address; one looks like ws://host:port") from reason
    except ProtocolViolation as reason:
        raise Rejected(f"the server contradicts itself: {reason}") from reason
    text = "".join(f"{line}\n" for line in message.lines)
    record, checks = verify_record(text)
    for _ in checks:
        pass
    if record.match_id != match_id:
        raise WrongRecord(f"The server sent the record of the match {record.match_id}, and not of {match_id}.")
    return text


async def _ask(server_url: str, match_id: str) -> MatchRecord:
    async with open_websocket(server_url) as websocket:
        try:
            await websocket.send(encode(Hello(client="fairest")).decode())
            async for frame in websocket:
                match decode_from_server(frame):
                    case Welcome():
                        await websocket.send(encode(GetRecord(match=match_id)).decode())
                    case MatchRecord() as message:
                        return message
                    case Refused(sentence=sentence) | Error(sentence=sentence):
                        raise Rejected(sentence)
                    case _:
                        pass
        except ConnectionClosed:
            pass
        check_close(websocket.close_code or 0, websocket.close_reason or "")
        raise Rejected("The server ended the connection.")
