"""Every alarm is silent in peace and fires at its first event: metrics of real servers, real faults, real promtool."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fairest_protocol.calculation.moves import MOVES
from fairest_protocol.messages.from_client import Play
from fairest_protocol.messages.from_server import Error, Refused
from fairest_server.store import keys
from tests.support.observed import ObservedServer, Scrape, observed_server, scrape
from tests.support.ports import free_ports
from tests.support.processes import RedisProcess, redis_process
from tests.support.promtool import RULES, check_rules, evaluate_alarms, needs_promtool
from tests.support.waiting import until
from tests.support.wire_client import racing_players

pytestmark = needs_promtool

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
NAMES = re.findall(r"- alert: (\w+)", RULES.read_text())
TIMED = "FairestAppendsSlow|FairestMovesSlow|FairestLoopLate"
"""Alarms about times, which a busy machine may raise in peace, and rightly."""
FILES = 200


@pytest.fixture
def own_redis() -> Iterator[RedisProcess]:
    with redis_process("--appendonly", "yes") as redis:
        yield redis


@pytest.fixture
async def server(own_redis: RedisProcess, tmp_path: Path) -> AsyncIterator[ObservedServer]:
    async with serving(own_redis, tmp_path) as started:
        yield started


@asynccontextmanager
async def serving(redis: RedisProcess, folder: Path, **options: tuple[str, ...]) -> AsyncIterator[ObservedServer]:
    log = folder / "server.log"
    async with observed_server(log, "--redis-url", redis.url, "--admin-port", "0", **options) as started:
        yield started


async def scraped_when(read: Callable[[], Awaitable[Scrape]], condition: Callable[[Scrape], bool]) -> Scrape:
    """Scrape until `condition` holds for the metrics; return them."""
    found: Scrape = {}

    async def holds() -> bool:
        found.update(await read())
        return condition(found)

    await until(holds, "the metrics show the fault")
    return found


async def assert_fires(alarm: str, folder: Path, before: Scrape, after: Scrape) -> None:
    selector = f"alertname='{alarm}'"
    assert await asyncio.to_thread(evaluate_alarms, folder, before, after, selector, fires=True) == ""


def test_promtool_accepts_the_rules() -> None:
    assert check_rules(RULES) == ""


@pytest.mark.parametrize("alarm", NAMES)
def test_an_alarm_has_a_severity_two_sentences_and_a_section_of_the_docs(alarm: str) -> None:
    rule = RULES.read_text().split(f"- alert: {alarm}\n")[1].split("- alert:")[0]
    assert re.search(r"severity: (warning|critical)\n", rule)
    assert re.search(r'summary: ".+\."\n +description: ".+\."\n', rule)
    section = re.search(r"runbook: docs/operations\.md#([\w-]+)\n", rule)
    titles = re.findall(r"^#+ (.+)$", OPERATIONS.read_text(), re.MULTILINE)
    assert section is not None and section[1] in {title.lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("alarm", NAMES)
def test_the_docs_name_every_alarm(alarm: str) -> None:
    assert f"`{alarm}`" in OPERATIONS.read_text()


@pytest.mark.long
async def test_no_alarm_fires_in_peace(server: ObservedServer, tmp_path: Path) -> None:
    before = await server.scrape()
    async with racing_players(server.url) as (first, second):
        await first.play("sa")
        await second.play("sb")
    after = await server.scrape()
    assert after["fairest_move_seconds_count"] == 2
    selector = f"alertname!~'{TIMED}'"
    assert await asyncio.to_thread(evaluate_alarms, tmp_path, before, after, selector, fires=False) == ""


@pytest.mark.long
async def test_a_frozen_redis_is_silent(server: ObservedServer, own_redis: RedisProcess, tmp_path: Path) -> None:
    before = await server.scrape()
    own_redis.freeze()
    after = await scraped_when(server.scrape, lambda seen: seen["fairest_redis_silent_seconds"] > 2.5)
    own_redis.thaw()
    await assert_fires("FairestRedisSilent", tmp_path, before, after)


@pytest.mark.long
async def test_a_redis_without_memory_leaves_appends_unanswered(
    server: ObservedServer, own_redis: RedisProcess, tmp_path: Path
) -> None:
    before = await server.scrape()
    async with racing_players(server.url) as (first, _):
        own_redis.call("CONFIG", "SET", "maxmemory", "1")
        await first.send(Play(number=1, move=MOVES["sa"]))
        await first.receive_a(Refused)
        after = await server.scrape()
        own_redis.call("CONFIG", "SET", "maxmemory", "0")
    await assert_fires("FairestAppendsUnanswered", tmp_path, before, after)


@pytest.mark.long
@pytest.mark.parametrize("alarm", ["FairestAppendsSlow", "FairestMovesSlow"])
async def test_a_redis_that_stops_for_half_a_second_is_slow(
    server: ObservedServer, own_redis: RedisProcess, tmp_path: Path, alarm: str
) -> None:
    async with racing_players(server.url) as (first, _):
        before = await server.scrape()
        own_redis.call("CLIENT", "PAUSE", "500")
        await first.play("sa")
        after = await server.scrape()
    await assert_fires(alarm, tmp_path, before, after)


@pytest.mark.long
async def test_a_log_that_vanished_is_lost(server: ObservedServer, own_redis: RedisProcess, tmp_path: Path) -> None:
    async with racing_players(server.url) as (first, _):
        before = await server.scrape()
        own_redis.call("DEL", keys.log(first.room))
        await first.send(Play(number=1, move=MOVES["sa"]))
        await first.receive_a(Error)
        after = await server.scrape()
    await assert_fires("FairestLogLost", tmp_path, before, after)


@pytest.mark.long
async def test_a_chain_of_rounds_that_vanished_is_lost(
    server: ObservedServer, own_redis: RedisProcess, tmp_path: Path
) -> None:
    async def is_chained() -> bool:
        return own_redis.call("XLEN", keys.ROUND_CHAIN) != 0

    async with racing_players(server.url) as (first, _):
        await until(is_chained, "the round stands in the chain")
        before = await server.scrape()
        own_redis.call("DEL", keys.ROUND_CHAIN, keys.CHAINED_ROUNDS)
        await first.play("resign")
        after = await scraped_when(server.scrape, lambda seen: seen.get("fairest_lost_rounds_total", 0) == 1)
    await assert_fires("FairestLogLost", tmp_path, before, after)


@pytest.mark.long
async def test_an_unreadable_pause_is_a_fault(server: ObservedServer, own_redis: RedisProcess, tmp_path: Path) -> None:
    before = await server.scrape()
    own_redis.call("LPUSH", keys.PAUSES, "not a pause")
    after = await scraped_when(server.scrape, lambda seen: seen['fairest_faults_total{where="periodic"}'] > 0)
    await assert_fires("FairestFault", tmp_path, before, after)


@pytest.mark.long
async def test_a_process_that_is_stopped_has_a_late_event_loop(server: ObservedServer, tmp_path: Path) -> None:
    before = await server.scrape()
    server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await server.scrape()
    server.process.send_signal(signal.SIGCONT)
    name = "fairest_loop_delay_seconds"
    after = await scraped_when(server.scrape, lambda seen: seen[f"{name}_count"] > seen[f'{name}_bucket{{le="1.0"}}'])
    await assert_fires("FairestLoopLate", tmp_path, before, after)


@pytest.mark.long
async def test_a_redis_without_a_file_is_not_durable(server: ObservedServer, tmp_path: Path) -> None:
    before = await server.scrape()
    with redis_process("--appendonly", "no") as forgetful:
        (tmp_path / "forgetful").mkdir()
        async with serving(forgetful, tmp_path / "forgetful") as other:
            after = await other.scrape()
    await assert_fires("FairestNotDurable", tmp_path, before, after)


@pytest.mark.long
async def test_a_process_that_is_killed_is_down(server: ObservedServer, tmp_path: Path) -> None:
    before = await server.scrape() | {"up": 1}
    server.process.kill()
    await server.process.wait()
    with pytest.raises(OSError, match="refused"):
        await server.scrape()
    await assert_fires("FairestDown", tmp_path, before, before | {"up": 0})


@pytest.mark.long
async def test_many_connections_come_near_the_limit_of_files(own_redis: RedisProcess, tmp_path: Path) -> None:
    wrapper = ("sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh")
    async with serving(own_redis, tmp_path, wrapper=wrapper) as server, AsyncExitStack() as stack:
        before = await server.scrape()
        address = urlsplit(server.url)
        for _ in range(int(0.8 * FILES)):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
            stack.callback(writer.close)
        after = await scraped_when(server.scrape, lambda seen: seen["process_open_fds"] > 0.8 * FILES)
    await assert_fires("FairestFilesShort", tmp_path, before, after)


async def scrape_workers(ports: range) -> Scrape:
    """Return the metrics of all workers together."""
    found: Scrape = {}
    for port in ports:
        for name, value in (await scrape(f"http://127.0.0.1:{port}")).items():
            found[name] = found.get(name, 0) + value
    return found


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def command_of(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_text()


@pytest.mark.long
async def test_a_worker_that_is_killed_has_died(own_redis: RedisProcess, tmp_path: Path) -> None:
    ports = free_ports(2)
    options = ("--redis-url", own_redis.url, "--admin-port", str(ports[0]), "--workers", "2")
    async with observed_server(tmp_path / "server.log", *options) as server:
        before = await scrape_workers(ports)
        os.kill(children(server.process.pid)[0], signal.SIGKILL)
        after = await scraped_when(
            lambda: scrape_when_up(ports), lambda seen: seen.get("fairest_worker_deaths_total", 0) == 1
        )
    await assert_fires("FairestWorkerDied", tmp_path, before, after)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
async def test_an_embedded_engine_that_is_killed_has_died(tmp_path: Path, workers: int) -> None:
    ports = free_ports(workers)
    options = ("--data-dir", str(tmp_path / "data"), "--admin-port", str(ports[0]), "--workers", str(workers))
    async with observed_server(tmp_path / "server.log", *options) as server:
        before = await scrape_workers(ports)
        [engine] = [child for child in children(server.process.pid) if "fairest_server" not in command_of(child)]
        os.kill(engine, signal.SIGKILL)
        after = await scraped_when(
            lambda: scrape_when_up(ports), lambda seen: seen.get("fairest_engine_deaths_total", 0) == workers
        )
    await assert_fires("FairestEngineDied", tmp_path, before, after)


async def scrape_when_up(ports: range) -> Scrape:
    """Return the metrics of all workers, nothing while one of them does not answer."""
    try:
        return await scrape_workers(ports)
    except OSError:
        return {}
