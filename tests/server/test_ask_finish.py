"""A player whose race has ended asks the other one to finish: over real sockets, and by clients that abuse it."""

import asyncio

import pytest

from fairest_protocol.messages.capabilities import ASK_FINISH
from fairest_protocol.messages.entries import FinishAsked
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import AskFinish, Hello, Watch
from fairest_protocol.messages.from_server import View, Welcome
from fairest_protocol.messages.refusals import Refusal
from tests.support.processes import serving_fleet
from tests.support.wire_client import WireClient, open_client, open_raw_client, racing_players

MORE_THAN_A_PERSON_SENDS = 30


def asked(client: WireClient) -> list[int]:
    """Return the seats of the requests to finish that this client was shown."""
    views = (message for message in client.received if isinstance(message, View))
    return [entry.seat for view in views for entry in view.entries if isinstance(entry, FinishAsked)]


async def until_asked(client: WireClient) -> None:
    while not asked(client):
        await client.receive()


async def test_the_server_says_that_it_has_the_capability(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Hello())
        assert ASK_FINISH in (await client.receive_a(Welcome)).capabilities


async def test_the_other_player_and_spectators_are_shown_a_request_to_finish(server_url: str) -> None:
    async with racing_players(server_url) as (first, second), open_client(server_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await first.play("stop")
        await first.send(AskFinish())
        await asyncio.gather(until_asked(second), until_asked(spectator))
        assert (asked(second), asked(spectator)) == ([0], [0])


async def test_a_player_who_asks_again_and_again_is_shown_once(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("stop")
        for _ in range(MORE_THAN_A_PERSON_SENDS):
            await first.send(AskFinish())
        await until_asked(second)
        await second.play("stop")
        await second.receive_until(lambda scene: scene.phase is Phase.FINISHED)
        assert asked(second) == [0]


async def test_a_player_who_still_races_is_refused(server_url: str) -> None:
    async with racing_players(server_url) as (first, _):
        assert (await first.expect_refusal(AskFinish())).code is Refusal.WRONG_PHASE


async def test_a_spectator_is_refused(server_url: str) -> None:
    async with racing_players(server_url) as (first, _), open_client(server_url) as spectator:
        await spectator.enter(Watch(room=first.room))
        await first.play("stop")
        assert (await spectator.expect_refusal(AskFinish())).code is Refusal.NOT_SEATED


async def test_a_client_outside_of_a_room_is_refused(server_url: str) -> None:
    async with open_client(server_url) as client:
        assert (await client.expect_refusal(AskFinish())).code is Refusal.NOT_IN_ROOM


async def test_the_other_player_may_play_on(server_url: str) -> None:
    async with racing_players(server_url) as (first, second):
        await first.play("stop")
        await first.send(AskFinish())
        await until_asked(second)
        await second.play("sa")
        assert second.scene is not None
        assert (second.scene.phase, second.scene.seats[1].moves) == (Phase.RACING, 1)


@pytest.mark.long
async def test_a_request_reaches_a_player_on_another_process(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        urls = await asyncio.gather(fleet.start(), fleet.start())
        async with racing_players(*urls) as (first, second):
            await first.play("stop")
            await first.send(AskFinish())
            await until_asked(second)
            assert asked(second) == [0]
