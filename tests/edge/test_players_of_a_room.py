"""Processes on one port: both players of a room meet on one of them, and a race goes on where they do not."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import InvalidHandshake

from fairest_protocol.messages.from_client import Create, Join, Ping, Watch
from fairest_protocol.messages.from_server import Pong
from fairest_server.edge import room_handover
from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import start_match
from tests.support.certificates import make_certificate
from tests.support.history import check_history
from tests.support.limited import limited_server
from tests.support.meeting import processes_of
from tests.support.processes import Fleet
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, open_client

pytestmark = pytest.mark.skipif(not room_handover.IS_SUPPORTED, reason="sockets are handed over on Linux only")
PACE_SECONDS = 0.05
ROOMS = 12
"""Of so many rooms that are split by chance between two processes, all players meet in one of 4,096 cases."""
ATTEMPT_SECONDS = 3.0
"""A client that is not welcomed by then tries again: the system may have given it to a process that has stopped."""


@dataclass
class Port:
    """Two processes on one port."""

    url: str
    folder: Path


@asynccontextmanager
async def two_processes(redis_url: str, folder: Path, **settings: object) -> AsyncIterator[Port]:
    shared = {"reuse_port": True, "handover_folder": folder, **settings}
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(limited_server(redis_url, **shared))
        await stack.enter_async_context(limited_server(redis_url, **shared | {"port": int(url.rpartition(":")[2])}))
        yield Port(url, folder)


@pytest.fixture
async def port(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Port]:
    # However slow the machine is, no process is late here.
    monkeypatch.setattr(room_handover, "CLAIM_SECONDS", 10 * PATIENCE_SECONDS)
    async with two_processes(redis_url, tmp_path) as opened:
        yield opened


async def test_players_at_the_address_of_their_room_meet_on_one_process(port: Port, redis: BatchingRedis) -> None:
    meeting_places = set()
    for _ in range(ROOMS):
        async with open_client(port.url) as ann:
            room = (await ann.enter(Create(options=QUICK))).room
            async with open_client(f"{port.url}/r/{room}") as ben:
                await ben.enter(Join(room=room))
                processes = await processes_of(redis, room)
                assert len(processes) == 1
                meeting_places |= processes
    assert len(meeting_places) == 2


async def test_a_creator_is_where_its_room_is_and_is_offered_no_address(port: Port) -> None:
    async with open_client(port.url) as ann:
        await ann.enter(Create(options=QUICK))
        await ann.send(Ping())
        assert isinstance(await ann.receive(), Pong)


async def test_a_player_of_any_process_may_join_any_room(port: Port) -> None:
    async with open_client(port.url) as ann:
        room = (await ann.enter(Create(options=QUICK))).room
        for _ in range(4):
            async with open_client(port.url) as spectator:
                assert (await spectator.enter(Watch(room=room))).room == room


async def test_a_room_that_does_not_exist_has_an_address(port: Port) -> None:
    async with open_client(f"{port.url}/r/no-such-room") as client:
        assert (await client.expect_refusal(Join(room="no-such-room"))).code == "no_such_room"


async def test_another_room_may_be_entered_at_the_address_of_a_room(port: Port) -> None:
    async with open_client(f"{port.url}/r/amber-quiet-lynx") as client:
        assert (await client.enter(Create(options=QUICK))).seat == 0


async def test_a_race_goes_on_with_players_at_addresses(port: Port, redis: BatchingRedis) -> None:
    match = await start_match((port.url,), QUICK)
    await match.end()
    assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


async def test_tls_hands_nothing_over(redis_url: str, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    folder = tmp_path / "processes"
    folder.mkdir()
    async with two_processes(redis_url, folder, tls_cert=certificate, tls_key=key):
        assert list(folder.iterdir()) == []


def workers_of(supervisor: int) -> list[int]:
    """The process ids of its living workers."""
    return [int(each) for each in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()]


def folder_of(worker: int) -> Path:
    """The folder in which a worker finds the others."""
    variables = Path(f"/proc/{worker}/environ").read_bytes().split(b"\0")
    (value,) = (each.partition(b"=")[2] for each in variables if each.startswith(b"FAIREST_HANDOVER_FOLDER="))
    return Path(value.decode())


@pytest.mark.long
async def test_a_race_survives_the_death_of_the_worker_on_which_its_players_are(
    fleet: Fleet, redis: BatchingRedis
) -> None:
    url = await fleet.start("--workers", "2")
    supervisor = fleet.processes[url].pid
    match = await start_match((url,), QUICK, 3, PACE_SECONDS, 1)
    for killed in range(2):
        await match.moved(4 * (killed + 1))
        os.kill(workers_of(supervisor)[0], signal.SIGKILL)
    await match.end()
    assert check_history(match.room, await Log(redis).read(match.room), match.transcripts) == []


async def welcome(url: str, path: str) -> None:
    """Connect until a process welcomes the client."""

    async def is_welcomed() -> bool:
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS), open_client(f"{url}{path}"):
                return True
        except (TimeoutError, OSError, InvalidHandshake):
            return False

    await until(is_welcomed, f"a process serves {path}", 2 * PATIENCE_SECONDS)


@pytest.mark.long
async def test_a_worker_that_has_stopped_keeps_nobody_from_its_rooms(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    stopped = workers_of(fleet.processes[url].pid)[0]
    os.kill(stopped, signal.SIGSTOP)
    try:
        # Some of these rooms are the stopped worker's.
        for number in range(8):
            await welcome(url, f"/r/amber-quiet-{'abcdefgh'[number]}")
    finally:
        os.kill(stopped, signal.SIGCONT)
    for number in range(8):
        await welcome(url, f"/r/amber-quiet-{'abcdefgh'[number]}")


@pytest.mark.long
async def test_the_folder_of_workers_ends_with_their_supervisor(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    folder = folder_of(workers_of(fleet.processes[url].pid)[0])
    assert len(list(folder.iterdir())) == 2
    await fleet.end(url)
    assert not folder.exists()


@pytest.mark.long
async def test_the_last_worker_of_a_killed_supervisor_removes_the_folder(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    folder = folder_of(workers_of(fleet.processes[url].pid)[0])
    await fleet.kill(url)

    async def is_gone() -> bool:
        return not folder.exists()

    await until(is_gone, "the folder is gone")
