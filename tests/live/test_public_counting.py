"""The number of spectators: the same to all viewers of a room, over all processes; and the counts of the lobby."""

import asyncio

import pytest
from redis.asyncio import Redis

from fairest_protocol.calculation.sliced import finish
from fairest_protocol.messages.from_client import Create, Join, Leave, Watch
from fairest_protocol.messages.from_server import Left, Placed, Watching
from fairest_protocol.messages.options import RoomOptions, Spectators
from fairest_server.live.public_counting import SPECTATORS_FOR_SECOND, PublicCounting, counting
from fairest_server.live.slices import Slices
from fairest_server.live.subscribers import send_placed
from fairest_server.store import keys
from fairest_server.store.lobby import Lobby
from fairest_server.store.public_counts import PublicCounts, PublicCountStore
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.isolated_room import IsolatedRoom, RecordingSubscriber
from tests.support.processes import Fleet
from tests.support.races import Table
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client


async def hears(client: WireClient, watching: int) -> None:
    """Wait until the client is told that so many watch."""
    while (await client.receive_a(Watching)).watching != watching:
        pass


async def test_a_player_is_told_how_many_watch(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as one, open_client(server_url) as other:
        room = (await host.enter(Create(options=QUICK))).room
        await one.enter(Watch(room=room))
        await hears(host, 1)
        await other.enter(Watch(room=room))
        await hears(host, 2)


async def test_a_spectator_that_leaves_is_not_counted(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as one, open_client(server_url) as other:
        room = (await host.enter(Create(options=QUICK))).room
        for spectator in (one, other):
            await spectator.enter(Watch(room=room))
        await hears(one, 2)
        await other.send(Leave())
        await other.receive_a(Left)
        await hears(one, 1)


async def test_a_spectator_that_comes_later_is_told_the_count_at_once(server_url: str) -> None:
    async with open_client(server_url) as host, open_client(server_url) as one, open_client(server_url) as other:
        room = (await host.enter(Create(options=QUICK))).room
        await one.enter(Watch(room=room))
        await hears(one, 1)
        await other.enter(Watch(room=room))
        assert await other.receive_a(Watching) == Watching(watching=1)


@pytest.mark.long
async def test_spectators_on_two_processes_are_counted_together(fleet: Fleet) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with open_client(here) as host, open_client(here) as one, open_client(there) as other:
        room = (await host.enter(Create(options=QUICK))).room
        await one.enter(Watch(room=room))
        await other.enter(Watch(room=room))
        for viewer in (host, one, other):
            await hears(viewer, 2)


@pytest.mark.long
async def test_the_spectators_of_a_killed_process_do_not_count_for_long(fleet: Fleet, redis: Redis) -> None:
    here, there = await fleet.start(), await fleet.start()
    async with open_client(here) as host, open_client(there) as spectator:
        room = (await host.enter(Create(options=QUICK))).room
        await spectator.enter(Watch(room=room))
        await hears(host, 1)
        await fleet.kill(there)
        (counted,) = [key async for key in redis.scan_iter("fairest:{processes}:counts:*")]
        # What expires after 15 seconds expires now.
        await redis.delete(counted)
        await hears(host, 0)


async def listed_counts(redis: Redis, room: str) -> tuple[int, tuple[int, int] | None]:
    """Return what a process that reads the lobby for the first time says of the room."""
    (listed,) = [each for each in (await Lobby(redis).page(0)).rooms if each.room == room]
    return listed.watching, listed.placed


@pytest.mark.long
async def test_the_lobby_has_the_counts_of_the_last_tick(server_url: str, redis: Redis) -> None:
    options = RoomOptions(listed=True, countdown_seconds=0)
    async with open_client(server_url) as first, open_client(server_url) as second:
        room = (await first.enter(Create(options=options))).room
        await second.enter(Join(room=room))
        await asyncio.gather(first.take_part_in_deal(), second.take_part_in_deal())
        told = (await first.receive_a(Placed)).placed

        async def is_listed() -> bool:
            return await listed_counts(redis, room) == (0, told)

        await until(is_listed, "the lobby has the counts that the players were told")


@pytest.mark.parametrize(
    ("is_listed", "spectators", "is_known"),
    [
        (True, Spectators.HORIZON, True),
        (True, Spectators.OPEN, True),
        (True, Spectators.CLOSED, False),
        (False, Spectators.HORIZON, False),
    ],
)
def test_strangers_know_the_cards_placed_where_they_may_watch(
    is_listed: bool, spectators: Spectators, is_known: bool
) -> None:
    table, room = Table(1, options=RoomOptions(listed=is_listed, spectators=spectators)), IsolatedRoom().room
    table.start()
    room.state = table.state
    send_placed(room.subscribers, room.state)
    assert finish(counting([room])) == ({room.code: PublicCounts(0, (4, 4))} if is_known else {})


def test_strangers_know_no_card_before_the_tick_that_counts_it() -> None:
    table, room = Table(1, options=RoomOptions(listed=True)), IsolatedRoom().room
    table.start()
    send_placed(room.subscribers, table.state)
    board = table.state.race.racers[0].board if table.state.race else None
    while board is not None and board.placed == 4:
        table.play(0, next(iter(board.legal_moves())))
        board = table.state.race.racers[0].board if table.state.race else None
    room.state = table.state
    assert finish(counting([room])) == {room.code: PublicCounts(0, (4, 4))}


async def test_the_lobby_has_the_number_of_spectators(server_url: str, redis: Redis) -> None:
    async with open_client(server_url) as host, open_client(server_url) as spectator:
        room = (await host.enter(Create(options=QUICK.model_copy(update={"listed": True})))).room
        await spectator.enter(Watch(room=room))
        await hears(host, 1)

        async def is_listed() -> bool:
            return await listed_counts(redis, room) == (1, None)

        await until(is_listed, "the lobby counts the spectator")


async def test_many_spectators_are_told_less_often(redis: BatchingRedis) -> None:
    await redis.zadd(keys.PROCESSES, {"0000aaaa": 1})
    isolated = IsolatedRoom()
    subscribers = isolated.room.subscribers
    rooms = {isolated.room.code: isolated.room}
    count_again = PublicCounting(PublicCountStore(redis, "0000aaaa"), redis, rooms, Slices())
    told = []
    for count in (2 * SPECTATORS_FOR_SECOND, 2 * SPECTATORS_FOR_SECOND + 1):
        while len(subscribers.spectators) < count:
            subscribers.spectators.add(RecordingSubscriber("watcher", "watch"))
        await count_again.advance()
        told.append(subscribers.latest["watching"])
    assert told == [Watching(watching=2 * SPECTATORS_FOR_SECOND)] * 2
