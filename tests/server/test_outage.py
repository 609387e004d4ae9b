"""Killed processes, a Redis that is away, all servers down: clocks stand still, and whoever comes back goes on."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from protocol.messages import entries
from protocol.messages.fields import Phase
from protocol.messages.from_client import Create, Join, Resume
from protocol.messages.from_server import Snapshot, View
from protocol.messages.refusals import CloseCode
from server.app import running
from server.host import Host
from server.settings import Settings
from server.signing import SigningKey
from server.store import keys
from server.store.log import Log
from tests.processes import Fleet, RedisProcess, redis_process, serving_fleet
from tests.talker import QUICK, Talker, talking, two_racing, until

SHORT_GRACE = QUICK.model_copy(update={"grace_seconds": 1})


@pytest.fixture
async def fleet(redis_url: str) -> AsyncIterator[Fleet]:
    async with serving_fleet(redis_url) as started:
        yield started


@pytest.fixture
def mortal_redis() -> Iterator[RedisProcess]:
    """A Redis of one's own, which may be stopped."""
    with redis_process() as process:
        yield process


async def redis_ms(redis: Redis) -> int:
    return await Log(redis).now_ms()


async def hear_entry(talker: Talker, kind: type[entries.Paused] | type[entries.Detached]) -> entries.Entry:
    """The first entry of this kind."""
    while True:
        message = await talker.hear_a(View)
        for entry in message.entries:
            if isinstance(entry, kind):
                return entry


async def test_a_seat_whose_process_was_killed_is_away_until_its_player_comes_back(fleet: Fleet) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with two_racing(first_url, second_url) as (first, second):
        await first.play("sa")
        await fleet.kill(first_url)
        detached = await hear_entry(second, entries.Detached)
        assert isinstance(detached, entries.Detached)
        assert detached.seat == 0
        async with talking(second_url, token=first.token) as again:
            await again.enter_again(first.room)
            await second.hear_until(lambda scene: scene.seats[0].is_connected)
            await again.play("sb")


async def test_a_seat_whose_process_was_killed_stops_after_the_grace_period(fleet: Fleet) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with two_racing(first_url, second_url, options=SHORT_GRACE) as (_, second):
        await fleet.kill(first_url)
        await second.hear_until(lambda scene: scene.seats[0].has_stopped)


async def test_a_waiting_room_of_a_killed_process_is_not_waiting_for_ever(fleet: Fleet, redis: Redis) -> None:
    """Nobody has this room open any more; the next process to start finds it all the same."""
    url = await fleet.start()
    async with talking(url) as talker:
        room = (await talker.enter(Create(options=SHORT_GRACE))).room
        await fleet.kill(url)

    async def is_freed() -> bool:
        return [entry.event.type for entry in await Log(redis).read(room)][-1] == "seat_freed"

    await fleet.start()
    await until(is_freed)


async def test_a_process_that_has_lapsed_leaves_nothing_behind(fleet: Fleet, redis: Redis) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with two_racing(first_url, second_url):
        await fleet.kill(first_url)

        async def is_buried() -> bool:
            return await redis.zcard(keys.PROCESSES) == 1

        await until(is_buried)
        held = [key async for key in redis.scan_iter(match=keys.held_rooms("*"))]
        assert len(held) == 1


async def test_all_servers_down_for_longer_than_the_grace_period_cost_nobody_a_race(fleet: Fleet, redis: Redis) -> None:
    url = await fleet.start()
    async with two_racing(url, options=SHORT_GRACE) as (first, second):
        await first.play("sa")
        room, tokens = first.room, (first.token, second.token)
        await fleet.kill(url)
    down_since = await redis_ms(redis)

    async def is_long_ago() -> bool:
        return await redis_ms(redis) - down_since > keys.PAUSE_MS + 1_500

    await until(is_long_ago)
    url = await fleet.start()
    async with talking(url, token=tokens[0]) as first, talking(url, token=tokens[1]) as second:
        snapshot, _ = await asyncio.gather(first.enter_again(room), second.enter_again(room))
        assert snapshot.scene.phase is Phase.RACING
        assert not any(seat.has_stopped for seat in snapshot.scene.seats)
        await asyncio.gather(first.play("sb"), second.play("sb"))


async def test_a_redis_that_is_silent_sends_clients_away_and_is_forgiven(mortal_redis: RedisProcess) -> None:
    async with serving_fleet(mortal_redis.url) as fleet:
        url = await fleet.start()
        async with two_racing(url) as (first, second):
            await first.play("sa")
            mortal_redis.freeze()
            async with asyncio.timeout(10):
                await first.socket.wait_closed()
            assert first.socket.close_code == CloseCode.RESTARTING
            mortal_redis.thaw()
            async with talking(url, token=first.token) as again:
                await again.say(Resume(room=first.room, position=first.position, tag=first.tag))
                again.scene, again.position, again.seat = first.scene, first.position, first.seat
                await again.play("sb")
            await second.socket.wait_closed()
            assert second.socket.close_code == CloseCode.RESTARTING


async def test_a_log_that_lost_its_tail_is_not_resumed_in_the_middle(server_url: str, redis: Redis) -> None:
    """While a player was away, Redis went back in time and the log grew again, as far as before, with other moves."""
    async with two_racing(server_url) as (first, second):
        kept = await redis.dump(keys.log(first.room))
        assert kept is not None
        await first.play("sa")
        position, tag = first.position, first.tag
        await first.socket.close()
        await redis.restore(keys.log(first.room), 0, kept, replace=True)
        await second.socket.close()
        async with talking(server_url, token=first.token) as again:
            await again.enter_again(first.room)
            await again.play("sb")
            await again.play("sb")
        async with talking(server_url, token=first.token) as later:
            await later.say(Resume(room=first.room, position=position, tag=tag))
            message = await later.hear()
            assert isinstance(message, Snapshot)
            assert message.scene.seats[0].board is not None
            assert len(message.scene.seats[0].board.piles[1]) == 2


async def test_nobody_joins_a_room_that_its_process_has_not_written_down(server_url: str, redis: Redis) -> None:
    """A process says where it speaks before it speaks: else a kill between the two would leave a seat for ever."""
    async with talking(server_url) as first, talking(server_url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        await second.enter(Join(room=room))
        held = [key async for key in redis.scan_iter(match=keys.held_rooms("*"))]
        assert len(held) == 1
        assert await redis.sismember(held[0].decode(), room)


async def test_a_room_stays_written_down_however_often_idle_rooms_are_released(
    settings_for_tests: Settings, redis: Redis
) -> None:
    """Somebody comes into a room that is not open here, again and again, while the pulse releases idle rooms."""
    host, is_done = Host(redis, redis, SigningKey(bytes(32)), closed_room_seconds=60), asyncio.Event()

    async def release_all_the_time() -> None:
        while not is_done.is_set():
            await host.release_rooms()
            await asyncio.sleep(0)

    async with running(settings_for_tests) as url, talking(url) as talker, asyncio.TaskGroup() as tasks:
        room = (await talker.enter(Create(options=QUICK))).room
        tasks.create_task(release_all_the_time())
        for _ in range(100):
            opened = await host.hold_room(room)
            assert opened is not None
            assert await redis.sismember(keys.held_rooms(host.process_id), room)
            host.changed(opened)
        is_done.set()
