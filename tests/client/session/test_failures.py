"""Why a server could not be reached, in sentences without numbers of the system and without pages of other programs."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.exceptions import InvalidHandshake

from fairest_cli.session.failures import describe_failure, own_sentence
from fairest_cli.session.server_pages import PageUnreadable
from fairest_cli.session.websocket import open_websocket
from fairest_cli.text.lobby import fetch_lobby
from tests.support.ports import free_port

PAGE = "<!DOCTYPE html><html><h1>Not Found</h1></html>"
HTTP = f"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n\r\n{PAGE}"
STRANGERS = {"web": HTTP, "mail": "220 mail.example ESMTP\r\n"}


@asynccontextmanager
async def stranger(answer: str) -> AsyncIterator[str]:
    """Another program that answers each connection with the same bytes; yields its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read(10)
            writer.write(answer.encode())
            await writer.drain()
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def failure_of(url: str) -> str:
    """Try to connect; return the sentence about the failure."""
    try:
        async with open_websocket(url):
            return "it worked"
    except (OSError, InvalidHandshake) as reason:
        return describe_failure(url, reason)


async def test_a_port_without_a_server_is_refused_in_words() -> None:
    url = f"ws://127.0.0.1:{free_port()}"
    assert await failure_of(url) == f"No server answers at {url}: connection refused."


async def test_a_name_with_several_addresses_has_no_number_in_its_sentence() -> None:
    reason = OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 111] Connect call failed")
    assert describe_failure("ws://localhost:1", reason) == "No server answers at ws://localhost:1: connection refused."


def test_a_host_that_does_not_exist_is_named() -> None:
    sentence = describe_failure("ws://nowhere.invalid:1", socket.gaierror(-2, "Name or service not known"))
    assert sentence.endswith("there is no host 'nowhere.invalid'.")


@pytest.mark.parametrize(
    ("kind", "answered"), [("web", "with HTTP status 404"), ("mail", "with something else than HTTP")]
)
async def test_another_program_at_the_address_is_called_that(kind: str, answered: str) -> None:
    async with stranger(STRANGERS[kind]) as url:
        assert await failure_of(url) == (
            f"Another program than Fairest answers at {url}, {answered}: check the host and the port."
        )


async def test_a_page_of_another_program_is_not_shown_as_a_lobby() -> None:
    async with stranger(HTTP) as url:
        with pytest.raises(PageUnreadable, match="Another program than Fairest answers") as caught:
            await asyncio.to_thread(fetch_lobby, url, 0)
    assert "<" not in str(caught.value)


async def test_a_lobby_that_nobody_serves_is_refused_in_words() -> None:
    with pytest.raises(PageUnreadable, match=r"connection refused\. Is it running\?"):
        await asyncio.to_thread(fetch_lobby, f"ws://127.0.0.1:{free_port()}", 0)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [(b"You are banned.\n", "You are banned."), (PAGE.encode(), ""), (b"a\nb", ""), (b"x" * 301, "")],
)
def test_only_a_sentence_is_taken_from_a_refusal(body: bytes, sentence: str) -> None:
    assert own_sentence(body) == sentence
