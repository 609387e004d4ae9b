"""The rooms of a process are in Redis before it speaks there, however many are registered at once."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from fairest_protocol.messages.from_client import Create
from fairest_server.app import running
from fairest_server.live.attached_rooms import AttachedRooms
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.registry import RoomRegistry
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.processes import Processes
from fairest_server.store.redis.clients import make_client
from tests.support.wire_client import QUICK, open_client

PROCESS = "abcd1234"
ROOMS = [f"room-{number}" for number in range(50)]


@pytest.fixture
async def processes(redis: Redis) -> Processes:
    return Processes(redis, redis, PROCESS)


@pytest.fixture
async def nowhere() -> AsyncIterator[Redis]:
    client = make_client("unix:///nowhere/redis.sock")
    yield client
    await client.aclose()


async def test_rooms_that_are_asked_for_at_once_are_all_held(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    await asyncio.gather(*map(attached.register, ROOMS))
    assert await processes.rooms_of(PROCESS) == sorted(ROOMS)


async def test_rooms_that_are_asked_for_during_a_write_are_the_next_one(processes: Processes) -> None:
    writes: list[set[str]] = []
    register_rooms = processes.register_rooms

    async def count(rooms: set[str]) -> None:
        writes.append(set(rooms))
        if len(writes) == 1:
            asking.extend(asyncio.create_task(attached.register(room)) for room in ROOMS[10:])
        await register_rooms(rooms)

    processes.register_rooms = count  # type: ignore[assignment, method-assign]
    attached = AttachedRooms(processes)
    asking = [asyncio.create_task(attached.register(room)) for room in ROOMS[:10]]
    await asyncio.gather(*asking)
    await asyncio.gather(*asking)
    assert [len(rooms) for rooms in writes] == [10, len(ROOMS) - 10]


async def test_whoever_waits_for_the_same_write_goes_on_at_the_same_moment(processes: Processes) -> None:
    """Not one in each turn of the event loop: a beat may come between, and thousands may wait."""
    attached = AttachedRooms(processes)
    asking = [asyncio.create_task(attached.register(room)) for room in ROOMS]
    await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(0)
    assert all(each.done() for each in asking)


async def test_a_room_that_is_wanted_again_while_it_is_released_is_held(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    await attached.register(ROOMS[0])
    await asyncio.gather(attached.retain_only(set()), attached.register(ROOMS[0]))
    assert ROOMS[0] in attached
    assert await processes.rooms_of(PROCESS) == [ROOMS[0]]


async def test_rooms_that_nobody_speaks_in_are_released(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    await asyncio.gather(*map(attached.register, ROOMS[:3]))
    await attached.retain_only({ROOMS[1]})
    assert await processes.rooms_of(PROCESS) == [ROOMS[1]]


async def test_a_room_that_a_client_is_entering_is_not_released(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    async with attached.entering(ROOMS[0]):
        await attached.retain_only(set())
        assert ROOMS[0] in attached


async def test_a_room_that_every_client_has_entered_or_left_is_released(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    async with attached.entering(ROOMS[0]), attached.entering(ROOMS[0]):
        pass
    await attached.retain_only(set())
    assert await processes.rooms_of(PROCESS) == []


async def test_without_redis_everybody_who_asks_is_told(nowhere: Redis) -> None:
    attached = AttachedRooms(Processes(nowhere, nowhere, PROCESS))
    told = await asyncio.gather(*map(attached.register, ROOMS[:3]), return_exceptions=True)
    assert all(isinstance(each, RedisError) for each in told)


async def test_a_room_that_could_not_be_held_is_not_held(nowhere: Redis) -> None:
    attached = AttachedRooms(Processes(nowhere, nowhere, PROCESS))
    await asyncio.gather(*map(attached.register, ROOMS[:3]), return_exceptions=True)
    assert not any(room in attached for room in ROOMS[:3])


async def test_who_gives_up_waiting_is_in_nobodys_way(processes: Processes) -> None:
    attached = AttachedRooms(processes)
    asking = [asyncio.create_task(attached.register(room)) for room in ROOMS[:3]]
    await asyncio.sleep(0)
    asking[1].cancel()
    await asyncio.wait(asking)
    assert {ROOMS[0], ROOMS[2]} <= set(await processes.rooms_of(PROCESS))


async def test_a_new_room_that_was_released_before_it_was_open_is_held_all_the_same(
    settings_for_tests: Settings, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed must have told whose seats it held: else nobody would ever tell that room."""
    registries: list[RoomRegistry] = []
    open_room = RoomRegistry.open_room

    async def release_then_open(registry: RoomRegistry, code: str) -> LiveRoom | None:
        if len(registries) < 2:
            await registry._attached.retain_only(registry.rooms.keys())
        registries.append(registry)
        return await open_room(registry, code)

    monkeypatch.setattr(RoomRegistry, "open_room", release_then_open)
    async with running(settings_for_tests) as url, open_client(url) as client:
        room = (await client.enter(Create(options=QUICK))).room
        assert await redis.sismember(keys.attached_rooms(registries[0]._attached._processes.process_id), room)
