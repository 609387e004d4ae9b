"""The steps of certified deals are found in a process of their own, and by whichever process is left."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fairest_protocol.calculation.certified import find_step
from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.options import RoomOptions
from fairest_server.live.proposal import Request
from fairest_server.live.room_server import RoomServer
from fairest_server.live.room_tasks import RoomTasks
from fairest_server.live.step_finder import StepFinder
from fairest_server.room.commands import DealStep
from fairest_server.room.state import RoomState, round_seed
from fairest_server.store.log_entries import format_event
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.races import Table
from tests.support.room_server import soon
from tests.support.stored_logs import entry_text, store_entries
from tests.support.waiting import PATIENCE_SECONDS

ROOM = "quiet-amber-otter"


def awaiting(seed: int) -> Table:
    """A certified room in which both players have revealed, and no step was found yet."""
    table = Table(seed, RoomOptions(certified=1))
    table.seat_both()
    for seat, entropy in table.get_ready(0, 1).items():
        table.reveal(seat, entropy)
    return table


def command_for(state: RoomState) -> DealStep:
    assert state.round is not None
    return DealStep(state.round.round_id, find_step(state.rules, round_seed(state)).step)


class Finding:
    """A finder, and a room that keeps what is submitted to it."""

    def __init__(self, tasks: RoomTasks) -> None:
        self.stopping = asyncio.Event()
        self.finder = StepFinder(tasks, self.stopping)
        self.commands = asyncio.Queue[object]()

    def submit(self, request: Request) -> None:
        self.commands.put_nowait(request.command)

    def seek(self, state: RoomState) -> None:
        self.finder.seek(ROOM, state, self._open_room)

    async def found(self) -> object:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.commands.get()

    def _open_room(self, code: str) -> Any:
        return self if code == ROOM else None


@pytest.fixture
async def finding() -> AsyncIterator[Finding]:
    tasks = RoomTasks()
    async with tasks.running():
        finding = Finding(tasks)
        yield finding
        finding.stopping.set()
        await finding.finder.end_worker()


async def test_the_worker_finds_the_step_that_everybody_finds(finding: Finding) -> None:
    states = [awaiting(seed).state for seed in range(3)]
    for state in states:
        finding.seek(state)
    assert [await finding.found() for _ in states] == [command_for(state) for state in states]


async def test_a_room_that_asks_again_while_its_step_is_looked_for_asks_once(finding: Finding) -> None:
    first, second = awaiting(1).state, awaiting(2).state
    for state in (first, first, second):
        finding.seek(state)
    assert [await finding.found(), await finding.found()] == [command_for(first), command_for(second)]
    assert finding.commands.empty()


async def test_one_worker_serves_all_rooms(finding: Finding) -> None:
    finding.seek(awaiting(1).state)
    await finding.found()
    worker = finding.finder.worker_id
    finding.seek(awaiting(2).state)
    await finding.found()
    assert finding.finder.worker_id == worker is not None


async def test_a_worker_that_was_killed_is_replaced_and_the_step_is_the_same(finding: Finding) -> None:
    finding.seek(awaiting(1).state)
    await finding.found()
    worker = finding.finder.worker_id
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    state = awaiting(2).state
    finding.seek(state)
    assert await finding.found() == command_for(state)
    assert finding.finder.worker_id != worker


async def test_a_process_that_stops_leaves_the_step_to_another_one(finding: Finding) -> None:
    finding.seek(awaiting(1).state)
    await finding.found()
    assert finding.finder.worker_id is not None
    os.kill(finding.finder.worker_id, signal.SIGSTOP)
    finding.seek(awaiting(2).state)
    finding.stopping.set()
    await finding.finder.end_worker()
    # The tasks end with the fixture: none waits for a worker.
    assert finding.commands.empty()


async def test_a_room_left_by_a_killed_process_is_dealt_by_the_one_that_opens_it(
    rooms: RoomServer, redis: BatchingRedis
) -> None:
    table = awaiting(5)
    for number, step in enumerate(table.steps, start=1):
        text = entry_text(number, step.tag, step.at_ms, format_event(step.event).decode())
        await store_entries(redis, ROOM, text)
    room = await rooms.registry.open_room(ROOM)
    assert room is not None and room.state is not None
    rooms.registry.on_change(room)
    await soon(lambda: room.state and room.state.phase is not Phase.DEALING, "the cards are dealt")
    assert room.state.round is not None and room.state.round.sealed is not None
    assert room.state.round.sealed.step == command_for(table.state).step
