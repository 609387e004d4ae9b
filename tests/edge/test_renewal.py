"""A player takes another token: the old one opens nothing any more, wherever it is used."""

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Hello, Renew
from fairest_protocol.messages.from_server import Error, Renewed, Welcome
from fairest_protocol.messages.refusals import Breach, Refusal
from tests.support.limited import Limited
from tests.support.processes import Fleet
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client, racing_players

NEW = "N" * 43


async def renew(client: WireClient, token: str = NEW) -> Renewed:
    await client.send(Renew(token=token, id="renew-1"))
    return await client.receive_a(Renewed)


async def breach_of(url: str, token: str) -> str:
    """Say hello with a token that opens nothing; return the reason for which the connection ends."""
    async with open_raw_client(url) as client:
        await client.send(Hello(token=token))
        return (await client.receive_a(Error)).code


async def test_the_new_token_is_that_of_the_same_player(server_url: str) -> None:
    async with open_client(server_url, name="renata") as client:
        assert (await renew(client)).id == "renew-1"
    async with open_raw_client(server_url) as client:
        await client.send(Hello(token=NEW))
        assert (await client.receive_a(Welcome)).name == "renata"


async def test_the_old_token_opens_nothing(server_url: str) -> None:
    async with open_client(server_url) as client:
        await renew(client, "O" * 43)
        assert await breach_of(server_url, client.token) == Breach.BAD_TOKEN


@pytest.mark.long
async def test_a_thief_is_cut_off_from_another_process(fleet: Fleet) -> None:
    first, second = await fleet.start(), await fleet.start()
    async with open_client(first) as owner, open_client(second, token=owner.token) as thief:
        await renew(owner)
        assert (await thief.receive_a(Error)).code == Breach.BAD_TOKEN


async def test_the_seat_that_a_thief_holds_goes_back_to_its_player(fleet: Fleet) -> None:
    url = await fleet.start()
    async with open_client(url) as owner, open_client(url, token=owner.token) as thief:
        room = (await thief.enter(Create(options=QUICK))).room
        await renew(owner)
        await thief.receive_a(Error)
        assert (await owner.resume(room)).seat == 0


async def test_a_player_renews_in_the_middle_of_a_race_and_goes_on(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await renew(first, "R" * 43)
        await first.play("sa")
        await second.play("stop")
        assert (await first.play("stop")).phase is Phase.FINISHED


async def test_a_renewal_is_counted_as_a_new_player_of_its_address(limited: Limited) -> None:
    async with limited(players_per_address=1) as url, open_client(url) as client:
        assert (await client.expect_refusal(Renew(token=NEW))).code is Refusal.TOO_MANY_PLAYERS


async def test_a_refused_renewal_leaves_the_old_token(server_url: str) -> None:
    async with open_client(server_url) as other, open_client(server_url) as client:
        assert (await client.expect_refusal(Renew(token=other.token))).code is Refusal.TOKEN_TAKEN
        async with open_client(server_url, token=client.token) as again:
            await again.enter(Create(options=QUICK))


async def test_of_two_that_renew_the_same_token_one_has_the_player(server_url: str) -> None:
    async with open_client(server_url) as owner, open_client(server_url, token=owner.token) as thief:
        await renew(owner, "P" * 43)
        await thief.send(Renew(token="Q" * 43))
        assert (await thief.receive_a(Error)).code == Breach.BAD_TOKEN
        assert await breach_of(server_url, "Q" * 43) == Breach.BAD_TOKEN


@pytest.mark.parametrize("token", ["short", "x" * 44, "!" * 43])
async def test_what_is_no_token_ends_the_connection(server_url: str, token: str) -> None:
    async with open_client(server_url) as client:
        await client.socket.send(f'{{"type":"renew","token":"{token}"}}')
        assert (await client.receive_a(Error)).code == Breach.BAD_VALUE
