"""The way into a room: what a player may not see of the room that it has a seat in."""

import pytest

from fairest_protocol.messages.from_client import Create, Join, Leave, Watch
from fairest_protocol.messages.from_server import Left
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_protocol.messages.refusals import Refusal
from tests.support.processes import Fleet
from tests.support.wire_client import QUICK, open_client, racing_players

OPEN = QUICK.model_copy(update={"spectators": Spectators.OPEN})


@pytest.mark.parametrize("spectators", [Spectators.OPEN, Spectators.HORIZON])
async def test_a_player_may_not_watch_its_own_race(server_url: str, spectators: Spectators) -> None:
    options = QUICK.model_copy(update={"spectators": spectators})
    async with (
        racing_players(server_url, options=options) as (first, second),
        open_client(server_url, token=second.token) as spying,
    ):
        assert (await spying.expect_refusal(Watch(room=first.room))).code is Refusal.ALREADY_SEATED


async def test_a_player_who_is_away_may_not_watch_its_own_race(server_url: str) -> None:
    async with racing_players(server_url, options=OPEN) as (first, second):
        await second.socket.close()
        async with open_client(server_url, token=second.token) as spying:
            assert (await spying.expect_refusal(Watch(room=first.room))).code is Refusal.ALREADY_SEATED


@pytest.mark.long
async def test_a_player_may_not_watch_its_own_race_over_another_process(fleet: Fleet) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with racing_players(here, options=OPEN) as (first, second), open_client(there, token=second.token) as spying:
        assert (await spying.expect_refusal(Watch(room=first.room))).code is Refusal.ALREADY_SEATED


@pytest.mark.long
async def test_a_spectator_who_takes_a_seat_over_another_process_watches_no_longer(fleet: Fleet) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with open_client(here) as host, open_client(there) as spying:
        room = (await host.enter(Create(options=OPEN))).room
        await spying.enter(Watch(room=room))
        async with open_client(here, token=spying.token) as seated:
            await seated.enter(Join(room=room))
            await spying.receive_a(Left)


async def test_a_player_who_has_left_the_room_may_watch_it(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as guest:
        room = (await host.enter(Create(options=RoomOptions(spectators=Spectators.OPEN)))).room
        await guest.enter(Join(room=room))
        await guest.send(Leave())
        await guest.receive_a(Left)
        assert (await guest.enter(Watch(room=room))).seat is None
