"""Heartbeats of server processes on a real Redis: processes that live, have lapsed, or were forgotten."""

import asyncio

import pytest
from redis.asyncio import Redis

from fairest_server.room.commands import Pause
from fairest_server.store import keys
from fairest_server.store.processes import Processes
from fairest_server.store.redis.clients import make_client
from tests.support.waiting import until

ROOM = "quiet-amber-otter"


@pytest.fixture
def processes(redis: Redis) -> Processes:
    return Processes(redis, redis, "p1")


async def silence(redis: Redis, process_id: str) -> None:
    """Set the last heartbeat of this process to long ago."""
    await redis.zadd(keys.PROCESSES, {process_id: 1})


async def test_a_process_is_new_with_its_first_heartbeat_only(processes: Processes) -> None:
    assert (await processes.beat()).is_new
    assert not (await processes.beat()).is_new


async def test_a_process_that_was_forgotten_is_new_again(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    await silence(redis, "p1")
    await Processes(redis, redis, "p2").forget_process("p1")
    assert (await processes.beat()).is_new


async def test_a_silent_process_has_lapsed_for_the_others(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    await silence(redis, "p1")
    assert (await Processes(redis, redis, "p2").beat()).lapsed == ("p1",)


async def test_a_process_that_sends_a_heartbeat_again_is_no_longer_lapsed(processes: Processes, redis: Redis) -> None:
    other = Processes(redis, redis, "p2")
    await processes.beat()
    await silence(redis, "p1")
    await other.beat()
    await processes.beat()
    assert (await other.beat()).lapsed == ()


async def test_a_room_that_was_released_is_no_longer_one_of_the_process(processes: Processes) -> None:
    await processes.register_rooms([ROOM, "another-room"])
    await processes.release_rooms("p1", [ROOM])
    assert await processes.rooms_of("p1") == ["another-room"]


async def test_a_process_that_sends_a_heartbeat_again_is_not_forgotten(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    await processes.register_rooms([ROOM])
    assert not await Processes(redis, redis, "p2").forget_process("p1")
    assert await processes.rooms_of("p1") == [ROOM]


async def test_a_process_that_is_forgotten_has_no_rooms(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    await processes.register_rooms([ROOM])
    await silence(redis, "p1")
    assert await Processes(redis, redis, "p2").forget_process("p1")
    assert await processes.rooms_of("p1") == []


async def test_a_time_without_a_heartbeat_of_any_process_is_a_pause(processes: Processes, redis: Redis) -> None:
    await redis.set(keys.LAST_HEARTBEAT, 1_000)
    reply = await processes.beat()
    assert reply.pauses == (Pause(1_000, reply.now_ms),)


async def test_heartbeats_in_time_leave_no_pause(processes: Processes) -> None:
    await processes.beat()
    assert (await processes.beat()).pauses == ()


async def test_only_the_latest_pauses_are_kept(processes: Processes, redis: Redis) -> None:
    await redis.rpush(keys.PAUSES, *(f"{each}-{each + 1}" for each in range(keys.PAUSES_KEPT)))
    await redis.set(keys.LAST_HEARTBEAT, 1_000)
    pauses = (await processes.beat()).pauses
    assert (len(pauses), pauses[0].start_ms, pauses[-1].start_ms) == (keys.PAUSES_KEPT, 1, 1_000)


async def test_a_heartbeat_does_not_wait_for_other_commands(redis_url: str, redis: Redis) -> None:
    async with make_client(redis_url) as busy, make_client(redis_url) as heartbeat_client:
        waiting = asyncio.ensure_future(busy.blpop(["fairest:{processes}:nothing"], timeout=0))
        await until(lambda: is_blocked(redis), "the connection is blocked")
        async with asyncio.timeout(5):
            assert (await Processes(busy, heartbeat_client, "p1").beat()).is_new
        waiting.cancel()
        await asyncio.wait([waiting])


async def is_blocked(redis: Redis) -> bool:
    """Return whether a client of this Redis waits for a reply."""
    return int((await redis.info("clients"))["blocked_clients"]) > 0
