"""Killed processes, a Redis that is away, all servers down: clocks stand still, and players who return go on."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis as plain_redis
from websockets.exceptions import ConnectionClosed

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages import entries
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Join, Play, Resume
from fairest_protocol.messages.from_server import Refused, Snapshot, View
from fairest_protocol.messages.options import RoomOptions
from fairest_protocol.messages.refusals import CloseCode
from fairest_server.app import running
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.registry import RoomRegistry
from fairest_server.live.room_server import RoomServer
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.room.events import Detached, Paused, SeatFreed
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.bots import start_match
from tests.support.faulty_link import let_fault_last
from tests.support.history import read_steps
from tests.support.processes import Fleet, RedisProcess, redis_process, serving_fleet
from tests.support.stored_logs import entry_text, store_entries
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

SHORT_GRACE = QUICK.model_copy(update={"grace_seconds": 1})


@pytest.fixture
def mortal_redis() -> Iterator[RedisProcess]:
    """A Redis for this test alone, which the test may stop."""
    with redis_process() as process:
        yield process


async def redis_ms(redis: BatchingRedis) -> int:
    return await Log(redis).now_ms()


async def receive_entry(client: WireClient, kind: type[entries.Paused] | type[entries.Detached]) -> entries.Entry:
    """Return the next entry of this kind."""
    while True:
        message = await client.receive_a(View)
        for entry in message.entries:
            if isinstance(entry, kind):
                return entry


@pytest.mark.long
async def test_a_seat_whose_process_was_killed_is_away_until_its_player_comes_back(fleet: Fleet) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with racing_players(first_url, second_url) as (first, second):
        await first.play("sa")
        await fleet.kill(first_url)
        detached = await receive_entry(second, entries.Detached)
        assert isinstance(detached, entries.Detached)
        assert detached.seat == 0
        async with open_client(second_url, token=first.token) as again:
            await again.resume(first.room)
            await second.receive_until(lambda scene: scene.seats[0].is_connected)
            await again.play("sb")


@pytest.mark.long
async def test_a_seat_whose_process_was_killed_stops_after_the_grace_period(fleet: Fleet) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with racing_players(first_url, second_url, options=SHORT_GRACE) as (_, second):
        await fleet.kill(first_url)
        await second.receive_until(lambda scene: scene.seats[0].has_stopped)


@pytest.mark.long
async def test_a_waiting_room_of_a_killed_process_does_not_wait_for_ever(fleet: Fleet, redis: BatchingRedis) -> None:
    """No process has this room open; the next process that starts finds it all the same."""
    url = await fleet.start()
    async with open_client(url) as client:
        room = (await client.enter(Create(options=SHORT_GRACE))).room
        await fleet.kill(url)

    async def is_freed() -> None:
        assert isinstance((await Log(redis).read(room))[-1].event, SeatFreed)

    await fleet.start()
    await until(is_freed, "the seat of the killed process is freed")


@pytest.mark.long
async def test_a_process_that_has_lapsed_leaves_nothing_behind(fleet: Fleet, redis: BatchingRedis) -> None:
    first_url, second_url = await fleet.start(), await fleet.start()
    async with racing_players(first_url, second_url):
        await fleet.kill(first_url)

        async def is_forgotten() -> None:
            assert await redis.zcard(keys.PROCESSES) == 1

        await until(is_forgotten, "the dead process is forgotten")
        held = [key async for key in redis.scan_iter(match=keys.attached_rooms("*"))]
        assert len(held) == 1


@pytest.mark.long
async def test_an_outage_of_all_servers_that_is_longer_than_the_grace_period_costs_no_race(
    fleet: Fleet, redis: BatchingRedis
) -> None:
    url = await fleet.start()
    async with racing_players(url, options=SHORT_GRACE) as (first, second):
        await first.play("sa")
        room, tokens = first.room, (first.token, second.token)
        await fleet.kill(url)
    down_since = await redis_ms(redis)

    async def is_long_ago() -> None:
        assert await redis_ms(redis) - down_since > keys.PAUSE_MS + 1_500

    await until(is_long_ago, "the servers were down for longer than the grace period")
    url = await fleet.start()
    async with open_client(url, token=tokens[0]) as first, open_client(url, token=tokens[1]) as second:
        snapshot, _ = await asyncio.gather(first.resume(room), second.resume(room))
        assert snapshot.scene.phase is Phase.RACING
        assert not any(seat.has_stopped for seat in snapshot.scene.seats)
        await asyncio.gather(first.play("sb"), second.play("sb"))


@pytest.mark.long
async def test_a_redis_that_is_silent_for_a_while_disconnects_clients_who_then_go_on(
    mortal_redis: RedisProcess,
) -> None:
    async with serving_fleet(mortal_redis.url) as fleet:
        url = await fleet.start()
        async with racing_players(url) as (first, second):
            await first.play("sa")
            mortal_redis.freeze()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await first.socket.wait_closed()
            assert first.socket.close_code == CloseCode.RESTARTING
            mortal_redis.thaw()
            async with open_client(url, token=first.token) as again:
                await again.send(Resume(room=first.room, position=first.position, tag=first.tag))
                again.scene, again.position, again.seat = first.scene, first.position, first.seat
                await again.play("sb")
            await second.socket.wait_closed()
            assert second.socket.close_code == CloseCode.RESTARTING


@pytest.mark.long
async def test_an_embedded_redis_that_is_killed_costs_no_race() -> None:
    with tempfile.TemporaryDirectory(prefix="fairest-") as folder:
        async with running(Settings(port=0, data_dir=Path(folder))) as url:
            match = await start_match((url,), QUICK, pace_seconds=0.15, spectators=0)
            await match.moved(3)
            with plain_redis.Redis(unix_socket_path=f"{folder}/redis.sock") as redis:
                os.kill(redis.info("server")["process_id"], signal.SIGKILL)
            await match.moved(len(match.players[0].acknowledged) + 3)
            await match.end()


async def test_a_log_that_lost_its_tail_is_not_resumed_in_the_middle(server_url: str, redis: BatchingRedis) -> None:
    """While a player was away, Redis lost the end of the log, and the log grew to the same length with other moves."""
    async with racing_players(server_url) as (first, second):
        kept = await redis.dump(keys.log(first.room))
        assert kept is not None
        await first.play("sa")
        position, tag = first.position, first.tag
        await first.socket.close()
        await redis.restore(keys.log(first.room), 0, kept, replace=True)
        # The process notices the loss when it appends, and gives the room up.
        with suppress(ConnectionClosed):
            await second.send(Play(number=1, move=MOVES["sa"]))
        await second.socket.wait_closed()
        async with open_client(server_url, token=first.token) as again:
            await again.resume(first.room)
            await again.play("sb")
            await again.play("sb")
        async with open_client(server_url, token=first.token) as later:
            await later.send(Resume(room=first.room, position=position, tag=tag))
            message = await later.receive()
            assert isinstance(message, Snapshot)
            assert message.scene.seats[0].board is not None
            assert len(message.scene.seats[0].board.piles[1]) == 2


async def test_a_room_is_registered_for_its_process_before_a_player_joins(
    server_url: str, redis: BatchingRedis
) -> None:
    """A process registers a room before it appends to it: a kill between the two must not hold a seat for ever."""
    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=QUICK))).room
        await second.enter(Join(room=room))
        held = [key async for key in redis.scan_iter(match=keys.attached_rooms("*"))]
        assert len(held) == 1
        assert await redis.sismember(held[0].decode(), room)


async def test_a_room_stays_registered_while_idle_rooms_are_released(
    settings_for_tests: Settings, redis: BatchingRedis
) -> None:
    """A client enters a room that is not open here, again and again, while the sweep releases idle rooms."""
    key, is_done = DeploymentKey(redis, SigningKey(bytes(32))), asyncio.Event()
    rooms = RoomServer(redis, redis, Processes(redis, redis, "another one"), key, closed_room_seconds=60)

    async def release_all_the_time() -> None:
        while not is_done.is_set():
            await rooms.attached.retain_only(rooms.registry.rooms.keys())
            await asyncio.sleep(0)

    async with running(settings_for_tests) as url, open_client(url) as client, asyncio.TaskGroup() as tasks:
        room = (await client.enter(Create(options=QUICK))).room
        tasks.create_task(release_all_the_time())
        for _ in range(100):
            opened = await rooms.registry.attach_room(room)
            assert opened is not None
            assert await redis.sismember(keys.attached_rooms(rooms.process_id), room)
            rooms.registry.on_change(opened)
        is_done.set()


async def test_a_timer_that_fires_too_early_is_set_again(
    settings_for_tests: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of Redis, as this process estimates it, is ahead by the length of a race."""
    opened: list[tuple[RoomRegistry, LiveRoom]] = []
    hold_room = RoomRegistry.attach_room

    async def hold(host: RoomRegistry, code: str) -> LiveRoom | None:
        room = await hold_room(host, code)
        assert room is not None
        opened.append((host, room))
        return room

    monkeypatch.setattr(RoomRegistry, "attach_room", hold)
    async with running(settings_for_tests) as url, racing_players(url):
        host, room = opened[0]
        deadline, reminders = room.deadline, host._timers._deadlines
        assert deadline is not None
        _, timer = reminders[room]
        timer.cancel()
        host._timers._expire(room, deadline)
        assert room not in reminders

        async def is_set_again() -> None:
            assert room in reminders and reminders[room][0] == deadline.at_ms

        await until(is_set_again, "a timer is set for the deadline again")


async def test_a_process_that_was_taken_for_dead_registers_its_rooms_again(
    server_url: str, redis: BatchingRedis
) -> None:
    async with open_client(server_url) as first:
        room = (await first.enter(Create(options=QUICK))).room
        held = [key async for key in redis.scan_iter(match=keys.attached_rooms("*"))]
        process_id = held[0].decode().rpartition(":")[2]
        await redis.zadd(keys.PROCESSES, {process_id: 1})
        await Processes(redis, redis, "another one").forget_process(process_id)

        async def is_held() -> None:
            assert await redis.sismember(keys.attached_rooms(process_id), room) == 1

        await until(is_held, "the process has registered its room again")


@pytest.mark.long
async def test_players_of_a_process_that_was_frozen_for_a_while_are_not_disconnected_again_and_again(
    fleet: Fleet, redis: BatchingRedis
) -> None:
    await fleet.start()
    url = await fleet.start()
    match = await start_match((url,), QUICK, pace_seconds=0.15, spectators=0)
    await match.moved(3)
    fleet.processes[url].send_signal(signal.SIGSTOP)

    async def is_detached() -> None:
        assert any(isinstance(entry.event, Detached) for entry in await Log(redis).read(match.room))

    await until(is_detached, "the frozen process is taken for dead")
    fleet.processes[url].send_signal(signal.SIGCONT)
    await match.moved(len(match.players[0].acknowledged) + 3)
    await match.end()
    lost = [entry.event for entry in await Log(redis).read(match.room) if isinstance(entry.event, Detached)]
    # Each seat once when its process froze, and perhaps once more before other processes see its next heartbeat.
    assert sum(each.lapsed for each in lost) <= 4


@pytest.mark.long
async def test_a_deadline_that_passes_while_redis_stands_still_does_not_expire_before_the_pause_is_logged() -> None:
    """Both players have 5 s to get ready, and Redis is frozen when these end."""
    with redis_process() as process:
        redis = make_client(process.url)
        async with (
            running(Settings(port=0, redis_url=process.url)) as url,
            open_client(url) as first,
            open_client(url) as second,
        ):
            room = (await first.enter(Create(options=RoomOptions(ready_seconds=5, countdown_seconds=0)))).room
            await second.enter(Join(room=room))
            due_ms = (await read_steps(redis, room))[-1].after.next_deadline()
            assert due_ms is not None
            began_ms = 0

            async def is_near() -> bool:
                nonlocal began_ms
                began_ms = int(await redis.get(keys.LAST_HEARTBEAT) or 0)
                return 1_300 < due_ms.at_ms - began_ms < 2_350

            await until(is_near, "the deadline is near")
            process.freeze()
            await let_fault_last(3.4)
            process.thaw()

            async def is_freed() -> None:
                assert any(isinstance(step.event, SeatFreed) for step in await read_steps(redis, room))

            await until(is_freed, "the seat is freed")
            steps = await read_steps(redis, room)
        await redis.aclose()
    kinds = [type(step.event) for step in steps]
    assert kinds.index(Paused) < kinds.index(SeatFreed)


@pytest.mark.long
async def test_a_process_that_was_held_up_itself_disconnects_no_client(fleet: Fleet) -> None:
    """Redis answers it late. If it disconnected its clients now, all would come back just when it is busiest."""
    url = await fleet.start()
    async with racing_players(url) as (first, _):
        fleet.freeze(url)
        await let_fault_last(2.6)
        fleet.thaw(url)
        # It accepts no move before Redis has answered again.
        while isinstance(await first.expect_refusal_or_view(Play(number=1, move=MOVES["sa"])), Refused):
            continue


@pytest.mark.usefixtures("server_url")
async def test_a_log_that_cannot_be_read_holds_up_no_other_room(redis: BatchingRedis) -> None:
    """The process that held the room has died, and the deadline of the room has passed."""
    await store_entries(redis, "torn-log", entry_text(1, "t1", 1, "{}"))
    await redis.zadd(keys.deadlines(keys.bucket("torn-log")), {"torn-log": 1})
    await redis.sadd(keys.attached_rooms("dead"), "torn-log")
    await redis.zadd(keys.PROCESSES, {"dead": 1})

    async def is_forgotten() -> None:
        assert await redis.zscore(keys.PROCESSES, "dead") is None

    async def is_put_off() -> None:
        assert await Log(redis).due_rooms(0) == []

    await until(is_forgotten, "the dead process is forgotten")
    await until(is_put_off, "the unreadable room is put off")
