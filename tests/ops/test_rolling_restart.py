"""All processes are replaced during races, one after the other: no move is lost."""

import asyncio
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import Match, start_match
from tests.support.history import check_history
from tests.support.processes import SERVER_COMMAND, Fleet, end_process, serving_fleet
from tests.support.waiting import until
from tests.support.wire_client import QUICK, open_client

pytestmark = pytest.mark.long
PACE_SECONDS = 0.05


async def problems(redis: BatchingRedis, match: Match) -> list[str]:
    await match.end()
    return check_history(match.room, await Log(redis).read(match.room), match.transcripts)


async def test_processes_on_one_port_are_replaced_one_after_the_other(redis_url: str, redis: BatchingRedis) -> None:
    async with serving_fleet(redis_url) as fleet:
        with socket.socket() as held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
            old = [await fleet.start("--reuse-port", port=port) for _ in range(3)]
            matches = [await start_match((old[0],), QUICK, number, PACE_SECONDS, 1) for number in range(3)]
            for process in old:
                await asyncio.gather(*(match.moved(5) for match in matches))
                await fleet.start("--reuse-port", port=port)
                assert await fleet.end(process) == 0
            assert [await problems(redis, match) for match in matches] == [[], [], []]


def workers_of(supervisor: int) -> set[str]:
    """The process ids of its living workers."""
    return set(Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split())


async def until_all_are_new(supervisor: int, old: set[str]) -> None:
    async def are_new() -> bool:
        return len(workers_of(supervisor)) == 2 and not workers_of(supervisor) & old

    await until(are_new, "both workers are new", seconds=40)


async def test_workers_are_renewed_on_sighup(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start("--workers", "2")
    supervisor = fleet.processes[url].pid
    old = workers_of(supervisor)
    match = await start_match((url,), QUICK, 1, PACE_SECONDS, 2)
    await match.moved(5)
    os.kill(supervisor, signal.SIGHUP)
    await until_all_are_new(supervisor, old)
    assert await problems(redis, match) == []


async def test_a_sighup_before_the_workers_serve_renews_them_afterwards(redis_url: str) -> None:
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url, "--workers", "2"]
    supervisor = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
    try:

        async def are_started() -> bool:
            return len(workers_of(supervisor.pid)) == 2

        await until(are_started, "both workers are started")
        old = workers_of(supervisor.pid)
        supervisor.send_signal(signal.SIGHUP)
        await until_all_are_new(supervisor.pid, old)
    finally:
        await end_process(supervisor)


async def test_workers_do_not_outlive_their_supervisor(fleet: Fleet) -> None:
    url = await fleet.start("--workers", "2")
    workers = workers_of(fleet.processes[url].pid)
    async with open_client(url):
        await fleet.kill(url)

        async def are_gone() -> bool:
            return not any(Path(f"/proc/{worker}").exists() for worker in workers)

        await until(are_gone, "the workers of the killed supervisor are gone")


async def test_a_worker_that_dies_while_all_are_renewed_is_replaced_once(fleet: Fleet) -> None:
    supervisor = fleet.processes[await fleet.start("--workers", "2")].pid
    old = workers_of(supervisor)
    os.kill(supervisor, signal.SIGHUP)

    async def is_under_way() -> bool:
        return len(workers_of(supervisor)) == 3

    await until(is_under_way, "the rolling restart has started a third worker")
    os.kill(max(map(int, old)), signal.SIGKILL)
    await until_all_are_new(supervisor, old)


async def test_a_worker_that_hangs_does_not_hold_up_the_rolling_restart(fleet: Fleet) -> None:
    supervisor = fleet.processes[await fleet.start("--workers", "2")].pid
    old = workers_of(supervisor)
    os.kill(min(map(int, old)), signal.SIGSTOP)
    os.kill(supervisor, signal.SIGHUP)
    await until_all_are_new(supervisor, old)
