"""All processes are replaced during races, one after the other: no move is lost."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from fairest_server.store.log import Log
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import Match, start_match
from tests.support.history import check_history
from tests.support.processes import serving_fleet
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


async def test_workers_are_renewed_on_sighup(redis_url: str, redis: BatchingRedis) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--workers", "2")
        keeper = fleet.processes[url].pid

        def workers() -> set[str]:
            return set(Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split())

        old = workers()
        match = await start_match((url,), QUICK, 1, PACE_SECONDS, 2)
        await match.moved(5)
        os.kill(keeper, signal.SIGHUP)

        async def are_new() -> bool:
            await asyncio.sleep(0)
            return len(workers()) == 2 and not workers() & old

        await until(are_new, "both workers are replaced")
        assert await problems(redis, match) == []


async def test_workers_do_not_outlive_their_keeper(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        url = await fleet.start("--workers", "2")
        keeper = fleet.processes[url].pid
        children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
        async with open_client(url):
            await fleet.kill(url)

            async def are_gone() -> bool:
                await asyncio.sleep(0)
                return not any(Path(f"/proc/{child}").exists() for child in children)

            await until(are_gone, "the workers of the killed supervisor are gone")


async def test_a_worker_that_dies_while_all_are_renewed_is_replaced_once(redis_url: str) -> None:
    async with serving_fleet(redis_url) as fleet:
        keeper = fleet.processes[await fleet.start("--workers", "2")].pid

        def workers() -> set[str]:
            return set(Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split())

        old = workers()
        os.kill(keeper, signal.SIGHUP)

        async def is_under_way() -> bool:
            await asyncio.sleep(0)
            return len(workers()) == 3

        await until(is_under_way, "the rolling restart has started a third worker")
        os.kill(max(map(int, old)), signal.SIGKILL)

        async def are_two_new() -> bool:
            await asyncio.sleep(0)
            return len(workers()) == 2 and not workers() & old

        await until(are_two_new, "both workers are replaced")
