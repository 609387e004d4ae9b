"""All players of a killed server reconnect at the same moment: each is accepted, and heartbeats go on."""

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from fairest_protocol.messages.from_client import Create, Leave, Watch
from fairest_server.app import running
from fairest_server.room.steps import LogEntry
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.log import Log
from fairest_server.store.processes import Processes
from tests.support.processes import Fleet
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, open_client, racing_players

PLAYERS = 300


@pytest.mark.long
async def test_connections_to_a_server_that_is_held_up_wait_in_its_queue_and_need_no_second_attempt(
    fleet: Fleet,
) -> None:
    """An attempt that the system drops is repeated after 1, 3 and 7 s; a frozen server would drop it again."""
    url = await fleet.start()
    address = urlsplit(url)
    fleet.freeze(url)
    async with asyncio.timeout(PATIENCE_SECONDS):
        arrived = await asyncio.gather(
            *(asyncio.open_connection(address.hostname, address.port) for _ in range(PLAYERS))
        )
    for _, writer in arrived:
        writer.close()
    assert len(arrived) == PLAYERS


async def test_a_heartbeat_does_not_wait_until_rooms_are_released(
    settings_for_tests: Settings, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While thousands reconnect, the writes that register and release rooms wait in a queue."""
    releasing, may_end = asyncio.Event(), asyncio.Event()

    async def take_long(_: Processes, rooms: Iterable[str]) -> None:  # noqa: ARG001
        releasing.set()
        await may_end.wait()

    async def another_beat() -> None:
        last = await redis.get(keys.LAST_HEARTBEAT)

        async def has_beaten() -> None:
            assert await redis.get(keys.LAST_HEARTBEAT) != last

        await until(has_beaten, "the process has sent another heartbeat")

    monkeypatch.setattr(Processes, "release_rooms", take_long)
    async with running(settings_for_tests) as url:
        async with open_client(url) as client:
            await client.enter(Create(options=QUICK))
            await client.send(Leave())
        await releasing.wait()
        await another_beat()
        await another_beat()
        may_end.set()


async def test_spectators_who_come_at_the_same_moment_share_one_reading_of_the_log(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the log of a match with a thousand spectators would be read a thousand times."""
    read, readings = Log.read, 0

    async def count(log: Log, room: str, after: int = 0) -> list[LogEntry]:
        nonlocal readings
        readings += after == 0
        return await read(log, room, after)

    async with racing_players(server_url) as (first, _), AsyncExitStack() as stack:
        await first.play("sa")
        spectators = [await stack.enter_async_context(open_client(server_url)) for _ in range(20)]
        monkeypatch.setattr(Log, "read", count)
        seen = await asyncio.gather(*(spectator.enter(Watch(room=first.room)) for spectator in spectators))
    assert len({snapshot.position for snapshot in seen}) == 1
    assert readings <= 2, "a spectator who comes a moment later may need another one"
