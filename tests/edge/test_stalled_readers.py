"""Clients that never read are cut off, cost a bounded amount of memory, and delay no other client."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.from_client import Create, Join, Play, Resume, Watch
from fairest_server.settings import Settings
from tests.support.processes import Fleet
from tests.support.stalled import StalledClient, stalled_client
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client, racing_players

HEARTBEAT = ("--heartbeat-seconds", "0.5")
MAX_GROWTH_KIB = 16 * 1024


def resident_kib(fleet: Fleet, url: str) -> int:
    status = Path(f"/proc/{fleet.processes[url].pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


async def flood(client: StalledClient) -> int:
    """Ask for refusals until we are cut off; returns how often we asked."""
    asked = 0
    with contextlib.suppress(OSError):
        while True:
            await client.send(Play(number=9_999, move=MOVES["sa"]))
            asked += 1
    return asked


@pytest.mark.long
async def test_a_spectator_that_never_reads_is_cut_off(fleet: Fleet) -> None:
    url = await fleet.start(*HEARTBEAT)
    async with racing_players(url) as (first, second), stalled_client(url) as spectator:
        await spectator.send(Watch(room=first.room))
        await asyncio.gather(first.play("sa"), second.play("sa"))
        await until(spectator.is_cut_off, "the spectator that never reads is cut off")
        await asyncio.gather(first.play("sb"), second.play("sb"))


@pytest.mark.long
async def test_a_player_that_never_reads_is_cut_off_and_away(fleet: Fleet) -> None:
    url = await fleet.start(*HEARTBEAT)
    async with racing_players(url) as (first, second), stalled_client(url, first.token) as silent:
        await silent.send(Resume(room=first.room, position=0))
        await first.socket.wait_closed()
        await second.receive_until(lambda scene: scene.seats[0].is_connected)
        await until(silent.is_cut_off, "the player that never reads is cut off")
        await second.receive_until(lambda scene: not scene.seats[0].is_connected)


@pytest.mark.long
async def test_a_flood_of_answers_that_nobody_reads_takes_a_bounded_amount_of_memory(fleet: Fleet) -> None:
    url = await fleet.start("--messages-per-second", "1000000")
    async with racing_players(url) as (first, _):
        before = resident_kib(fleet, url)
        async with stalled_client(url, first.token) as silent:
            await silent.send(Resume(room=first.room, position=0))
            async with asyncio.timeout(40):
                asked = await flood(silent)
        assert asked * 100 > Settings().max_unsent_bytes
        assert resident_kib(fleet, url) - before < MAX_GROWTH_KIB


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
async def test_a_server_that_is_told_to_stop_is_gone_in_five_seconds_even_if_clients_do_not_read(
    fleet: Fleet, workers: int
) -> None:
    url = await fleet.start("--workers", str(workers))
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_client(url))
        room = (await first.enter(Create(options=QUICK))).room
        for _ in range(5):
            spectator = await stack.enter_async_context(stalled_client(url))
            await spectator.send(Watch(room=room))
        player = await stack.enter_async_context(stalled_client(url))
        await player.send(Join(room=room))
        flooding = asyncio.create_task(flood(player))
        await first.receive_until(lambda scene: bool(scene.seats[1].name))
        assert await fleet.end(url) == 0
        await flooding


@pytest.mark.long
async def test_a_stopped_process_does_not_keep_a_server_from_ending(fleet: Fleet) -> None:
    """A worker that hangs is killed by the supervisor."""
    url = await fleet.start("--workers", "2")
    supervisor = fleet.processes[url].pid
    worker = int(Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()[0])
    os.kill(worker, signal.SIGSTOP)
    assert await fleet.end(url) == 0
    assert not Path(f"/proc/{worker}").exists()
