"""The sweep, on a real Redis: rooms and processes that nobody else looks after any more."""

from collections.abc import Sequence

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.membership.heartbeat import Heartbeat
from fairest_server.membership.sweeper import ALONE_STRIDE, UNREADABLE_SECONDS, Sweeper
from fairest_server.room.commands import ExpireDeadline
from fairest_server.room.events import Attached, Event, RoomCreated, SeatTaken
from fairest_server.store import keys
from fairest_server.store.appends import Answer, Append
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.appending import append_once
from tests.support.isolated_room import RecordingSubscriber
from tests.support.room_server import rooms
from tests.support.stored_logs import store_entries
from tests.support.waiting import until

__all__ = ["rooms"]

LAPSED = "00000000"
ROOM = "quiet-amber-otter"
EVENTS: list[Event] = [
    RoomCreated(options=RoomOptions(grace_seconds=60)),
    SeatTaken(seat=0, player="player-0", name="ann"),
    Attached(seat=0, link=f"{LAPSED}-7"),
]


@pytest.fixture
async def processes(redis: BatchingRedis) -> Processes:
    return Processes(redis, redis, "abcd1234")


@pytest.fixture
def heartbeat(processes: Processes, rooms: RoomServer) -> Heartbeat:
    """A heartbeat that found the other process lapsed."""
    heartbeat = Heartbeat(processes, rooms.clock, rooms.registry, rooms.attached, rooms.stopping)
    heartbeat.lapsed = frozenset({LAPSED})
    return heartbeat


@pytest.fixture
def sweeper(processes: Processes, rooms: RoomServer, heartbeat: Heartbeat) -> Sweeper:
    return Sweeper(processes, rooms.log, rooms.registry, rooms.attached, rooms.key, heartbeat, rooms.stopping)


async def leave_room_behind(
    rooms: RoomServer, redis: BatchingRedis, *, next_check_ms: int = 0, events: Sequence[Event] = EVENTS
) -> None:
    """A room in which the lapsed process speaks for a seat."""
    await redis.zadd(keys.PROCESSES, {LAPSED: 1})
    await redis.set(keys.LAST_HEARTBEAT, await rooms.log.now_ms())
    await Processes(redis, redis, LAPSED).register_rooms([ROOM])
    append = Append(
        room=ROOM,
        expected=0,
        expected_tag="",
        tag="00000001",
        events=events,
        not_after_ms=await rooms.log.now_ms() + 60_000,
        next_check_ms=next_check_ms,
    )
    assert await append_once(rooms.log, append) is Answer.APPENDED


async def test_a_room_learns_that_the_process_of_its_player_has_lapsed(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await leave_room_behind(rooms, redis)
    await sweeper._sweep()

    async def is_detached() -> bool:
        room = await rooms.registry.open_room(ROOM)
        return room is not None and room.state is not None and room.state.seat(0).connection_id is None

    await until(is_detached, "the seat is detached")


async def test_a_process_that_is_alive_again_keeps_its_connections(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    """The heartbeat found it lapsed a while ago, and the sweep had to wait for Redis."""
    await leave_room_behind(rooms, redis)
    await Processes(redis, redis, LAPSED).beat()
    await sweeper._sweep()
    room = await rooms.registry.open_room(ROOM)
    assert room is not None

    async def is_quiet() -> bool:
        return not room.is_busy

    await until(is_quiet, "what the sweep may have asked of the room is decided")
    assert room.state is not None
    assert room.state.seat(0).connection_id is not None


async def test_a_process_that_is_alive_again_keeps_its_rooms(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await leave_room_behind(rooms, redis, events=EVENTS[:1])
    await Processes(redis, redis, LAPSED).beat()
    await sweeper._sweep()
    assert await redis.sismember(keys.attached_rooms(LAPSED), ROOM)


async def test_a_lapsed_process_is_forgotten_when_its_rooms_know(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await leave_room_behind(rooms, redis)

    async def is_forgotten() -> bool:
        await sweeper._sweep()
        return await redis.zscore(keys.PROCESSES, LAPSED) is None

    await until(is_forgotten, "the process is forgotten")


async def test_a_lapsed_process_is_remembered_as_long_as_a_room_does_not_know(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await leave_room_behind(rooms, redis)
    await sweeper._sweep()
    assert await redis.zscore(keys.PROCESSES, LAPSED) is not None


async def test_a_room_whose_log_cannot_be_read_holds_up_no_lapsed_process(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await leave_room_behind(rooms, redis)
    await redis.delete(keys.log(ROOM))
    await store_entries(redis, ROOM, "green")
    await sweeper._sweep()
    assert await redis.smembers(keys.attached_rooms(LAPSED)) == set()


async def test_the_deadline_of_an_overdue_room_is_judged(
    sweeper: Sweeper, rooms: RoomServer, redis: BatchingRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave_room_behind(rooms, redis, next_check_ms=1, events=EVENTS[:1])
    requests: list[Request] = []
    monkeypatch.setattr(LiveRoom, "submit", lambda _, request: requests.append(request))
    await sweeper._sweep()
    room = await rooms.registry.open_room(ROOM)
    assert room is not None and room.deadline is not None
    assert [request.command for request in requests] == [ExpireDeadline(room.deadline.at_ms)]


async def test_an_overdue_room_without_a_log_leaves_the_deadlines(
    sweeper: Sweeper, rooms: RoomServer, redis: Redis
) -> None:
    assert not rooms.registry.rooms
    await redis.zadd(keys.deadlines(keys.bucket(ROOM)), {ROOM: 1})
    await sweeper._sweep()
    assert await redis.zscore(keys.deadlines(keys.bucket(ROOM)), ROOM) is None


async def test_an_overdue_room_whose_log_cannot_be_read_is_looked_at_later(
    sweeper: Sweeper, rooms: RoomServer, redis: Redis
) -> None:
    await store_entries(redis, ROOM, "green")
    await redis.zadd(keys.deadlines(keys.bucket(ROOM)), {ROOM: 1})
    await sweeper._sweep()
    later_ms = await redis.zscore(keys.deadlines(keys.bucket(ROOM)), ROOM)
    assert later_ms is not None
    assert later_ms > await rooms.log.now_ms() + (UNREADABLE_SECONDS - 60) * 1000


async def test_a_failure_of_redis_while_an_overdue_room_is_looked_at_is_no_fault(
    sweeper: Sweeper, redis: Redis
) -> None:
    """Redis answers which rooms are overdue, and refuses their logs: as when it is killed just then."""
    await redis.set(keys.log(ROOM), "no log")
    await redis.zadd(keys.deadlines(keys.bucket(ROOM)), {ROOM: 1})
    with capture_logs() as logged:
        await sweeper._sweep()
    assert not [line for line in logged if line["log_level"] == "error"]


async def test_rooms_that_are_not_open_are_released(sweeper: Sweeper, rooms: RoomServer, redis: Redis) -> None:
    await rooms.attached.register(ROOM)
    await sweeper.release_rooms()
    assert not await redis.sismember(keys.attached_rooms(rooms.process_id), ROOM)


@pytest.fixture
async def behind(rooms: RoomServer, redis: BatchingRedis) -> LiveRoom:
    """A room with a spectator, which has not taken the last entry of its log."""
    await leave_room_behind(rooms, redis)
    room = await rooms.entrance.watch(ROOM, RecordingSubscriber("abcd1234-1", "watch"))
    assert room is not None
    room.cursor.index -= 1
    return room


async def test_a_room_beside_other_processes_learns_what_wakeups_missed(
    sweeper: Sweeper, heartbeat: Heartbeat, behind: LiveRoom
) -> None:
    heartbeat.is_shared = True
    await sweeper.compare_ends()
    assert behind.is_busy


async def test_a_process_that_serves_alone_looks_at_a_room_now_and_then(sweeper: Sweeper, behind: LiveRoom) -> None:
    looks = 0
    while not behind.is_busy:
        await sweeper.compare_ends()
        looks += 1
    assert 1 < looks <= ALONE_STRIDE


async def test_a_room_that_is_at_the_end_of_its_log_reads_nothing(
    sweeper: Sweeper, heartbeat: Heartbeat, behind: LiveRoom
) -> None:
    behind.cursor.index += 1
    heartbeat.is_shared = True
    await sweeper.compare_ends()
    assert not behind.is_busy
