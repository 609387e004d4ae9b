"""A server that takes connections and says nothing."""

import asyncio
from contextlib import aclosing

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from fairest_cli.session import connection
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Create


async def hear_all(client: Connection) -> None:
    async with asyncio.timeout(10), aclosing(client.updates()) as updates:
        async for _ in updates:
            pass


async def test_a_server_that_does_not_welcome_us_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WELCOME_SECONDS", 0.05)
    met: list[ServerConnection] = []

    async def say_nothing(websocket: ServerConnection) -> None:
        met.append(websocket)
        await websocket.wait_closed()

    async with serve(say_nothing, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = Connection(url, Identity(), Create(), gives_up_after=2)
        with pytest.raises(Rejected):
            await hear_all(client)
    assert len(met) == 2
