"""The request for one record, against servers that send something else, or nothing."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fairest_cli.records.record_check import WrongRecord
from fairest_cli.session import one_request
from fairest_cli.session.record_request import fetch_record
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.codec import encode
from fairest_protocol.messages.fields import MAX_SERVER_MESSAGE_BYTES, Message
from fairest_protocol.messages.from_server import Announcement, Error, MatchRecord, Refused, Welcome
from tests.support.long_tests import parametrize_with_long
from tests.support.records import make_record, text_of
from tests.support.scripted_server import Script, scripted_server

MATCH = "0123456789abcdef" * 2
WELCOME = Welcome(name="ann", token="t" * 43, key=bytes(32), now_ms=1, version="0.2.0", rooms=())


def sending(*messages: Message | str) -> Callable[[Script], Awaitable[None]]:
    """Return a script that sends these."""

    async def send(script: Script) -> None:
        for message in messages:
            await script.websocket.send(message if isinstance(message, str) else encode(message).decode())

    return send


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ((Error(code="banned", sentence="You are banned."),), "You are banned."),
        ((WELCOME, Refused(to="get_record", code="no_record", sentence="There is none.")), "There is none."),
        ((WELCOME, "{"), "the server contradicts itself"),
        ((WELCOME, '{"type":"record","match":5}'), "the server contradicts itself"),
        ((WELCOME, "[" * 100_000), "the server contradicts itself"),
        ((WELCOME, "x" * (MAX_SERVER_MESSAGE_BYTES + 1)), "ended the connection"),
    ],
)
async def test_an_answer_that_is_no_record_is_a_sentence(messages: tuple[Message | str, ...], sentence: str) -> None:
    async with scripted_server(sending(*messages)) as url:
        with pytest.raises(Rejected, match=sentence):
            await fetch_record(url, MATCH)


@pytest.mark.parametrize("lines", [(), ("",), ("{}",), ("\x1b[2J",), ("[" * 10_000,), ("x\ny",), ("x",) * 200_000])
async def test_a_record_that_is_none_is_wrong(lines: tuple[str, ...]) -> None:
    async with scripted_server(sending(WELCOME, MatchRecord(match=MATCH, lines=lines))) as url:
        with pytest.raises(WrongRecord):
            await fetch_record(url, MATCH)


async def test_the_true_record_of_another_match_is_wrong() -> None:
    lines = tuple(text_of(make_record(1)).splitlines())
    async with scripted_server(sending(WELCOME, MatchRecord(match=MATCH, lines=lines))) as url:
        with pytest.raises(WrongRecord, match=f"and not of {MATCH}"):
            await fetch_record(url, MATCH)


async def test_a_server_that_ends_the_connection_at_once_is_rejected() -> None:
    async def close(script: Script) -> None:
        script.websocket.transport.abort()

    async with scripted_server(close) as url:
        with pytest.raises(Rejected):
            await fetch_record(url, MATCH)


@parametrize_with_long("message", [WELCOME, Announcement(text="wait")], quick=1)
async def test_a_server_that_never_comes_to_the_record_is_left(
    message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go_on(script: Script) -> None:
        while True:
            await script.send(message)
            await asyncio.sleep(0)

    monkeypatch.setattr(one_request, "ANSWER_SECONDS", 0.5)
    async with scripted_server(go_on) as url:
        with pytest.raises(Rejected):
            await fetch_record(url, MATCH)
