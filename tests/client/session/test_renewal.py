"""The client renews its token: it keeps the new one before it asks, and never loses its player by a lost answer."""

from contextlib import aclosing
from pathlib import Path

import pytest

from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_cli.session.renewal import NotRenewed, renew_token
from fairest_protocol.messages.from_client import Create, Renew
from fairest_protocol.messages.from_server import Renewed, Snapshot
from tests.support.ports import free_port
from tests.support.scripted_server import Script, scripted_server
from tests.support.wire_client import QUICK, open_client

NEXT = "X" * 43


@pytest.fixture
async def identity(server_url: str, tmp_path: Path) -> Identity:
    identity = Identity(tmp_path / "player.json")
    async with open_client(server_url) as client:
        identity.keep_token(client.token)
    return identity


async def name_in_a_room(url: str, identity: Identity) -> str | None:
    """Let a client of this player create a room; return the name that it has there."""
    connection = Connection(url, identity, Create(options=QUICK))
    async with aclosing(connection.updates()) as updates:
        async for update in updates:
            if isinstance(update.message, Snapshot):
                return update.message.scene.seats[0].name
    return None


async def take_next_token(url: str, identity: Identity, token: str) -> None:
    """Let the server know the next token, and the client not know that."""
    identity.keep_next_token(token)
    assert identity.token is not None
    async with open_client(url, token=identity.token) as client:
        await client.send(Renew(token=token))
        await client.receive_a(Renewed)


async def test_the_new_token_is_stored(server_url: str, identity: Identity, tmp_path: Path) -> None:
    old = identity.token
    await renew_token(server_url, identity)
    assert Identity(tmp_path / "player.json").token not in (None, old)


async def test_a_renewed_player_plays_on_under_its_name(server_url: str, identity: Identity) -> None:
    name = await renew_token(server_url, identity)
    assert await name_in_a_room(server_url, identity) == name


async def test_a_client_whose_answer_was_lost_plays_on_with_the_new_token(server_url: str, identity: Identity) -> None:
    name = await name_in_a_room(server_url, identity)
    await take_next_token(server_url, identity, NEXT)
    assert await name_in_a_room(server_url, identity) == name
    assert identity.token == NEXT


async def test_a_renewal_whose_answer_was_lost_may_be_tried_again(server_url: str, identity: Identity) -> None:
    await take_next_token(server_url, identity, "Y" * 43)
    name = await renew_token(server_url, identity)
    assert await name_in_a_room(server_url, identity) == name


async def test_a_renewal_that_never_reached_the_server_leaves_the_old_token(
    server_url: str, identity: Identity
) -> None:
    name = await name_in_a_room(server_url, identity)
    identity.keep_next_token("Z" * 43)
    assert await name_in_a_room(server_url, identity) == name


async def test_a_player_that_cannot_be_stored_keeps_its_token(server_url: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    identity = Identity(tmp_path / "file" / "player.json")
    async with open_client(server_url) as client:
        identity.token = client.token
    with pytest.raises(NotRenewed, match="could not be saved"):
        await renew_token(server_url, identity)
    assert await name_in_a_room(server_url, identity)


async def test_without_a_player_there_is_nothing_to_renew(server_url: str) -> None:
    with pytest.raises(NotRenewed, match="knows no player of this machine"):
        await renew_token(server_url, Identity())


async def test_a_server_that_is_away_is_named(identity: Identity) -> None:
    with pytest.raises(NotRenewed, match=r"127\.0\.0\.1"):
        await renew_token(f"ws://127.0.0.1:{free_port()}", identity)


async def test_a_server_that_ends_the_connection_at_once_is_named(identity: Identity) -> None:
    async def abort(script: Script) -> None:
        script.websocket.transport.abort()

    async with scripted_server(abort) as url:
        with pytest.raises(NotRenewed, match="ended the connection"):
            await renew_token(url, identity)


async def test_a_server_that_renews_no_tokens_is_named(identity: Identity) -> None:
    async with scripted_server(lambda script: script.greet()) as url:
        with pytest.raises(NotRenewed, match=r"this server \(Fairest 0.2.0\) renews no tokens"):
            await renew_token(url, identity)
    assert identity.next_token is None


async def test_a_next_token_is_part_of_an_exported_player(identity: Identity) -> None:
    identity.keep_next_token(NEXT)
    there = Identity()
    there.become(identity.as_stored())
    assert there.next_token == NEXT


async def test_a_file_whose_next_token_is_no_text_holds_no_player() -> None:
    with pytest.raises(ValueError, match="its token is not a text"):
        Identity().become({"token": "x", "next_token": 5})
