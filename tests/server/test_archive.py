"""The archive beside real servers: the command, the way back to a player, and a command killed again and again."""

import asyncio
import logging
import random
import signal
from asyncio.subprocess import DEVNULL, PIPE
from functools import partial
from pathlib import Path

import pytest

from fairest_cli.records.record_check import verify_record
from fairest_protocol.messages.from_client import GetRecord
from fairest_protocol.messages.from_server import MatchRecord
from fairest_protocol.messages.refusals import Refusal
from fairest_server.app import StartError, running
from fairest_server.archive.record_archive import file_name
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.long_tests import parametrize_with_long
from tests.support.operator import operate
from tests.support.processes import CLIENT_COMMAND, SERVER_COMMAND, START_SECONDS
from tests.support.races import KEY
from tests.support.records import file_of, store_records, stored_matches
from tests.support.waiting import until
from tests.support.wire_client import open_client

KILLS = 5
"""In each of ten runs."""


def with_archive(settings: Settings, folder: Path) -> Settings:
    folder.mkdir(exist_ok=True)
    return settings.model_copy(update={"archive": str(folder)})


async def test_a_record_is_found_in_redis_by_its_match(server_url: str, redis: BatchingRedis) -> None:
    [record] = await store_records(redis, 1)
    async with open_client(server_url) as player:
        await player.send(GetRecord(match=record.match_id))
        assert (await player.receive_a(MatchRecord)).lines == tuple(record.lines())


@pytest.mark.long
async def test_a_record_that_no_redis_has_is_found_in_the_archive(
    settings_for_tests: Settings, redis: BatchingRedis, redis_url: str, tmp_path: Path
) -> None:
    [record] = await store_records(redis, 1)
    ran = await operate(redis_url, "archive", str(tmp_path))
    assert (ran.code, ran.written) == (0, "1 records moved, 0 younger than 30 days left in Redis.\n")
    assert await stored_matches(redis) == set()
    async with running(with_archive(settings_for_tests, tmp_path)) as url, open_client(url) as player:
        await player.send(GetRecord(match=record.match_id))
        assert (await player.receive_a(MatchRecord)).lines == tuple(record.lines())


@pytest.mark.long
async def test_an_archive_is_for_the_user_who_made_it(redis: BatchingRedis, redis_url: str, tmp_path: Path) -> None:
    await store_records(redis, 1)
    await operate(redis_url, "archive", str(tmp_path / "archive"))
    made = [tmp_path / "archive", *(tmp_path / "archive").rglob("*")]
    assert len(made) > 2 and [path.name for path in made if path.stat().st_mode & 0o077] == []


async def test_a_match_without_a_record_is_refused(settings_for_tests: Settings, tmp_path: Path) -> None:
    async with running(with_archive(settings_for_tests, tmp_path)) as url, open_client(url) as player:
        assert (await player.expect_refusal(GetRecord(match="0" * 32))).code is Refusal.NO_RECORD


async def test_an_archive_that_fails_is_tried_again(settings_for_tests: Settings, tmp_path: Path) -> None:
    (tmp_path / "000").mkdir()
    (tmp_path / file_name("0" * 32)).mkdir()
    async with running(with_archive(settings_for_tests, tmp_path)) as url, open_client(url) as player:
        assert (await player.expect_refusal(GetRecord(match="0" * 32))).code is Refusal.TRY_AGAIN


async def test_a_server_does_not_start_on_an_archive_that_is_not_there(settings_for_tests: Settings) -> None:
    with pytest.raises(StartError, match="--archive: no folder /no/such"):
        async with running(settings_for_tests.model_copy(update={"archive": "/no/such"})):
            pass


@pytest.mark.long
async def test_a_broken_record_makes_the_exit_code_1(redis: BatchingRedis, redis_url: str, tmp_path: Path) -> None:
    await store_records(redis, 1)
    await redis.set(keys.record("f" * 32), "broken")
    ran = await operate(redis_url, "archive", str(tmp_path))
    assert ran.code == 1
    assert f"left in Redis: {'f' * 32}: " in ran.errors
    assert ran.written == "1 records moved, 0 younger than 30 days left in Redis, 1 broken ones left in Redis.\n"


@pytest.mark.long
async def test_a_storage_without_its_driver_is_refused_before_anything_is_moved(
    redis: BatchingRedis, redis_url: str
) -> None:
    [record] = await store_records(redis, 1)
    ran = await operate(redis_url, "archive", "s3://bucket/prefix")
    assert ran.code == 1
    assert "Install s3fs" in ran.errors and "Traceback" not in ran.errors
    assert await stored_matches(redis) == {record.match_id}


async def run_client(home: Path, *words: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *CLIENT_COMMAND, *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env={"HOME": str(home), "PATH": "/usr/bin"}
    )
    async with asyncio.timeout(START_SECONDS):
        written, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, written.decode(), errors.decode()


@pytest.mark.long
@parametrize_with_long("command", ["verify", "replay", "watch"], quick=1)
async def test_the_client_finds_an_archived_record_by_its_match(
    settings_for_tests: Settings, redis: BatchingRedis, redis_url: str, tmp_path: Path, command: str
) -> None:
    [record] = await store_records(redis, 1)
    assert (await operate(redis_url, "archive", str(tmp_path / "archive"))).code == 0
    expected = {"verify": "Everything that can be checked is right."}.get(command, "-- step 2 ")
    async with running(with_archive(settings_for_tests, tmp_path / "archive")) as url:
        code, written, errors = await run_client(tmp_path, command, record.match_id, "--server", url)
        assert (code, errors) == (0, "")
        assert expected in written
        _, _, errors = await run_client(tmp_path, command, "0" * 32, "--server", url)
        assert "There is no such record" in errors


async def test_a_forged_record_from_a_server_is_caught(server_url: str, redis: BatchingRedis, tmp_path: Path) -> None:
    [record] = await store_records(redis, 1)
    await redis.set(keys.record("0" * 32), "\n".join(record.lines()))
    code, written, _ = await run_client(tmp_path, "verify", "0" * 32, "--server", server_url)
    assert code == 3
    assert written.startswith(f"WRONG: The server sent the record of the match {record.match_id}")


@pytest.mark.long
@pytest.mark.timeout(110)
@pytest.mark.parametrize("seed", range(10))
async def test_archive_killed_at_50_random_moments_loses_no_record_and_doubles_none(
    redis: BatchingRedis, redis_url: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    records = {record.match_id: record for record in await store_records(redis, 200)}
    finished_early = 0

    async def has_moved(wanted: int, process: asyncio.subprocess.Process) -> bool:
        return await redis.dbsize() <= wanted or process.returncode is not None

    for _ in range(KILLS):
        process = await asyncio.create_subprocess_exec(
            *SERVER_COMMAND, "archive", str(tmp_path), "--redis-url", redis_url, stdout=DEVNULL, stderr=DEVNULL
        )
        wanted = await redis.dbsize() - chance.randrange(30)
        await until(partial(has_moved, wanted, process), "records are moved")
        # The moment within the steps of one record is random as well.
        await asyncio.sleep(chance.uniform(0, 0.02))
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        finished_early += await process.wait() != -signal.SIGKILL
    in_redis = await stored_matches(redis)
    files = {path.stem for path in tmp_path.glob("???/*")}
    assert finished_early == 0
    assert in_redis | files == records.keys()
    # Some were killed between the move and the deletion: both copies are the same, and the next run deletes one.
    logging.info("%d kills: %d records moved, %d still in both places", KILLS, len(files), len(files & in_redis))
    ran = await operate(redis_url, "archive", str(tmp_path))
    assert ran.code == 0, ran.errors
    assert await stored_matches(redis) == set()
    found = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.glob("???/*")}
    assert found == {Path(file_name(match_id)): file_of(record) for match_id, record in records.items()}
    for content in found.values():
        list(verify_record(content.decode(), KEY.public)[1])
