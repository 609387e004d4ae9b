"""The heartbeat of a process, on a real Redis: who lives, who has lapsed, and what a silence of Redis leads to."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from types import SimpleNamespace

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from fairest_server.live.room_server import RoomServer
from fairest_server.membership import heartbeat as module
from fairest_server.membership.heartbeat import SILENCE_SECONDS, Heartbeat
from fairest_server.store import keys
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.room_server import serving_room_server

OTHER = "00000000"


async def is_away(*_: object) -> None:
    raise RedisConnectionError("nobody there")


@pytest.fixture
async def processes(redis: BatchingRedis) -> Processes:
    return Processes(redis, redis, "abcd1234")


@pytest.fixture
async def rooms(redis: BatchingRedis, redis_url: str) -> AsyncIterator[RoomServer]:
    async with serving_room_server(redis, redis_url) as server:
        yield server


@pytest.fixture
def heartbeat(processes: Processes, rooms: RoomServer) -> Heartbeat:
    return Heartbeat(processes, rooms.clock, rooms.registry, rooms.attached, rooms.stopping)


async def test_a_heartbeat_opens_the_window_for_decisions(heartbeat: Heartbeat, rooms: RoomServer) -> None:
    assert rooms.clock.decision_window() is None
    await heartbeat.beat()
    assert rooms.clock.decision_window() is not None


async def test_a_process_without_others_is_not_shared(heartbeat: Heartbeat, rooms: RoomServer) -> None:
    await heartbeat.beat()
    assert not rooms.registry._services.is_shared


async def test_a_process_beside_another_one_is_shared(
    heartbeat: Heartbeat, rooms: RoomServer, redis: BatchingRedis
) -> None:
    await Processes(redis, redis, OTHER).beat()
    await heartbeat.beat()
    assert rooms.registry._services.is_shared


async def test_a_process_that_stopped_beating_has_lapsed(heartbeat: Heartbeat, redis: Redis) -> None:
    await redis.zadd(keys.PROCESSES, {OTHER: 1})
    await heartbeat.beat()
    assert heartbeat.lapsed == {OTHER}


async def test_a_process_that_redis_forgot_registers_its_rooms_again(
    heartbeat: Heartbeat, rooms: RoomServer, redis: Redis
) -> None:
    await heartbeat.beat()
    await rooms.attached.register("quiet-amber-otter")
    await redis.delete(keys.PROCESSES, keys.attached_rooms(rooms.process_id))
    await heartbeat.beat()
    assert await redis.sismember(keys.attached_rooms(rooms.process_id), "quiet-amber-otter")


async def test_a_process_hears_of_a_pause(heartbeat: Heartbeat, rooms: RoomServer, redis: Redis) -> None:
    await heartbeat.beat()
    now_ms = rooms.clock.now_ms()
    await redis.set(keys.LAST_HEARTBEAT, now_ms - keys.PAUSE_MS - 1_000)
    await heartbeat.beat()
    pauses = rooms.registry._services.pauses
    assert len(pauses) == 1
    assert pauses[0].end_ms - pauses[0].start_ms > keys.PAUSE_MS


class Watched:
    """A heartbeat that watches a clock which the test lets fall silent, one look for each `looks`."""

    def __init__(self, heartbeat: Heartbeat, rooms: RoomServer, patch: pytest.MonkeyPatch) -> None:
        self.sent_away = 0
        self.silent_seconds = 0.0
        self.busy_seconds: Iterator[float] = iter(())
        self._now = 0.0
        self._looks: asyncio.Queue[float | None] = asyncio.Queue()
        patch.setattr(module, "stops_within", self._stops_within)
        patch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self._now))
        patch.setattr(type(rooms.clock), "silent_seconds", property(lambda _: self.silent_seconds))
        patch.setattr(rooms.registry, "send_away", self._send_away)
        self._heartbeat = heartbeat

    async def looks(self, *silences: float, busy_seconds: Sequence[float] = ()) -> int:
        """Let it look at these silences, one after the other; how often it sent clients away.

        By `busy_seconds` the first looks are late.
        """
        self.busy_seconds = iter(busy_seconds)
        for silence in silences:
            self._looks.put_nowait(silence)
        self._looks.put_nowait(None)
        await self._heartbeat.watch_silence()
        return self.sent_away

    async def _stops_within(self, _: asyncio.Event, seconds: float) -> bool:
        self._now += seconds + next(self.busy_seconds, 0.0)
        silence = self._looks.get_nowait()
        self.silent_seconds = silence or 0.0
        return silence is None

    def _send_away(self) -> None:
        self.sent_away += 1


@pytest.fixture
def watched(heartbeat: Heartbeat, rooms: RoomServer, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(heartbeat, rooms, monkeypatch)


async def test_a_short_silence_sends_nobody_away(watched: Watched) -> None:
    assert await watched.looks(0, 1, SILENCE_SECONDS) == 0


async def test_a_long_silence_sends_clients_away_once(watched: Watched) -> None:
    assert await watched.looks(1, SILENCE_SECONDS + 1, SILENCE_SECONDS + 2) == 1


async def test_each_silence_sends_clients_away(watched: Watched) -> None:
    assert await watched.looks(SILENCE_SECONDS + 1, 0, SILENCE_SECONDS + 1) == 2


async def test_a_process_that_had_no_time_to_listen_sends_nobody_away(watched: Watched) -> None:
    assert await watched.looks(SILENCE_SECONDS + 1, busy_seconds=[1.0]) == 0


async def test_a_process_that_was_busy_waits_for_another_heartbeat(watched: Watched) -> None:
    assert await watched.looks(*[SILENCE_SECONDS + 1] * 4, busy_seconds=[1.0]) == 0


async def test_a_silence_that_lasts_beyond_another_heartbeat_sends_clients_away(watched: Watched) -> None:
    assert await watched.looks(*[SILENCE_SECONDS + 1] * 5, busy_seconds=[1.0]) == 1


async def test_rooms_that_could_not_be_registered_again_are_at_the_next_heartbeat(
    heartbeat: Heartbeat, rooms: RoomServer, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await heartbeat.beat()
    await rooms.attached.register("quiet-amber-otter")
    await redis.delete(keys.PROCESSES, keys.attached_rooms(rooms.process_id))
    with monkeypatch.context() as patch:
        patch.setattr(Processes, "register_rooms", is_away)
        with pytest.raises(RedisConnectionError):
            await heartbeat.beat()
    await heartbeat.beat()
    assert await redis.sismember(keys.attached_rooms(rooms.process_id), "quiet-amber-otter")
