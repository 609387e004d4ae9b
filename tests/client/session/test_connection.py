"""A connection against scripted servers that leave it without an answer, or keep it waiting."""

import asyncio
import random
from contextlib import aclosing

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from fairest_cli.bots.player import play_match
from fairest_cli.bots.policies import choose_greedy
from fairest_cli.session import connection
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages import entries
from fairest_protocol.messages.from_client import Create, Play, Resume, Reveal
from tests.support.scripted_server import LATER, Script, bob_is_ready, dealt, turned
from tests.support.wire_client import QUICK

DEADLINE_SECONDS = 10


async def follow(client: Connection) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), aclosing(client.updates()) as updates:
        async for _ in updates:
            pass


async def test_a_client_leaves_a_server_that_does_not_welcome_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WELCOME_SECONDS", 0.05)
    met: list[ServerConnection] = []

    async def say_nothing(websocket: ServerConnection) -> None:
        met.append(websocket)
        await websocket.wait_closed()

    async with serve(say_nothing, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = Connection(url, Identity(), Create(), gives_up_after=2)
        with pytest.raises(Rejected):
            await follow(client)
    assert len(met) == 2


class RacingServer:
    """A server that deals, starts the race, and hands each socket after the first to `resumed`."""

    def __init__(self) -> None:
        self.sockets = 0
        self.first_play: asyncio.Future[Play] = asyncio.get_running_loop().create_future()
        self.resumed: asyncio.Future[Script] = asyncio.get_running_loop().create_future()

    async def serve_socket(self, websocket: ServerConnection) -> None:
        script = Script(websocket)
        self.sockets += 1
        if self.sockets == 1:
            await script.enter()
            await script.open_round()
            await script.bind()
            sealed = await script.reveal()
            await script.show(dealt(sealed), entries.Started(until_ms=LATER), turned(sealed, 0))
            self.first_play.set_result(await script.receive(Play))
        else:
            await script.greet()
            script.position = script.received[-1].position if isinstance(script.received[-1], Resume) else 0
            self.resumed.set_result(script)
        await websocket.wait_closed()


async def test_a_move_that_is_not_answered_is_sent_again_on_a_new_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.05)
    racing = RacingServer()
    async with serve(racing.serve_socket, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = Connection(url, Identity(), Create(options=QUICK))
        playing = asyncio.create_task(play_match(client, choose_greedy, random.Random(1), 0))
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                script = await racing.resumed
                await script.show()
                assert await script.receive(Play) == await racing.first_play
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


async def test_the_other_player_s_hash_is_stored_before_our_entropy_is_sent() -> None:
    identity = Identity()
    stored: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()

    async def serve_socket(websocket: ServerConnection) -> None:
        script = Script(websocket)
        await script.enter()
        await script.open_round()
        await script.bind()
        await script.receive(Reveal)
        assert identity.entropy_commitment is not None
        stored.set_result(identity.entropy_commitment.other_hash)
        await websocket.wait_closed()

    async with serve(serve_socket, "127.0.0.1", 0, subprotocols=[Subprotocol("fairest.v1")]) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        playing = asyncio.create_task(
            play_match(Connection(url, identity, Create(options=QUICK)), choose_greedy, random.Random(1), 0)
        )
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                assert await stored == bob_is_ready().entropy_hash
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
