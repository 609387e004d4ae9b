"""The rooms that players open, counted and remembered by their keys."""

import asyncio

import pytest
from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.room_openings import RoomOpenings

MOST = 3


@pytest.fixture
def openings(redis: Redis) -> RoomOpenings:
    return RoomOpenings(redis)


async def test_a_key_that_is_new_opens_the_room_that_was_drawn(openings: RoomOpenings) -> None:
    assert await openings.open("ann", "k", "a-b", MOST) == "a-b"


async def test_a_key_that_is_known_opens_the_room_of_the_first_time(openings: RoomOpenings) -> None:
    await openings.open("ann", "k", "a-b", MOST)
    assert await openings.open("ann", "k", "c-d", MOST) == "a-b"


@pytest.mark.parametrize(("player", "key"), [("bob", "k"), ("ann", "other"), ("ann", None)])
async def test_another_player_or_key_opens_another_room(openings: RoomOpenings, player: str, key: str | None) -> None:
    await openings.open("ann", "k", "a-b", MOST)
    assert await openings.open(player, key, "c-d", MOST) == "c-d"


async def test_of_many_at_the_same_time_with_one_key_all_open_one_room(openings: RoomOpenings) -> None:
    drawn = [f"a-{letter}" for letter in "bcdefgh"]
    opened = await asyncio.gather(*(openings.open("ann", "k", code, MOST) for code in drawn))
    assert len(set(opened)) == 1


async def test_a_room_is_counted_once_however_often_its_key_comes(openings: RoomOpenings) -> None:
    for _ in range(MOST + 2):
        await openings.open("ann", "k", "a-b", MOST)
    assert await openings.look_up("ann", "k") == ("a-b", 1)


@pytest.mark.parametrize("key", ["k", None])
async def test_a_player_who_has_opened_too_many_opens_none(openings: RoomOpenings, key: str | None) -> None:
    for number in range(MOST):
        await openings.open("ann", f"k{number}", f"a-{number}", MOST)
    assert await openings.open("ann", key, "c-d", MOST) is None


async def test_a_key_that_was_refused_is_not_known(openings: RoomOpenings) -> None:
    await openings.open("ann", None, "a-b", 1)
    await openings.open("ann", "k", "c-d", 1)
    assert await openings.look_up("ann", "k") == (None, 1)


async def test_a_player_who_has_opened_too_many_still_opens_a_known_room(openings: RoomOpenings) -> None:
    await openings.open("ann", "k", "a-b", 1)
    assert await openings.open("ann", "k", "c-d", 1) == "a-b"


async def test_a_player_that_has_opened_nothing_is_not_counted(openings: RoomOpenings) -> None:
    assert await openings.look_up("ann", None) == (None, 0)


async def test_a_key_is_known_for_ten_minutes(openings: RoomOpenings, redis: Redis) -> None:
    await openings.open("ann", "k", "a-b", MOST)
    assert 590 < await redis.ttl(keys.opened_with("ann", "k")) <= 600


async def test_the_rooms_of_a_player_are_counted_for_ten_minutes_from_the_first(
    openings: RoomOpenings, redis: Redis
) -> None:
    await openings.open("ann", None, "a-b", MOST)
    await redis.expire(keys.opened("ann"), 100)
    await openings.open("ann", None, "c-d", MOST)
    assert 0 < await redis.ttl(keys.opened("ann")) <= 100


async def test_the_rooms_that_an_address_opens_are_counted(openings: RoomOpenings) -> None:
    assert [await openings.count_at("2001:db8::/64") for _ in range(3)] == [1, 2, 3]


async def test_the_rooms_of_an_address_are_counted_for_ten_minutes(openings: RoomOpenings, redis: Redis) -> None:
    await openings.count_at("10.0.0.1")
    assert 590 < await redis.ttl(keys.opened_at("10.0.0.1")) <= 600
