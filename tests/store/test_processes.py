"""Heartbeats of server processes on a real Redis: processes that live, have lapsed, or were forgotten."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from fairest_server.room.commands import Pause
from fairest_server.store import keys
from fairest_server.store.processes import Processes, UnreadRequest
from fairest_server.store.redis.clients import make_client
from tests.support.waiting import PATIENCE_SECONDS, until

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
    await processes.release_rooms([ROOM])
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


async def beat_of(redis: Redis, process_id: str, ago_ms: int, newest_ago_ms: int) -> int:
    """Let this process have sent its last heartbeat so long ago, and any process its own; return the time of Redis."""
    seconds, microseconds = await redis.time()
    now_ms = int(seconds) * 1000 + int(microseconds) // 1000
    await redis.zadd(keys.PROCESSES, {process_id: now_ms - ago_ms})
    await redis.set(keys.LAST_HEARTBEAT, now_ms - newest_ago_ms)
    return now_ms


async def test_a_silence_of_redis_makes_nobody_lapse(processes: Processes, redis: Redis) -> None:
    await beat_of(redis, "p2", ago_ms=6_000, newest_ago_ms=5_100)
    assert (await processes.beat()).lapsed == ()


async def test_a_process_that_died_before_a_silence_of_redis_lapses_after_it(
    processes: Processes, redis: Redis
) -> None:
    await beat_of(redis, "p2", ago_ms=8_000, newest_ago_ms=5_100)
    assert (await processes.beat()).lapsed == ("p2",)


async def test_heartbeats_that_come_slowly_do_not_keep_a_dead_process_alive(processes: Processes, redis: Redis) -> None:
    """Each gap counts for a part of it, so that the dead one lapses with the third."""
    found = []
    await redis.zadd(keys.PROCESSES, {"p2": (await processes.beat()).now_ms})
    for _ in range(3):
        last_ms = int(await redis.get(keys.LAST_HEARTBEAT) or 0) - 2_500
        await redis.set(keys.LAST_HEARTBEAT, last_ms)
        await redis.zincrby(keys.PROCESSES, -2_500, "p2")
        found.append((await processes.beat()).lapsed)
    assert found[-1] == ("p2",)


async def test_of_a_silence_a_second_and_a_half_counts_towards_the_lapse_of_a_process(
    processes: Processes, redis: Redis
) -> None:
    now_ms = await beat_of(redis, "p2", ago_ms=6_000, newest_ago_ms=5_000)
    silence_ms = (await processes.beat()).now_ms - (now_ms - 5_000)
    moved_ms = int(await redis.zscore(keys.PROCESSES, "p2") or 0) - (now_ms - 6_000)
    assert silence_ms - moved_ms == 1_500


async def test_a_process_that_died_before_the_clock_was_set_back_lapses(processes: Processes, redis: Redis) -> None:
    await beat_of(redis, "p2", ago_ms=-55_000, newest_ago_ms=-60_000)
    assert (await processes.beat()).lapsed == ("p2",)


async def test_a_clock_that_is_set_ahead_makes_nobody_lapse(processes: Processes, redis: Redis) -> None:
    await beat_of(redis, "p2", ago_ms=60_500, newest_ago_ms=60_000)
    assert (await processes.beat()).lapsed == ()


async def test_a_pause_ends_no_later_than_now_once_the_clock_was_set_back(processes: Processes, redis: Redis) -> None:
    now_ms = await beat_of(redis, "p1", ago_ms=-60_000, newest_ago_ms=-60_000)
    await redis.rpush(keys.PAUSES, f"{now_ms - 9_000}-{now_ms - 5_000}", f"{now_ms - 1_000}-{now_ms + 60_000}")
    reply = await processes.beat()
    assert [pause.end_ms for pause in reply.pauses] == [now_ms - 5_000, reply.now_ms]


async def test_a_pause_in_the_future_is_none(processes: Processes, redis: Redis) -> None:
    now_ms = await beat_of(redis, "p1", ago_ms=-60_000, newest_ago_ms=-60_000)
    await redis.rpush(keys.PAUSES, f"{now_ms + 10_000}-{now_ms + 60_000}")
    assert (await processes.beat()).pauses == ()


async def test_a_process_that_is_alive_again_has_not_lapsed(processes: Processes, redis: Redis) -> None:
    other = Processes(redis, redis, "p2")
    await processes.beat()
    await silence(redis, "p1")
    assert await other.has_lapsed("p1")
    await processes.beat()
    assert not await other.has_lapsed("p1")


async def test_a_process_has_not_lapsed_before_the_first_heartbeat_after_a_silence(redis: Redis) -> None:
    await beat_of(redis, "p1", ago_ms=6_000, newest_ago_ms=5_100)
    assert not await Processes(redis, redis, "p2").has_lapsed("p1")


async def test_rooms_of_a_process_that_is_alive_again_are_not_released(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    await processes.register_rooms([ROOM])
    assert not await Processes(redis, redis, "p2").release_lapsed("p1", [ROOM])
    assert await processes.rooms_of("p1") == [ROOM]


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


@pytest.mark.long
async def test_a_heartbeat_does_not_wait_for_other_commands(redis_url: str, redis: Redis) -> None:
    async with make_client(redis_url) as busy, make_client(redis_url) as heartbeat_client:
        waiting = asyncio.ensure_future(busy.blpop(["fairest:{processes}:nothing"], timeout=0))
        await until(lambda: is_blocked(redis), "the connection is blocked")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await Processes(busy, heartbeat_client, "p1").beat()).is_new
        waiting.cancel()
        await asyncio.wait([waiting])


async def is_blocked(redis: Redis) -> bool:
    """Return whether a client of this Redis waits for a reply."""
    return int((await redis.info("clients"))["blocked_clients"]) > 0


async def test_a_process_knows_how_many_are_alive(processes: Processes, redis: Redis) -> None:
    alive = [(await each.beat()).alive for each in (processes, Processes(redis, redis, "p2"), processes)]
    assert alive == [1, 2, 2]


async def test_a_process_that_starts_reads_no_request_from_before(processes: Processes, redis: Redis) -> None:
    await redis.xadd(keys.CONTROL, {"request": "old"})
    assert (await processes.beat()).requests == ()


async def test_a_request_has_its_time_and_the_text_of_its_last_field(processes: Processes, redis: Redis) -> None:
    await processes.beat()
    entries: list[dict[Any, Any]] = [{"request": "one"}, {"request": "more", "of": "two"}]
    for number, fields in enumerate(entries, 1):
        await redis.xadd(keys.CONTROL, fields, id=f"{10**13}-{number}")
    requests = (await processes.beat()).requests
    assert requests == tuple(
        UnreadRequest(f"{10**13}-{number}", 10**13, text) for number, text in ((1, b"one"), (2, b"two"))
    )


async def test_a_heartbeat_has_the_version_of_the_bans(processes: Processes, redis: Redis) -> None:
    before = (await processes.beat()).bans_version
    await redis.hset(keys.BANS, "version", "7")
    assert (before, (await processes.beat()).bans_version) == ("", "7")
