"""A connection against scripted servers that leave it without an answer."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from fairest_cli.bots.levels import Level
from fairest_cli.bots.player import play_match
from fairest_cli.session import connection, server_socket
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.websocket import Rejected
from fairest_protocol.messages.from_client import Create, Play, Ready, Resume, Reveal
from fairest_protocol.messages.from_server import Refused
from fairest_protocol.messages.refusals import Refusal
from tests.support.scripted_server import Script, bob_is_ready, scripted_server
from tests.support.wire_client import QUICK

DEADLINE_SECONDS = 10


async def follow(client: Connection) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), aclosing(client.updates()) as updates:
        async for _ in updates:
            pass


@asynccontextmanager
async def playing(url: str, identity: Identity) -> AsyncIterator[None]:
    """Let a bot play behind a real connection."""
    client = Connection(url, identity, Create(options=QUICK))
    task = asyncio.create_task(play_match(client, Level.CARELESS, random.Random(1), 0))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_client_leaves_a_server_that_does_not_welcome_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "WELCOME_SECONDS", 0.05)
    sockets: list[Script] = []

    async def send_nothing(script: Script) -> None:
        sockets.append(script)

    async with scripted_server(send_nothing) as url:
        with pytest.raises(Rejected):
            await follow(Connection(url, Identity(), Create(), gives_up_after=2))
    assert len(sockets) == 2


async def test_a_move_that_is_not_answered_is_sent_again_on_a_new_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_socket, "ANSWER_SECONDS", 0.05)
    plays: asyncio.Queue[Play] = asyncio.Queue()
    sockets: list[Script] = []

    async def never_answer(script: Script) -> None:
        sockets.append(script)
        if len(sockets) == 1:
            await script.start_race()
        else:
            await script.greet()
            script.position = next(each.position for each in script.received if isinstance(each, Resume))
            await script.show()
        await plays.put(await script.receive(Play))

    async with scripted_server(never_answer) as url, playing(url, Identity()):
        first, second = await plays.get(), await plays.get()
    assert first == second


@pytest.mark.parametrize("code", [Refusal.IN_DOUBT, Refusal.TRY_AGAIN])
async def test_a_move_in_doubt_is_sent_again_as_it_was(code: Refusal) -> None:
    plays: asyncio.Queue[Play] = asyncio.Queue()

    async def doubt(script: Script) -> None:
        await script.start_race()
        for _ in range(2):
            play = await script.receive(Play)
            await plays.put(play)
            await script.send(Refused(to="play", code=code, sentence="Later.", number=play.number))

    async with scripted_server(doubt) as url, playing(url, Identity()):
        first, second = await plays.get(), await plays.get()
    assert first == second


@pytest.mark.parametrize("code", [Refusal.IN_DOUBT, Refusal.TRY_AGAIN])
async def test_a_ready_in_doubt_is_sent_again_with_the_same_hash(code: Refusal) -> None:
    said: asyncio.Queue[Ready] = asyncio.Queue()

    async def doubt(script: Script) -> None:
        await script.enter()
        await script.open_round()
        for _ in range(2):
            await said.put(await script.receive(Ready))
            await script.send(Refused(to="ready", code=code, sentence="Later."))

    async with scripted_server(doubt) as url, playing(url, Identity()):
        first, second = await said.get(), await said.get()
    assert first == second


async def test_a_request_to_enter_in_doubt_is_sent_again_on_a_new_socket() -> None:
    entries: asyncio.Queue[Create] = asyncio.Queue()

    async def doubt(script: Script) -> None:
        await script.greet()
        await entries.put(next(each for each in script.received if isinstance(each, Create)))
        await script.send(Refused(to="create", code=Refusal.IN_DOUBT, sentence="Later."))

    async with scripted_server(doubt) as url, playing(url, Identity()):
        first, second = await entries.get(), await entries.get()
    assert first == second


async def test_the_other_player_s_hash_is_stored_before_our_entropy_is_sent() -> None:
    identity = Identity()
    stored: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def wait_for_entropy(script: Script) -> None:
        await script.enter()
        await script.open_round()
        await script.bind()
        await script.receive(Reveal)
        assert identity.entropy_commitment is not None
        await stored.put(identity.entropy_commitment.other_hash)

    async with scripted_server(wait_for_entropy) as url, playing(url, identity):
        assert await stored.get() == bob_is_ready().entropy_hash


@asynccontextmanager
async def dropping_server(creates: asyncio.Queue[Create]) -> AsyncIterator[str]:
    """A server that drops each connection when it has received its `create`, before it answers."""

    async def drop(script: Script) -> None:
        await script.greet()
        message = script.received[-1]
        assert isinstance(message, Create)
        creates.put_nowait(message)
        script.websocket.transport.abort()

    async with scripted_server(drop) as url:
        yield url


async def test_a_create_whose_answer_is_lost_is_sent_again_with_the_same_key() -> None:
    creates: asyncio.Queue[Create] = asyncio.Queue()
    async with dropping_server(creates) as url, playing(url, Identity()):
        first, second, third = [await creates.get() for _ in range(3)]
    assert first.key is not None
    assert first == second == third


async def test_each_room_of_a_player_is_created_with_a_key_of_its_own() -> None:
    keys = set()
    for _ in range(2):
        creates: asyncio.Queue[Create] = asyncio.Queue()
        async with dropping_server(creates) as url, playing(url, Identity()):
            keys.add((await creates.get()).key)
    assert len(keys) == 2
