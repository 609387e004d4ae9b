"""Draining real processes: clients without a race go elsewhere at once, races end where they are, then the process."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from fairest_protocol.messages.fields import Phase
from fairest_protocol.messages.from_client import Create, Watch
from fairest_server.store.control import Control, Describe, DrainProcess, Envelope
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import start_match
from tests.support.operator import operate
from tests.support.processes import SERVER_COMMAND, Fleet, end_process
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.wire_client import QUICK, WireClient, open_client, racing_players

pytestmark = pytest.mark.long


async def close_code(client: WireClient) -> int | None:
    """Receive until the server closes the connection; return its close code."""
    with suppress(ConnectionClosed):
        while True:
            await client.receive()
    return client.socket.close_code


def read_page(url: str) -> tuple[int, str]:
    from urllib.error import HTTPError

    try:
        with urlopen(url.replace("ws://", "http://"), timeout=PATIENCE_SECONDS) as page:
            return page.status, page.read().decode()
    except HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode()


async def process_of(redis: BatchingRedis, pid: int) -> str:
    """Return the process id, in Redis, of the process with this number."""
    control = Control(redis)
    request_id = await control.send(Envelope(to="", request=Describe(rooms=False)))
    found: list[str] = []

    async def is_known() -> bool:
        answers = await control.answers(request_id)
        found[:] = [each for each, answer in answers.items() if answer.process and answer.process.pid == pid]
        return bool(found)

    await until(is_known, f"the process {pid} has described itself")
    return found[0]


async def drain(redis: BatchingRedis, pid: int, within_seconds: int | None = None) -> None:
    """Send the request to drain this process."""
    process_id = await process_of(redis, pid)
    await Control(redis).send(Envelope(to=process_id, request=DrainProcess(within_seconds=within_seconds)))


async def test_a_race_goes_on_and_the_process_ends_with_it(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start()
    process = fleet.processes[url]
    async with open_client(url) as idle, racing_players(url) as (first, second):
        await drain(redis, process.pid)
        assert await close_code(idle) == 1012
        await first.play("sa")
        await second.play("sa")
        assert process.returncode is None
        await first.play("resign")
        assert await close_code(first) == 1012
        assert await fleet.wait_for_end(url) == 0


async def test_a_spectator_is_sent_elsewhere_at_once(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start()
    async with racing_players(url) as (first, _), open_client(url) as watcher:
        await watcher.enter(Watch(room=first.room))
        await drain(redis, fleet.processes[url].pid)
        assert await close_code(watcher) == 1012
        await first.play("sa")


async def test_the_seat_of_a_client_that_was_sent_elsewhere_is_detached(fleet: Fleet, redis: BatchingRedis) -> None:
    url, other = await fleet.start(), await fleet.start()
    async with racing_players(url), open_client(url) as ann, open_client(other) as bob:
        room = (await ann.enter(Create())).room
        await bob.enter(Watch(room=room))
        await drain(redis, fleet.processes[url].pid)
        assert await close_code(ann) == 1012
        await bob.receive_until(lambda seen: seen.seats[0].until_ms is not None)


async def test_a_process_that_drains_is_not_ready_and_admits_nobody(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start()
    async with racing_players(url), open_client(url) as idle:
        await drain(redis, fleet.processes[url].pid)
        await close_code(idle)
        assert await asyncio.to_thread(read_page, f"{url}/readyz") == (503, "draining\n")
        with pytest.raises(InvalidStatus) as refused:
            async with open_client(url):
                pass
        assert refused.value.response.status_code == 503
        assert refused.value.response.body == b"This process is about to end; connect to another one.\n"


async def test_a_drain_with_a_time_limit_sends_the_players_elsewhere_then(fleet: Fleet, redis: BatchingRedis) -> None:
    url, other = await fleet.start(), await fleet.start()
    process = fleet.processes[url]
    async with racing_players(url) as (first, second):
        await drain(redis, process.pid, within_seconds=1)
        assert [await close_code(first), await close_code(second)] == [1012, 1012]
        async with open_client(other, token=first.token) as again:
            assert (await again.resume(first.room)).scene.phase is Phase.RACING
        assert await fleet.wait_for_end(url) == 0


def workers_of(supervisor: int) -> set[int]:
    return set(map(int, Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()))


async def test_a_worker_that_drains_is_replaced_before_it_ends(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start("--workers", "2")
    supervisor = fleet.processes[url].pid
    old = workers_of(supervisor)
    match = await start_match((url,), QUICK, 1, 0.1, 0)
    await match.moved(3)
    for worker in old:
        await drain(redis, worker)

    async def are_four() -> bool:
        return len(workers_of(supervisor) - old) == 2

    await until(are_four, "each old worker is replaced")
    await match.end()

    async def are_gone() -> bool:
        return not workers_of(supervisor) & old

    await until(are_gone, "the old workers have ended")
    async with open_client(url) as client:
        await client.enter(Create())


async def test_a_worker_killed_while_it_drains_is_replaced_once(fleet: Fleet, redis: BatchingRedis) -> None:
    url = await fleet.start("--workers", "2")
    supervisor = fleet.processes[url].pid
    old = workers_of(supervisor)
    matches = [await start_match((url,), QUICK, number, 0.1, 0) for number in range(3)]
    victim = min(old)
    await drain(redis, victim)

    async def is_replaced() -> bool:
        return bool(workers_of(supervisor) - old)

    await until(is_replaced, "the worker is replaced")
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    for match in matches:
        await match.end()
    assert len(workers_of(supervisor) - {victim}) == 2


async def test_the_command_waits_for_the_races_and_says_how_many_are_left(fleet: Fleet, redis_url: str) -> None:
    url = await fleet.start("--workers", "2")
    match = await start_match((url,), QUICK, 1, 0.4, 0)
    await match.moved(1)
    ran = await operate(redis_url, "drain", "--all")
    await match.end()
    assert ran.code == 0, ran.errors
    # A race whose players are at both processes counts at each, until one of them has ended.
    first = next(line for line in ran.written.splitlines() if line.startswith("processes left: "))
    assert first in ("processes left: 1, races: 1", "processes left: 2, races: 1", "processes left: 2, races: 2")
    assert ran.written.splitlines()[-1].startswith("drained: ")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("drain",), 2, "name a process"),
        (("drain", "ffffffff"), 1, "no process that runs has the id 'ffffffff'; their ids are "),
        (("drain", "--all", "--within", "-1"), 2, "--within"),
    ],
)
async def test_a_drain_that_names_no_process_is_refused(
    fleet: Fleet, redis_url: str, words: tuple[str, ...], code: int, sentence: str
) -> None:
    await fleet.start()
    ran = await operate(redis_url, *words)
    assert (ran.code, sentence in ran.errors) == (code, True), ran.errors


async def test_the_only_process_on_an_embedded_engine_is_drained_with_it(tmp_path: Path) -> None:
    """The engine ends with the process, so the command cannot ask it any more."""
    server = await asyncio.create_subprocess_exec(*SERVER_COMMAND, "--port", "0", "--data-dir", tmp_path, stdout=PIPE)
    try:
        assert server.stdout is not None
        await server.stdout.readline()
        command = [*SERVER_COMMAND, "drain", "--all", "--data-dir", str(tmp_path)]
        draining = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        printed, _ = await draining.communicate()
        assert (draining.returncode, b"drained: " in printed) == (0, True)
    finally:
        await end_process(server)
