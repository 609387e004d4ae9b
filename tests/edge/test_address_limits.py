"""Limits of an address, tried from outside by real clients, and their buckets on a clock of their own."""

from contextlib import suppress

import pytest
from redis.asyncio import Redis
from websockets.exceptions import ConnectionClosed

from fairest_protocol.messages.from_client import Create, Join, Leave, Resume, Watch
from fairest_protocol.messages.from_server import Left, Refused, Snapshot
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import Refusal
from fairest_server.edge.address_limits import BUCKETS_PER_SWEEP, LIMIT_SECONDS, AddressBuckets
from tests.support.limited import Limited
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

NO_ROOM = "there-is-none"


async def open_and_leave(player: WireClient) -> None:
    await player.enter(Create())
    await player.send(Leave())
    await player.receive_a(Left)


async def miss(client: WireClient, times: int) -> None:
    """Ask for a room that does not exist."""
    for _ in range(times):
        assert (await client.expect_refusal(Join(room=NO_ROOM))).code is Refusal.NO_SUCH_ROOM


async def test_the_players_of_an_address_may_not_open_rooms_without_end_together(limited: Limited) -> None:
    async with limited(rooms_per_address=2) as url, open_client(url) as first, open_client(url) as second:
        await open_and_leave(first)
        await open_and_leave(second)
        assert (await first.expect_refusal(Create())).code is Refusal.TOO_MANY_ROOMS


async def hoard(player: WireClient, idle_seconds: int = 3_600) -> int:
    """Create rooms and leave them, until that is refused; return their number."""
    rooms = 0
    while True:
        await player.send(Create(options=RoomOptions(grace_seconds=3_600, idle_seconds=idle_seconds)))
        if isinstance(await player.receive(), Refused):
            return rooms
        rooms += 1
        await player.send(Leave())
        await player.receive_a(Left)


async def bytes_in(redis: Redis) -> int:
    """Return the bytes that all keys take."""
    return sum([await redis.memory_usage(key, samples=0) or 0 for key in await redis.keys()])


async def test_a_room_that_is_created_and_left_takes_no_more_than_the_page_on_security_says(
    limited: Limited, redis: Redis
) -> None:
    async with limited(rooms_per_address=50, rooms_per_player=1_000) as url, open_client(url) as hoarder:
        before = await bytes_in(redis)
        assert await hoard(hoarder) == 50
        assert (await bytes_in(redis) - before) / 50 < 5_000


@pytest.mark.long
async def test_rooms_that_are_created_and_left_leave_nothing_behind(limited: Limited, redis: Redis) -> None:
    async with (
        limited(rooms_per_address=50, rooms_per_player=1_000, closed_room_seconds=1) as url,
        open_client(url) as hoarder,
    ):
        await hoard(hoarder, idle_seconds=5)
        assert await redis.keys("*:log:*")

        async def are_gone() -> bool:
            return not await redis.keys("*:log:*") and not await redis.keys("*:deadlines")

        await until(are_gone, "the rooms and their logs are gone")


async def test_an_address_that_has_opened_many_rooms_is_told_that_it_is_the_address(limited: Limited) -> None:
    async with limited(rooms_per_address=1) as url, open_client(url) as first, open_client(url) as second:
        await open_and_leave(first)
        assert "from your address" in (await second.expect_refusal(Create())).sentence


async def test_a_player_that_is_refused_again_and_again_uses_up_no_rooms_of_its_address(limited: Limited) -> None:
    async with (
        limited(rooms_per_player=1, rooms_per_address=2) as url,
        open_client(url) as greedy,
        open_client(url) as other,
    ):
        await open_and_leave(greedy)
        for _ in range(3):
            assert (await greedy.expect_refusal(Create())).code is Refusal.TOO_MANY_ROOMS
        await other.enter(Create())


@pytest.mark.long
async def test_the_rooms_of_an_address_are_counted_over_all_processes(fleet: Fleet) -> None:
    here, there = await fleet.start("--rooms-per-address", "1"), await fleet.start("--rooms-per-address", "1")
    async with open_client(here) as first, open_client(there) as second:
        await open_and_leave(first)
        assert (await second.expect_refusal(Create())).code is Refusal.TOO_MANY_ROOMS


async def test_an_address_may_not_open_rounds_without_end_by_joining_and_leaving(limited: Limited) -> None:
    """Each round adds two entries to the chain of rounds, which keeps the newest."""
    async with limited(rounds_per_address=2) as url, open_client(url) as host, open_client(url) as other:
        room = (await host.enter(Create(options=QUICK))).room
        for _ in range(2):
            await other.enter(Join(room=room))
            await other.send(Leave())
            await other.receive_a(Left)
        assert (await other.expect_refusal(Join(room=room))).code is Refusal.TOO_MANY_ROUNDS
        async with open_client(url, token=host.token) as again:
            assert (await again.enter(Join(room=room))).seat == 0


@pytest.mark.parametrize("request_type", [Join, Watch])
async def test_a_guess_is_answered_alike_whether_the_room_exists_or_not(
    limited: Limited, request_type: type[Join] | type[Watch]
) -> None:
    async with limited(misses_per_address=1) as url, open_client(url) as host, open_client(url) as guesser:
        room = (await host.enter(Create())).room
        await miss(guesser, 1)
        answers = [await guesser.expect_refusal(request_type(room=code)) for code in (room, NO_ROOM)]
        assert answers[0] == answers[1]


async def test_a_player_comes_back_to_its_seat_from_an_address_that_has_missed_often(limited: Limited) -> None:
    async with (
        limited(misses_per_address=1) as url,
        racing_players(url) as (first, _),
        open_client(url) as guesser,
        open_client(url, token=first.token) as again,
    ):
        await miss(guesser, 1)
        await again.send(Resume(room=first.room, position=0))
        assert (await again.receive_a(Snapshot)).seat == 0


async def test_a_room_of_the_lobby_is_open_to_an_address_that_has_missed_often(limited: Limited) -> None:
    async with limited(misses_per_address=1) as url, open_client(url) as host, open_client(url) as guesser:
        room = (await host.enter(Create(options=RoomOptions(listed=True)))).room
        await miss(guesser, 1)
        assert (await guesser.enter(Join(room=room))).seat == 1


async def test_a_person_who_mistypes_a_few_times_waits_for_nothing(limited: Limited) -> None:
    """With a rate this low, a wait would outlast the test."""
    async with limited(messages_per_second=0.001) as url, open_client(url) as host, open_client(url) as guest:
        room = (await host.enter(Create())).room
        await miss(guest, 8)
        await guest.enter(Join(room=room))


async def test_misses_use_up_the_messages_of_a_connection(limited: Limited) -> None:
    """Ten misses cost 210 messages of the 200 that are read at once."""
    async with limited(messages_per_second=0.001, flood_seconds=1e-9) as url, open_client(url) as guesser:
        for _ in range(20):
            await guesser.send(Join(room=NO_ROOM))
        with suppress(ConnectionClosed):
            while True:
                await guesser.receive()
    refused = [message for message in guesser.received if isinstance(message, Refused)]
    assert 9 <= len(refused) <= 10


def enroll_from_many_addresses(buckets: AddressBuckets) -> None:
    """As many addresses as are known before full buckets are dropped, one token of each."""
    for number in range(BUCKETS_PER_SWEEP):
        assert buckets.try_take(f"2001:db8:0:{number:x}::/64")


def test_an_address_whose_bucket_is_full_again_is_forgotten() -> None:
    now = 0.0
    buckets = AddressBuckets(1_000, lambda: now)
    enroll_from_many_addresses(buckets)
    now = LIMIT_SECONDS
    assert buckets.try_take("203.0.113.7")
    assert len(buckets) == 1


def test_an_address_that_has_used_its_tokens_stays_known_until_all_are_back() -> None:
    now = 0.0
    buckets = AddressBuckets(1, lambda: now)
    enroll_from_many_addresses(buckets)
    now = LIMIT_SECONDS - 1
    assert buckets.try_take("203.0.113.7")
    assert not buckets.try_take("2001:db8:0:1::/64")


def test_a_token_is_seen_without_being_taken() -> None:
    buckets = AddressBuckets(1, lambda: 0.0)
    assert buckets.has_token("203.0.113.7")
    assert buckets.try_take("203.0.113.7")
    assert not buckets.has_token("203.0.113.7")
