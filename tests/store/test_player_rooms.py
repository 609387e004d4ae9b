"""The rooms of a player, which its client finds again after it has lost their codes."""

import pytest
from redis.asyncio import Redis

from fairest_server.store import keys
from fairest_server.store.player_rooms import PlayerRooms
from tests.support.stored_logs import store_entries


@pytest.fixture
def rooms(redis: Redis) -> PlayerRooms:
    return PlayerRooms(redis)


async def add_open_rooms(rooms: PlayerRooms, redis: Redis, *codes: str) -> None:
    """Remember rooms of ann that have a log."""
    for code in codes:
        await store_entries(redis, code, "created")
        await rooms.remember("ann", code)


async def test_a_player_without_rooms_has_none(rooms: PlayerRooms) -> None:
    assert list(await rooms.open_rooms("ann")) == []


async def test_the_newest_room_comes_first(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b", "c-d", "e-f")
    assert await rooms.open_rooms("ann") == ["e-f", "c-d", "a-b"]


async def test_a_room_that_is_entered_again_comes_first_and_once(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b", "c-d", "a-b")
    assert await rooms.open_rooms("ann") == ["a-b", "c-d"]


async def test_the_rooms_of_another_player_are_not_among_them(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b")
    assert list(await rooms.open_rooms("bob")) == []


@pytest.mark.parametrize("again", ["remember", "forget"])
async def test_a_room_that_was_added_twice_at_the_same_moment_stands_there_once_at_most(
    rooms: PlayerRooms, redis: Redis, again: str
) -> None:
    await redis.lpush(keys.player_rooms("ann"), "a-b", "a-b", "a-b")
    await (rooms.remember("ann", "a-b") if again == "remember" else rooms.forget("ann", "a-b"))
    assert await redis.llen(keys.player_rooms("ann")) == (1 if again == "remember" else 0)


async def test_a_forgotten_room_is_gone(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b", "c-d")
    await rooms.forget("ann", "c-d")
    assert await rooms.open_rooms("ann") == ["a-b"]


async def test_a_room_without_a_log_is_left_out(rooms: PlayerRooms) -> None:
    await rooms.remember("ann", "a-b")
    assert list(await rooms.open_rooms("ann")) == []


async def test_a_closed_room_whose_log_will_expire_is_left_out(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b")
    await redis.expire(keys.log("a-b"), 60)
    assert list(await rooms.open_rooms("ann")) == []


async def test_only_the_newest_are_kept(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, *(f"a-{number}" for number in range(keys.PLAYER_ROOMS_KEPT + 1)))
    assert len(await rooms.open_rooms("ann")) == keys.PLAYER_ROOMS_KEPT


async def test_they_are_kept_for_a_week_after_they_were_last_read(rooms: PlayerRooms, redis: Redis) -> None:
    await add_open_rooms(rooms, redis, "a-b")
    await redis.expire(keys.player_rooms("ann"), 100)
    await rooms.open_rooms("ann")
    assert keys.PLAYER_ROOMS_SECONDS - 10 < await redis.ttl(keys.player_rooms("ann")) <= keys.PLAYER_ROOMS_SECONDS


async def test_the_rooms_of_a_player_expire(rooms: PlayerRooms, redis: Redis) -> None:
    await rooms.remember("ann", "a-b")
    assert 0 < await redis.ttl(keys.player_rooms("ann")) <= keys.PLAYER_ROOMS_SECONDS
