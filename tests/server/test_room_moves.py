"""Behind a balancer that looks at paths, players move to the process of their room before they race."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from fairest_cli.model.known_room import ConnectionStatus
from fairest_protocol.calculation.race import Ending
from fairest_protocol.messages import entries
from fairest_protocol.messages.from_client import Create, Join, Ping, Queue
from fairest_protocol.messages.from_server import Elsewhere, Pong, Snapshot, View
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import Bot, bot, start_match
from tests.support.history import check_history
from tests.support.long_tests import parametrize_with_long
from tests.support.meeting import processes_of
from tests.support.path_balancer import Fault, PathBalancer, balanced_servers, path_balancer
from tests.support.processes import Fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, WireClient, open_client

PACE_SECONDS = 0.02
ROOMS = 8


@pytest.fixture
async def balancer(redis_url: str) -> AsyncIterator[PathBalancer]:
    async with balanced_servers(redis_url) as opened:
        yield opened


async def until_together(redis: BatchingRedis, room: str) -> None:
    async def is_one() -> bool:
        return len(await processes_of(redis, room)) == 1

    await until(is_one, "both players are on one process")


async def until_tried(balancer: PathBalancer) -> None:
    async def has_tried() -> bool:
        return balancer.moves > 0

    await until(has_tried, "the creator tries the address of its room")


async def race(bots: Sequence[Bot], tasks: Sequence[asyncio.Task[None]]) -> None:
    """Let players that have waited get ready, and race to the end."""
    for each in bots:
        each.gets_ready = True
        await each.connection.get_ready()
    await asyncio.gather(*tasks)


def shown_to(player: Bot) -> list[entries.Entry]:
    """Return the entries that a player was shown."""
    views = [update.message for update in player.updates if isinstance(update.message, View)]
    return [entry for view in views for entry in view.entries]


def has_moved(player: Bot) -> bool:
    """Return whether a player has seen its seat given to another connection of its own."""
    seat = player.connection.model.seat
    return any(isinstance(entry, entries.Attached) and entry.seat == seat for entry in shown_to(player))


async def until_moved(player: Bot) -> None:
    async def is_moved() -> bool:
        return has_moved(player)

    await until(is_moved, "the player has moved")


def has_lost_server(player: Bot) -> bool:
    return any(update.model.status is ConnectionStatus.LOST for update in player.updates)


async def meet(balancer: PathBalancer, redis: BatchingRedis) -> tuple[str, list[Bot]]:
    """Let a guest join a room, its creator move to it then, and both race to the end."""
    balancer.fault = Fault.HELD
    host = bot(balancer.url, Create(options=QUICK))
    host.gets_ready = False
    tasks = [asyncio.create_task(host.race())]
    room = await host.connection.entered()
    await until_tried(balancer)
    guest = bot(balancer.rooms, Join(room=room), seed=1)
    guest.gets_ready = False
    tasks.append(asyncio.create_task(guest.race()))
    await guest.connection.entered()
    balancer.release()
    await until_together(redis, room)
    await race((host, guest), tasks)
    return room, [host, guest]


async def test_the_creator_of_a_room_moves_to_its_process(balancer: PathBalancer, redis: BatchingRedis) -> None:
    room, bots = await meet(balancer, redis)
    transcripts = [each.transcript for each in bots]
    assert check_history(room, await Log(redis).read(room), transcripts) == []


async def test_the_opponent_sees_nobody_go_away_when_the_creator_moves(
    balancer: PathBalancer, redis: BatchingRedis
) -> None:
    _, (_, guest) = await meet(balancer, redis)
    assert not any(isinstance(entry, entries.Detached) for entry in shown_to(guest))


async def test_the_creator_that_moves_does_not_lose_the_server(balancer: PathBalancer, redis: BatchingRedis) -> None:
    _, (host, _) = await meet(balancer, redis)
    assert not has_lost_server(host)


@parametrize_with_long("fault", [Fault.SILENT, Fault.CLOSED, Fault.REFUSED], quick=1)
async def test_a_creator_that_finds_nobody_at_the_address_stays_and_races(balancer: PathBalancer, fault: Fault) -> None:
    balancer.fault = fault
    host = bot(balancer.url, Create(options=QUICK))
    hosting = asyncio.create_task(host.race())
    room = await host.connection.entered()
    await until_tried(balancer)
    await asyncio.gather(hosting, bot(balancer.rooms, Join(room=room), seed=1).race())
    assert (has_moved(host), has_lost_server(host)) == (False, False)


async def test_a_creator_that_is_ready_moves_no_more(balancer: PathBalancer) -> None:
    balancer.fault = Fault.HELD
    host = bot(balancer.url, Create(options=QUICK), pace_seconds=PACE_SECONDS)
    hosting = asyncio.create_task(host.race())
    room = await host.connection.entered()
    await until_tried(balancer)
    joining = asyncio.create_task(bot(balancer.rooms, Join(room=room), seed=1).race())
    await host.has_moved.wait()
    balancer.release()
    await asyncio.gather(hosting, joining)
    assert not has_moved(host)


@pytest.mark.long
async def test_opponents_that_join_and_are_ready_during_the_move_race_to_the_end(
    balancer: PathBalancer, redis: BatchingRedis
) -> None:
    matches = [await start_match((balancer.url,), QUICK, seed) for seed in range(ROOMS)]
    await asyncio.gather(*(match.end() for match in matches))
    for match in matches:
        assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


async def test_the_pair_of_the_queue_moves_to_the_process_of_its_room(balancer: PathBalancer) -> None:
    bots = [bot(balancer.url, Queue(rules="classic")), bot(balancer.url, Queue(rules="classic"))]
    for each in bots:
        each.gets_ready = False
    tasks = [asyncio.create_task(each.race()) for each in bots]
    for each in bots:
        await until_moved(each)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert balancer.moves == 2


@pytest.mark.long
async def test_nobody_loses_a_race_whose_process_is_killed_after_the_move(fleet: Fleet) -> None:
    rooms, elsewhere = await fleet.start(), await fleet.start()
    async with path_balancer(elsewhere, rooms) as balancer:
        host = bot(balancer.url, Create(options=QUICK), pace_seconds=PACE_SECONDS)
        hosting = asyncio.create_task(host.race())
        room = await host.connection.entered()
        await until_moved(host)
        joining = asyncio.create_task(bot(balancer.url, Join(room=room), seed=1).race())
        await host.has_moved.wait()
        await fleet.kill(rooms)
        await asyncio.gather(hosting, joining)
    assert host.connection.model.scene is not None
    assert host.connection.model.scene.outcome is not None
    endings = [score.ending for score in host.connection.model.scene.outcome.scores]
    assert not {Ending.RESIGNED, Ending.AWAY} & set(endings)


async def kinds_until_pong(client: WireClient) -> list[str]:
    """Return the types of the messages that have come, up to the answer to a ping that is sent now."""
    await client.send(Ping())
    kinds: list[str] = []
    while not isinstance(message := await client.receive(), Pong):
        kinds.append(message.type)
    return kinds


async def test_a_server_that_is_alone_offers_no_address(server_url: str) -> None:
    async with open_client(server_url) as client:
        await client.enter(Create(options=QUICK))
        assert "elsewhere" not in await kinds_until_pong(client)


async def test_a_player_that_came_by_another_path_is_offered_the_address_of_its_room(balancer: PathBalancer) -> None:
    async with open_client(balancer.elsewhere) as client:
        room = (await client.enter(Create(options=QUICK))).room
        assert await client.receive_a(Elsewhere) == Elsewhere(room=room)


async def test_a_player_at_the_address_of_its_room_is_offered_none(balancer: PathBalancer) -> None:
    async with open_client(balancer.elsewhere) as host:
        room = (await host.enter(Create(options=QUICK))).room
        async with open_client(f"{balancer.elsewhere}/r/{room}") as guest:
            await guest.enter(Join(room=room))
            assert "elsewhere" not in await kinds_until_pong(guest)


async def test_a_player_that_is_ready_is_offered_no_address(balancer: PathBalancer) -> None:
    async with open_client(balancer.elsewhere) as host, open_client(balancer.elsewhere) as guest:
        room = (await host.enter(Create(options=QUICK))).room
        await guest.enter(Join(room=room))
        await host.get_ready_without_revealing()
        async with open_client(balancer.elsewhere, token=host.token) as again:
            await again.resume(room)
            assert "elsewhere" not in await kinds_until_pong(again)


async def test_a_pair_of_the_queue_is_offered_the_address_once_it_is_together(balancer: PathBalancer) -> None:
    async with open_client(balancer.elsewhere) as ann, open_client(balancer.elsewhere) as bob:
        for client in (ann, bob):
            await client.send(Queue())
        shown = [await client.receive_a(Snapshot) for client in (ann, bob)]
        assert [(await client.receive_a(Elsewhere)).room for client in (ann, bob)] == [each.room for each in shown]
