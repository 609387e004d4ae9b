"""A client goes where it was sent by its player, and nowhere else."""

import asyncio
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Watch
from tests.support.waiting import PATIENCE_SECONDS


async def listen(client: Connection) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for _ in client.updates():
            continue


async def test_a_server_cannot_send_a_client_and_its_token_to_another_one() -> None:
    met: list[ServerConnection] = []

    async def note(websocket: ServerConnection) -> None:
        met.append(websocket)

    async with serve(note, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]

        def send_on(connection: ServerConnection, _: Request) -> Response:
            response = connection.respond(HTTPStatus.TEMPORARY_REDIRECT, "")
            response.headers["Location"] = f"ws://127.0.0.1:{port}"
            return response

        async with serve(note, "127.0.0.1", 0, process_request=send_on) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            client = Connection(url, Identity(), Watch(room="quiet-amber-otter"), gives_up_after=1)
            with pytest.raises(Rejected, match="HTTP status 307"):
                await listen(client)
    assert met == []
