"""The rooms that a process has open, on a real Redis: opened once, dropped when not needed, given up when lost."""

import asyncio

import pytest
from redis.asyncio import Redis

from fairest_server.live.room_server import RoomServer
from fairest_server.store import keys
from fairest_server.store.log import Log
from tests.support.room_server import create_room, soon
from tests.support.waiting import until


async def test_a_new_room_is_registered_for_its_process(rooms: RoomServer, redis: Redis) -> None:
    room, _ = await create_room(rooms)
    assert await redis.sismember(keys.attached_rooms(rooms.process_id), room.code)


async def test_a_room_that_is_open_is_opened_once(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms)
    assert await rooms.registry.open_room(room.code) is room


async def test_a_room_without_a_log_is_not_opened(rooms: RoomServer) -> None:
    assert await rooms.registry.open_room("no-such-room") is None


async def test_a_room_that_nobody_needs_is_dropped(rooms: RoomServer) -> None:
    room, player = await create_room(rooms)
    room.disconnect(player)
    await soon(lambda: room.code not in rooms.registry.rooms, "the room is dropped")


async def test_a_dropped_room_is_opened_from_its_log(rooms: RoomServer) -> None:
    room, player = await create_room(rooms)
    room.disconnect(player)
    await soon(lambda: room.code not in rooms.registry.rooms, "the room is dropped")
    again = await rooms.registry.open_room(room.code)
    assert again is not None
    assert again.cursor.end == room.cursor.end


async def test_those_who_open_a_room_together_share_one_read(
    rooms: RoomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, player = await create_room(rooms)
    room.disconnect(player)
    await soon(lambda: room.code not in rooms.registry.rooms, "the room is dropped")
    reads = 0
    read = Log.read

    async def count(log: Log, code: str, after: int = 0) -> object:
        nonlocal reads
        reads += 1
        return await read(log, code, after)

    monkeypatch.setattr(Log, "read", count)
    opened = await asyncio.gather(*(rooms.registry.open_room(room.code) for _ in range(5)))
    assert reads == 1
    assert len(set(map(id, opened))) == 1


async def test_a_room_whose_log_is_gone_is_given_up(rooms: RoomServer, redis: Redis) -> None:
    room, player = await create_room(rooms)
    await redis.delete(keys.log(room.code))
    room.catch_up()
    await soon(lambda: player.notes[-1] == "log lost", "the player is sent to connect again")
    assert room.code not in rooms.registry.rooms


async def test_the_log_learns_of_connections_that_ended_with_a_given_up_room(rooms: RoomServer) -> None:
    room, _ = await create_room(rooms)
    rooms.registry.give_up(room)

    async def has_learned() -> bool:
        found = await rooms.registry.open_room(room.code)
        return found is not None and found.state is not None and found.state.seat(0).connection_id is None

    await until(has_learned, "the seat is detached")


async def test_subscribers_that_are_sent_away_are_reported_to_their_logs(rooms: RoomServer) -> None:
    room, player = await create_room(rooms)
    rooms.registry.send_away()
    assert player.notes[-1] == "unavailable"
    await soon(lambda: room.state and room.state.seat(0).connection_id is None, "the seat is detached")
