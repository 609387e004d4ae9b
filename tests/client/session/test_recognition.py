"""A server is asked which player a token is: it names the player, knows none, or cannot be asked."""

import pytest

from fairest_cli.session.identity import Identity
from fairest_cli.session.recognition import UnknownPlayer, recognise
from fairest_protocol.messages.from_client import Renew
from fairest_protocol.messages.from_server import Renewed
from tests.support.ports import free_port
from tests.support.wire_client import open_client

NEXT = "X" * 43
MISTYPED = "Y" * 43


def player_with(token: str, next_token: str | None = None) -> Identity:
    identity = Identity()
    identity.become({"token": token, "next_token": next_token, "server_key": None, "bond": None})
    return identity


async def test_the_server_names_the_player(server_url: str) -> None:
    async with open_client(server_url, name="ann") as client:
        recognised = await recognise(server_url, player_with(client.token))
    assert (recognised.name, recognised.problem) == ("ann", "")


async def test_a_token_that_was_mistyped_is_no_player(server_url: str) -> None:
    with pytest.raises(UnknownPlayer):
        await recognise(server_url, player_with(MISTYPED))


async def test_a_token_that_was_renewed_elsewhere_is_no_player(server_url: str) -> None:
    async with open_client(server_url, name="ann") as client:
        old = client.token
        await client.send(Renew(token=NEXT))
        await client.receive_a(Renewed)
    with pytest.raises(UnknownPlayer):
        await recognise(server_url, player_with(old))


async def test_a_player_whose_renewal_was_not_answered_has_the_new_token(server_url: str) -> None:
    async with open_client(server_url, name="ann") as client:
        player = player_with(client.token, NEXT)
        await client.send(Renew(token=NEXT))
        await client.receive_a(Renewed)
    assert ((await recognise(server_url, player)).name, player.token, player.next_token) == ("ann", NEXT, None)


async def test_a_server_that_cannot_be_reached_knows_neither_way() -> None:
    recognised = await recognise(f"ws://127.0.0.1:{free_port()}", player_with(MISTYPED))
    assert recognised.name is None and "No server answers" in recognised.problem


async def test_a_server_with_another_key_than_that_of_the_file_is_named(server_url: str) -> None:
    async with open_client(server_url, name="ann") as client:
        player = player_with(client.token)
    player.server_key = bytes(32)
    assert "signs with another key" in (await recognise(server_url, player)).problem
