"""The rooms of a process on a real Redis, without the process' sockets, heartbeats and sweeps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest

from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.live_room import LiveRoom
from fairest_server.live.proposal import Request
from fairest_server.live.room_codes import draw_free_code
from fairest_server.live.room_server import RoomServer
from fairest_server.live.signing import DeploymentKey, SigningKey
from fairest_server.room.commands import CreateRoom
from fairest_server.store.processes import Processes
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from tests.support.isolated_room import RecordingSubscriber
from tests.support.waiting import until

BEAT_SECONDS: Final = 0.25
"""A tenth of the age at which a process stops to decide."""


@asynccontextmanager
async def serving_room_server(
    redis: BatchingRedis, redis_url: str, process_id: str = "abcd1234"
) -> AsyncIterator[RoomServer]:
    """Serve rooms as a process that has not heard Redis' clock yet."""
    # With a time limit redis-py may swallow the cancellation of a subscription.
    listening = make_client(redis_url, timeout_seconds=None)
    processes = Processes(redis, redis, process_id)
    key = DeploymentKey(redis, SigningKey(bytes(32)))
    server = RoomServer(redis, listening, processes, key, closed_room_seconds=60)
    async with server.serving():
        yield server
    await listening.aclose()


@asynccontextmanager
async def heartbeat(server: RoomServer) -> AsyncIterator[None]:
    """Let the rooms hear Redis' clock all the time: without that nothing is decided, however slow the machine is."""

    async def beat() -> None:
        while True:
            server.clock.beat(await server.log.now_ms())
            await asyncio.sleep(BEAT_SECONDS)

    server.clock.beat(await server.log.now_ms())
    async with asyncio.TaskGroup() as tasks:
        beating = tasks.create_task(beat())
        yield
        beating.cancel()


@pytest.fixture
async def rooms(redis: BatchingRedis, redis_url: str) -> AsyncIterator[RoomServer]:
    """The rooms of a process that hears Redis' clock."""
    async with serving_room_server(redis, redis_url) as server, heartbeat(server):
        yield server


async def soon(condition: Callable[[], object], awaited: str) -> None:
    """Wait until a condition that needs no waiting of its own holds."""

    async def holds() -> object:
        return condition()

    await until(holds, awaited)


async def new_room(rooms: RoomServer) -> LiveRoom:
    """A room with an empty log."""
    return await rooms.registry.make_room(await draw_free_code(rooms.log))


async def create_room(rooms: RoomServer, options: RoomOptions | None = None) -> tuple[LiveRoom, RecordingSubscriber]:
    """A room with one player in it."""
    player = RecordingSubscriber("abcd1234-1", "create")
    room = await new_room(rooms)
    room.submit(Request(CreateRoom(options or RoomOptions(), "player-0", "ann", player.connection_id), player))
    await soon(lambda: player.notes, "the player is shown the room")
    return room, player
