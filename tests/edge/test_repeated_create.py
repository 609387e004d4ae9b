"""`create` sent again with the same key: it leads to the room of the first one, whatever has become of its answer."""

import asyncio
import hashlib

import pytest

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Leave
from fairest_protocol.messages.from_server import Error, Left, Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Breach, Refusal
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.room_openings import RoomOpenings
from tests.support.limited import Limited
from tests.support.operator import operate
from tests.support.processes import Fleet
from tests.support.wire_client import QUICK, WireClient, open_client

CREATE = Create(options=QUICK, key="k-1_")


async def leave(client: WireClient) -> None:
    await client.send(Leave())
    await client.receive_a(Left)


def player_id_of(client: WireClient) -> str:
    return hashlib.sha256(client.token.encode()).hexdigest()


async def test_a_create_sent_again_leads_to_the_room_and_seat_of_the_first(server_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
        async with open_client(server_url, token=first.token) as again:
            snapshot = await again.enter(CREATE)
            assert (snapshot.room, snapshot.seat) == (room, 0)


async def test_a_create_sent_again_after_a_drop_leads_to_the_same_room(server_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
        first.socket.transport.abort()
    async with open_client(server_url, token=first.token) as again:
        assert (await again.enter(CREATE)).room == room


async def test_a_create_sent_again_on_one_connection_is_refused_like_any_other(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.enter(CREATE)
        assert (await client.expect_refusal(CREATE)).code is Refusal.ALREADY_IN_ROOM


@pytest.mark.parametrize("key", ["other", None])
async def test_a_create_with_another_key_makes_another_room(server_url: str, key: str | None) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
        async with open_client(server_url, token=first.token) as again:
            assert (await again.enter(Create(key=key))).room != room


async def test_a_create_of_another_player_with_the_same_key_makes_another_room(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as other:
        room = (await first.enter(CREATE)).room
        assert (await other.enter(CREATE)).room != room


async def test_a_create_sent_again_with_other_options_leads_to_the_room_as_it_is(server_url: str) -> None:
    async with open_client(server_url) as first:
        await first.enter(CREATE)
        async with open_client(server_url, token=first.token) as again:
            snapshot = await again.enter(Create(key=CREATE.key, options=RoomOptions(best_of=7)))
            assert snapshot.scene.options == QUICK.resolved()


async def test_a_create_sent_again_shows_what_has_happened_in_the_room(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as second:
        await second.enter(Join(room=(await first.enter(CREATE)).room))
        async with open_client(server_url, token=first.token) as again:
            snapshot = await again.enter(CREATE)
            assert (snapshot.seat, snapshot.scene.phase) == (0, Phase.READY)


async def test_a_create_sent_again_by_a_player_who_has_left_takes_a_free_seat_like_join(server_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
        await leave(first)
        assert (await first.enter(CREATE)).room == room


async def test_a_create_sent_again_by_a_player_whose_seat_is_taken_is_refused(server_url: str) -> None:
    async with open_client(server_url) as first, open_client(server_url) as second, open_client(server_url) as third:
        room = (await first.enter(CREATE)).room
        await second.enter(Join(room=room))
        await leave(first)
        await third.enter(Join(room=room))
        assert (await first.expect_refusal(CREATE)).code is Refusal.ROOM_FULL


@pytest.mark.long
async def test_a_create_sent_again_after_the_room_was_closed_is_refused(server_url: str, redis_url: str) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(CREATE)).room
        await operate(redis_url, "close", room)
        await first.receive_a(Left)
        assert (await first.expect_refusal(CREATE)).code is Refusal.ROOM_CLOSED


async def rooms_of_creates_at_once(urls: list[str], token: str) -> set[str]:
    """Send CREATE over one connection to each of these servers at once; return the rooms that are shown."""

    async def create(url: str) -> str | None:
        async with open_client(url, token=token) as client:
            await client.send(CREATE)
            while True:
                message = await client.receive()
                if isinstance(message, Snapshot):
                    return message.room
                if isinstance(message, Error):
                    assert message.code is Breach.REPLACED
                    return None

    return {room for room in await asyncio.gather(*map(create, urls)) if room is not None}


async def count_logs(redis: BatchingRedis) -> int:
    return len([key async for key in redis.scan_iter(match="fairest:*:log:*")])


async def test_creates_at_the_same_time_over_several_connections_make_one_room(
    server_url: str, redis: BatchingRedis
) -> None:
    async with open_client(server_url) as player:
        rooms = await rooms_of_creates_at_once([server_url] * 5, player.token)
    assert (len(rooms), await count_logs(redis)) == (1, 1)


@pytest.mark.long
async def test_creates_at_the_same_time_over_two_processes_make_one_room(fleet: Fleet, redis: BatchingRedis) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with open_client(here) as player:
        rooms = await rooms_of_creates_at_once([here, there] * 3, player.token)
    assert (len(rooms), await count_logs(redis)) == (1, 1)


@pytest.mark.long
async def test_a_create_sent_again_to_another_process_after_the_first_was_killed_leads_to_the_same_room(
    fleet: Fleet,
) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with open_client(here) as first:
        room = (await first.enter(CREATE)).room
        await fleet.kill(here)
    async with open_client(there, token=first.token) as again:
        snapshot = await again.enter(CREATE)
        assert (snapshot.room, snapshot.seat) == (room, 0)


async def test_a_create_whose_process_was_killed_before_it_made_the_room_makes_it_under_the_same_code(
    server_url: str, redis: BatchingRedis
) -> None:
    """The killed process had drawn the code and noted it, and nothing else."""
    async with open_client(server_url) as client:
        await RoomOpenings(redis).open(player_id_of(client), CREATE.key, "amber-quiet-lynx", 30)
        assert (await client.enter(CREATE)).room == "amber-quiet-lynx"


async def test_rooms_that_are_asked_for_again_are_not_counted(limited: Limited) -> None:
    async with limited(rooms_per_player=1, rooms_per_address=1) as url, open_client(url) as client:
        for _ in range(3):
            await client.enter(CREATE)
            await leave(client)
        assert (await client.expect_refusal(Create(key="other"))).code is Refusal.TOO_MANY_ROOMS


async def test_a_key_whose_create_was_refused_opens_no_room_later(limited: Limited) -> None:
    async with limited(rooms_per_player=1) as url, open_client(url) as client:
        await client.enter(Create())
        await leave(client)
        for _ in range(3):
            assert (await client.expect_refusal(CREATE)).code is Refusal.TOO_MANY_ROOMS


async def test_a_create_with_rules_that_nobody_plays_is_not_counted(limited: Limited) -> None:
    async with limited(rooms_per_player=1, rooms_per_address=1) as url, open_client(url) as client:
        for key in (None, "k", "k"):
            answer = await client.expect_refusal(Create(key=key, options=RoomOptions(rules="classic", piles=9)))
            assert answer.code is Refusal.BAD_RULES
        await client.enter(Create(key="k"))


async def test_a_player_who_opens_a_round_by_a_create_sent_again_is_counted(limited: Limited) -> None:
    async with (
        limited(rounds_per_address=1) as url,
        open_client(url) as first,
        open_client(url) as second,
    ):
        room = (await first.enter(CREATE)).room
        await second.enter(Join(room=room))
        await leave(first)
        await second.receive_until(lambda scene: scene.phase is Phase.WAITING)
        assert (await first.expect_refusal(CREATE)).code is Refusal.TOO_MANY_ROUNDS


@pytest.mark.parametrize("key", ['""', '"' + "k" * 41 + '"', '"a b"', '"{1}"', '"a:b"', "7"])
async def test_a_key_of_another_form_is_a_breach(server_url: str, key: str) -> None:
    async with open_client(server_url) as client:
        await client.send('{"type":"create","key":' + key + "}")
        assert (await client.receive_a(Error)).code is Breach.BAD_VALUE
