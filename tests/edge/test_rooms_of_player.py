"""The rooms and the tournaments that `welcome` lists: a client that has kept only its token finds its seats by them."""

import hashlib

import pytest

from fairest_protocol.messages.from_client import Create, Hello, Join, Leave, Watch
from fairest_protocol.messages.from_server import Left, Welcome
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_protocol.messages.tournaments import (
    CreateTournament,
    JoinTournament,
    LeaveTournament,
    StartTournament,
    Tournament,
    WatchTournament,
)
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.limited import Limited
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, open_raw_client

CREATE = Create(options=QUICK)


async def rooms_of(url: str, token: str) -> tuple[str, ...] | None:
    """Return the rooms that the next `welcome` lists."""
    async with open_raw_client(url) as client:
        await client.send(Hello(token=token))
        return (await client.receive_a(Welcome)).rooms


async def until_rooms_are(url: str, token: str, expected: tuple[str, ...]) -> None:
    """Wait until `welcome` lists these rooms: the list is written behind the answer to the player."""

    async def are_listed() -> None:
        assert await rooms_of(url, token) == expected

    await until(are_listed, "welcome lists these rooms")


async def create(url: str, token: str) -> str:
    """Create a room over a connection of its own, and keep the seat."""
    async with open_client(url, token=token) as client:
        return (await client.enter(CREATE)).room


async def leave(client: WireClient) -> None:
    await client.send(Leave())
    await client.receive_a(Left)


async def test_a_new_player_has_no_rooms(server_url: str) -> None:
    async with open_raw_client(server_url) as client:
        await client.send(Hello())
        assert (await client.receive_a(Welcome)).rooms == ()


async def test_a_player_finds_the_rooms_that_it_created_and_joined_the_newest_first(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as player:
        created = await create(server_url, player.token)
        joined = (await host.enter(CREATE)).room
        await player.enter(Join(room=joined))
        await until_rooms_are(server_url, player.token, (joined, created))


async def test_a_player_resumes_in_a_room_that_it_has_found(server_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
    await until_rooms_are(server_url, first.token, (room,))
    async with open_client(server_url, token=first.token) as again:
        assert (await again.resume(room)).seat == 0


async def test_a_room_that_its_only_player_has_left_is_listed_no_longer(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.enter(CREATE)
        await leave(client)
        await until_rooms_are(server_url, client.token, ())


async def test_a_room_that_a_player_has_left_to_another_is_listed_for_that_one_alone(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as guest:
        room = (await host.enter(CREATE)).room
        await guest.enter(Join(room=room))
        await leave(guest)
        await until_rooms_are(server_url, host.token, (room,))
        await until_rooms_are(server_url, guest.token, ())


async def test_a_seat_that_was_freed_while_its_player_was_away_is_listed_by_no_process(limited: Limited) -> None:
    options = RoomOptions(grace_seconds=1)
    async with limited() as url, limited() as other_url, open_client(url) as host:
        room = (await host.enter(Create(options=options))).room
        async with open_client(url) as guest:
            await guest.enter(Join(room=room))
            await until_rooms_are(other_url, guest.token, (room,))
        await host.receive_until(lambda scene: scene.seats[1].name is None)
        await until_rooms_are(other_url, guest.token, ())


@pytest.mark.long
async def test_a_seat_that_was_freed_after_its_process_was_killed_is_listed_by_no_other_process(fleet: Fleet) -> None:
    """A third process has not opened the room, so its answer is the list alone."""
    url, killed, third = [await fleet.start() for _ in range(3)]
    async with open_client(url) as host, open_client(killed) as guest:
        room = (await host.enter(Create(options=RoomOptions(grace_seconds=1)))).room
        await guest.enter(Join(room=room))
        await until_rooms_are(third, guest.token, (room,))
        await fleet.kill(killed)
        await host.receive_until(lambda scene: scene.seats[1].name is None)
        await until_rooms_are(third, guest.token, ())


async def test_a_room_that_a_player_watches_is_not_listed(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as spectator:
        await spectator.enter(Watch(room=(await host.enter(CREATE)).room))
        assert await rooms_of(server_url, spectator.token) == ()


async def test_a_room_that_refused_a_player_a_seat_is_not_listed(server_url: str) -> None:
    async with open_client(server_url) as one, open_client(server_url) as two, open_client(server_url) as third:
        room = (await one.enter(CREATE)).room
        await two.enter(Join(room=room))
        assert (await third.expect_refusal(Join(room=room))).code is Refusal.ROOM_FULL
        assert await rooms_of(server_url, third.token) == ()


async def test_a_room_that_does_not_exist_is_not_kept(server_url: str, redis: BatchingRedis) -> None:
    async with open_client(server_url) as client:
        await client.expect_refusal(Join(room="no-such-room"))
        player_id = hashlib.sha256(client.token.encode()).hexdigest()
        assert not await redis.exists(keys.player_rooms(player_id))


async def test_of_more_than_sixteen_rooms_the_newest_are_listed(limited: Limited) -> None:
    async with limited(rooms_per_player=20) as url, open_client(url) as client:
        codes = [await create(url, client.token) for _ in range(17)]
        await until_rooms_are(url, client.token, tuple(reversed(codes[1:])))


async def test_a_player_whose_rooms_cannot_be_read_is_welcomed(server_url: str, redis: BatchingRedis) -> None:
    async with open_client(server_url) as client:
        player_id = hashlib.sha256(client.token.encode()).hexdigest()
        await redis.set(keys.player_rooms(player_id), "not a list")
        assert await rooms_of(server_url, client.token) is None


async def tournaments_of(url: str, token: str) -> tuple[str, ...] | None:
    """Return the tournaments that the next `welcome` lists."""
    async with open_raw_client(url) as client:
        await client.send(Hello(token=token))
        return (await client.receive_a(Welcome)).tournaments


async def test_a_player_finds_its_tournaments_until_it_leaves_them(server_url: str) -> None:
    async with open_client(server_url, name="host") as host, open_client(server_url, name="ann") as player:
        await host.send(CreateTournament())
        code = (await host.receive_a(Tournament)).code
        await player.send(CreateTournament())
        own = (await player.receive_a(Tournament)).code
        await player.send(JoinTournament(tournament=code))
        await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == (code, own)
        await player.send(LeaveTournament(tournament=code))
        await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == (own,)


async def test_a_tournament_that_was_cancelled_is_listed_no_longer(server_url: str) -> None:
    async with open_client(server_url, name="ann") as player:
        await player.send(CreateTournament())
        code = (await player.receive_a(Tournament)).code
        await player.send(WatchTournament(tournament=code))
        await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == (code,)
        await player.send(LeaveTournament(tournament=code))
        await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == ()


async def test_a_player_that_watches_a_tournament_has_not_entered_it(server_url: str) -> None:
    async with open_client(server_url, name="host") as host, open_client(server_url, name="ann") as player:
        await host.send(CreateTournament())
        await player.send(WatchTournament(tournament=(await host.receive_a(Tournament)).code))
        await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == ()


async def test_a_player_that_comes_back_to_a_tournament_it_has_left_is_not_led_there(server_url: str) -> None:
    async with open_client(server_url, name="host") as host, open_client(server_url, name="ann") as player:
        await host.send(CreateTournament())
        code = (await host.receive_a(Tournament)).code
        await player.send(JoinTournament(tournament=code))
        await player.receive_a(Tournament)
        await host.send(StartTournament(tournament=code))
        await host.receive_a(Tournament)
        for message in (LeaveTournament(tournament=code), JoinTournament(tournament=code)):
            await player.send(message)
            await player.receive_a(Tournament)
        assert await tournaments_of(server_url, player.token) == ()
