"""Backup and restore as an operator runs them: beside races, killed in the middle, on a disk that is full."""

import asyncio
import random
import signal
import subprocess
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from fairest_cli.session.http_pages import fetch_page
from fairest_protocol.messages.options import RoomOptions
from fairest_server.app import StartError, running
from fairest_server.backup.file import check_backup
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.bots import start_match
from tests.support.operator import Ran, operate
from tests.support.ports import free_port
from tests.support.processes import SERVER_COMMAND, START_SECONDS, end_process
from tests.support.records import store_records, stored_matches
from tests.support.waiting import until


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder whose path is short enough for a socket in it."""
    with tempfile.TemporaryDirectory(prefix="fairest-test-") as name:
        yield Path(name)


@asynccontextmanager
async def serving(data_dir: Path, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A server with an embedded Redis, which is told to end at the end."""
    process = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, "--port", str(port), "--data-dir", str(data_dir), stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            assert await process.stdout.readline()
        yield process
    finally:
        await end_process(process)


async def command(*words: str) -> Ran:
    process = await asyncio.create_subprocess_exec(*SERVER_COMMAND, *words, stdout=PIPE, stderr=PIPE)
    async with asyncio.timeout(START_SECONDS):
        written, errors = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, written.decode(), errors.decode())


@pytest.mark.long
async def test_a_race_goes_on_in_a_new_data_folder_from_a_backup_taken_meanwhile(folder: Path) -> None:
    port, old, new = free_port(), folder / "old", folder / "new"
    url = f"ws://127.0.0.1:{port}"
    async with serving(old, port):
        _, key = await asyncio.to_thread(fetch_page, url, "/key")
        match = await start_match((url,), RoomOptions(countdown_seconds=0), pace_seconds=0.5, spectators=0)
        await match.moved(5)
        ran = await command("backup", str(folder / "backups"), "--data-dir", str(old))
        assert ran.code == 0, ran.errors
        await match.moved(7)
    assert not match.playing.done()
    ran = await command("restore", ran.written.strip(), "--data-dir", str(new))
    assert ran.code == 0, ran.errors
    async with serving(new, port):
        assert (await asyncio.to_thread(fetch_page, url, "/key"))[1] == key
        for player in match.players:
            player.pace_seconds = 0
        async with asyncio.timeout(30):
            await match.end()
    assert all(player.record is not None for player in match.players)


async def test_a_server_does_not_start_on_half_a_restore(redis: BatchingRedis, settings_for_tests: Settings) -> None:
    await redis.set(keys.RESTORING, "0" * 64)
    with pytest.raises(StartError, match="has not ended; run the same `fairest-server restore` again"):
        async with running(settings_for_tests):
            pass


@pytest.mark.long
async def test_a_data_folder_that_is_not_empty_is_refused(redis: BatchingRedis, redis_url: str, folder: Path) -> None:
    await store_records(redis, 1)
    ran = await operate(redis_url, "backup", str(folder))
    (folder / "data").mkdir()
    (folder / "data" / "file").write_text("mine")
    ran = await command("restore", ran.written.strip(), "--data-dir", str(folder / "data"))
    assert ran.code == 1
    assert "is not empty; stop its server and move it away" in ran.errors
    assert [path.name for path in (folder / "data").iterdir()] == ["file"]


@pytest.mark.long
async def test_a_cut_backup_is_refused_before_anything_is_written(
    redis: BatchingRedis, redis_url: str, folder: Path
) -> None:
    await store_records(redis, 5)
    ran = await operate(redis_url, "backup", str(folder))
    path = Path(ran.written.strip())
    path.write_bytes(path.read_bytes()[:-1])
    await redis.flushall()
    ran = await operate(redis_url, "restore", str(path))
    assert (ran.code, await redis.dbsize()) == (1, 0)
    assert "is not a whole backup" in ran.errors and "Traceback" not in ran.errors


@pytest.mark.long
async def test_a_backup_of_no_redis_says_where_it_looked(folder: Path) -> None:
    ran = await command("backup", str(folder), "--data-dir", str(folder / "none"))
    assert ran.code == 1
    assert "no Redis answers at" in ran.errors


async def has_begun(files: Callable[[], Iterable[Path]]) -> bool:
    return any(files())


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Yield a disk of 256 KiB."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.long
async def test_a_full_disk_is_named_and_left_as_it_was(redis: BatchingRedis, redis_url: str, small_disk: Path) -> None:
    await store_records(redis, 60)
    ran = await operate(redis_url, "backup", str(small_disk / "backups"))
    assert ran.code == 1
    assert "No space left on device; there is no backup. Free some space" in ran.errors
    assert "Traceback" not in ran.errors
    assert list((small_disk / "backups").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
async def test_a_killed_backup_leaves_no_file_under_the_name_of_a_backup(
    redis: BatchingRedis, redis_url: str, folder: Path, seed: int
) -> None:
    await store_records(redis, 400)
    # Beginning when the file is there, at a random moment of its making.
    process = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, "backup", str(folder), "--redis-url", redis_url, stdout=DEVNULL, stderr=DEVNULL
    )
    await until(partial(has_begun, folder.iterdir), "the backup has begun")
    await asyncio.sleep(random.Random(seed).uniform(0, 0.15))
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await process.wait()
    for path in folder.glob("fairest-*"):
        assert check_backup(path).entries == 400


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
async def test_a_killed_restore_is_safe_to_run_again(
    redis: BatchingRedis, redis_url: str, settings_for_tests: Settings, folder: Path, seed: int
) -> None:
    matches = {record.match_id for record in await store_records(redis, 600)}
    ran = await operate(redis_url, "backup", str(folder / "backups"))
    path = ran.written.strip()
    await redis.flushall()
    process = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, "restore", path, "--redis-url", redis_url, stdout=DEVNULL, stderr=DEVNULL
    )
    await until(redis.dbsize, "the restore has begun")
    await asyncio.sleep(random.Random(seed).uniform(0, 0.05))
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    if await process.wait() == -signal.SIGKILL and await redis.exists(keys.RESTORING):
        with pytest.raises(StartError, match="has not ended"):
            async with running(settings_for_tests):
                pass
        ran = await operate(redis_url, "restore", path)
        assert ran.code == 0, ran.errors
    assert await stored_matches(redis) == matches


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
async def test_a_killed_restore_into_a_folder_leaves_no_folder_that_a_server_starts_on(
    redis: BatchingRedis, redis_url: str, folder: Path, seed: int
) -> None:
    await store_records(redis, 400)
    ran = await operate(redis_url, "backup", str(folder / "backups"))
    path, data_dir = ran.written.strip(), folder / "data"
    process = await asyncio.create_subprocess_exec(
        *SERVER_COMMAND, "restore", path, "--data-dir", str(data_dir), stdout=DEVNULL, stderr=DEVNULL
    )
    await until(partial(has_begun, lambda: folder.glob(".data.restoring/redis.sock")), "the restore has begun")
    await asyncio.sleep(random.Random(seed).uniform(0, 0.3))
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    if await process.wait() == -signal.SIGKILL and not data_dir.exists():
        ran = await command("restore", path, "--data-dir", str(data_dir))
        assert ran.code == 0, ran.errors
    assert not (folder / ".data.restoring").exists()
    async with serving(data_dir, free_port()):
        ran = await command("backup", str(folder / "again"), "--data-dir", str(data_dir))
        assert ran.code == 0, ran.errors
    # The key of the server that started, its heartbeat and itself are new.
    assert check_backup(Path(ran.written.strip())).entries >= 400
