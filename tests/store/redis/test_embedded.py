"""The embedded Redis: real servers on one folder, one after the other and never two at a time."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from fairest_server.store.redis import embedded, embedded_engine
from fairest_server.store.redis.batching_client import BatchingRedis
from fairest_server.store.redis.clients import make_client
from fairest_server.store.redis.embedded_engine import EmbeddedRedisError
from tests.support.engine import VARIABLE, chosen_program, engine_program
from tests.support.processes import SERVER_COMMAND, end_process
from tests.support.waiting import INTERVAL_SECONDS, PATIENCE_SECONDS, until


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder with a short path, since sockets do not allow a long one."""
    made = Path(tempfile.mkdtemp(prefix="fairest-"))
    yield made
    for process_id in redis_servers_on(made):
        os.kill(process_id, signal.SIGKILL)
    shutil.rmtree(made)


@pytest.fixture
def slow_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have servers run an engine that takes 40 ms to read a key."""
    choose_program("--key-load-delay 40000", tmp_path, monkeypatch)


def choose_program(options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have servers run the real engine with these options. Called again, it changes the options."""
    program, real = tmp_path / "redis-server", shutil.which(engine_program())
    if program.exists():
        real = (tmp_path / "real").readlink().as_posix()
    else:
        (tmp_path / "real").symlink_to(real or "")
    said = f'[ "$1" = --version ] && exec {real} --version'
    changed = tmp_path / "changed"
    changed.write_text(f'#!/bin/sh\n{said}\n: > {tmp_path}/was-tried\nexec {real} "$@" {options}\n')
    changed.chmod(0o755)
    changed.replace(program)
    monkeypatch.setenv(VARIABLE, str(program))


def embedded_redis(folder: Path) -> AbstractAsyncContextManager[str]:
    """Run the engine that this run tests."""
    return embedded.embedded_redis(folder, chosen_program())


def redis_servers_on(folder: Path) -> list[int]:
    """Return the ids of the processes that work in this folder, which only a Redis does."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        # It is gone, or not ours to look at.
        with suppress(OSError):
            if (process / "cwd").readlink() == folder.resolve():
                found.append(int(process.name))
    return found


@asynccontextmanager
async def closing_client(url: str) -> AsyncIterator[BatchingRedis]:
    """Yield a client for this URL, which is closed however its use ends."""
    client = make_client(url)
    try:
        yield client
    finally:
        await client.aclose()


async def put(url: str, value: str) -> str | None:
    """Set the key to this value; return the value before. A Redis that reads its data refuses both, and may be asked
    again: so the client is closed then as well.
    """
    async with closing_client(url) as client:
        before: Any = await client.getset("key", value)
    return before.decode() if before else None


async def put_much(url: str) -> None:
    """Write 63 MiB, and have Redis save them as a snapshot, which can be made slow to read. Redis answers after every 2
    MiB.

    From 64 MiB on it may write a snapshot by itself, and would refuse to begin another one.
    """
    async with closing_client(url) as client:
        for number in range(63):
            await client.set(f"much-{number}", os.urandom(2**20))
        await client.execute_command("BGREWRITEAOF")

        async def is_rewritten() -> bool:
            told = await client.info("persistence")
            return not (told["aof_rewrite_in_progress"] or told["aof_rewrite_scheduled"])

        await until(is_rewritten, "Redis has rewritten its file")


async def start_server(folder: Path) -> Process:
    """Start a Fairest server on this folder, without waiting until it serves."""
    command = [*SERVER_COMMAND, "--port", "0", "--data-dir", str(folder)]
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)


async def leave_behind(folder: Path) -> int:
    """Kill a server, and return the process id of the Redis that it leaves behind."""
    server = await start_server(folder)
    assert server.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        await server.stdout.readline()
    server.kill()
    await server.wait()
    (process_id,) = redis_servers_on(folder)
    return process_id


async def wait_for_successor(folder: Path, process_id: int) -> None:
    """Wait until another Redis works here than the one with this process id."""

    async def has_successor() -> bool:
        return redis_servers_on(folder) not in ([], [process_id])

    await until(has_successor, "another Redis has taken the place of the one that died")


async def wait_until_redis_reads(server: Process) -> None:
    assert server.stderr is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while b"engine_reads" not in (line := await server.stderr.readline()):
            assert line, "the server has ended"


async def test_data_survives_a_restart(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put(url, "first")
    async with embedded_redis(folder) as url:
        assert await put(url, "second") == "first"


async def test_redis_keeps_an_append_only_file_and_evicts_nothing(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        client = make_client(url)
        config = await client.config_get("*")
        await client.aclose()
    assert (config["appendonly"], config["appendfsync"], config["maxmemory-policy"]) == (
        "yes",
        "everysec",
        "noeviction",
    )


async def test_a_folder_in_use_is_refused_with_what_to_do(folder: Path) -> None:
    async with embedded_redis(folder):
        with pytest.raises(EmbeddedRedisError, match="another fairest-server uses"):
            async with embedded_redis(folder):
                pass


async def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match="shorter --data-dir"):
        async with embedded_redis(tmp_path / ("x" * 100)):
            pass


def folder_with_socket_path_of(folder: Path, length: int) -> Path:
    """Return a folder in which the path of the socket has this length in bytes."""
    return folder / ("x" * (length - len(os.fsencode(folder / "redis.sock")) - 1))


async def test_a_path_that_is_a_byte_too_long_for_a_socket_is_refused(folder: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match="shorter --data-dir"):
        async with embedded_redis(folder_with_socket_path_of(folder, 101)):
            pass


async def test_a_path_that_a_socket_can_just_take_is_used(folder: Path) -> None:
    long = folder_with_socket_path_of(folder, 100)
    async with embedded_redis(long) as url:
        assert len(os.fsencode(long / "redis.sock")) == 100
        assert await put(url, "first") is None


async def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(EmbeddedRedisError, match="cannot write to /proc"):
        async with embedded_redis(Path("/proc/fairest")):
            pass


async def test_only_its_owner_may_open_the_socket(folder: Path) -> None:
    async with embedded_redis(folder):
        assert (folder / "redis.sock").stat().st_mode & 0o077 == 0


async def test_a_folder_that_others_could_read_becomes_private_with_the_data_in_it(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put(url, "the key")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    async with embedded_redis(folder):
        assert [path.name for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077] == []


async def test_a_file_of_an_earlier_engine_becomes_private(folder: Path) -> None:
    files = [folder / name for name in ("temp-9.aof", "temp-9.rdb", "appendonlydir/9.aof", "redis.log", "lock")]
    (folder / "appendonlydir").mkdir()
    for file in files:
        file.touch(0o644)
    async with embedded_redis(folder):
        assert [file.name for file in files if file.stat().st_mode & 0o077] == []


@pytest.mark.long
async def test_a_server_makes_files_that_only_its_user_may_read(folder: Path) -> None:
    server = await start_server(folder)
    try:
        assert server.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await server.stdout.readline()
        assert [path.name for path in folder.rglob("*") if path.stat().st_mode & 0o077] == []
    finally:
        await end_process(server)


async def test_a_folder_of_another_user_is_refused_with_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(EmbeddedRedisError, match=r"belongs to another user, .*give a --data-dir of your own"):
        async with embedded_redis(folder):
            pass


@pytest.mark.long
async def test_a_redis_that_a_killed_server_left_behind_has_kept_everything(folder: Path) -> None:
    await leave_behind(folder)
    await put(f"unix://{folder / 'redis.sock'}", "first")
    async with embedded_redis(folder) as url:
        assert await put(url, "second") == "first"


async def test_an_engine_that_no_server_started_is_stopped_before_another_starts(folder: Path) -> None:
    options = ("--port", "0", "--dir", str(folder), "--unixsocket", str(folder / "redis.sock"))
    foreign = await asyncio.create_subprocess_exec(engine_program(), *options, stdout=DEVNULL)

    async def is_listening() -> bool:
        return (folder / "redis.sock").exists()

    await until(is_listening, "the engine listens")
    async with embedded_redis(folder), asyncio.timeout(PATIENCE_SECONDS):
        assert await foreign.wait() == 0


@pytest.mark.long
async def test_a_redis_that_was_left_behind_is_replaced(folder: Path) -> None:
    left = await leave_behind(folder)
    async with embedded_redis(folder):
        assert redis_servers_on(folder) != [left]


@pytest.mark.usefixtures("slow_reader")
@pytest.mark.long
async def test_a_redis_that_was_left_behind_while_it_read_is_stopped_before_another_starts(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put_much(url)
    server = await start_server(folder)
    await wait_until_redis_reads(server)
    server.kill()
    await server.wait()
    async with embedded_redis(folder) as url:
        await put(url, "first")
        assert len(redis_servers_on(folder)) == 1


@pytest.mark.usefixtures("slow_reader")
@pytest.mark.long
async def test_a_redis_that_reads_its_data_for_longer_than_the_time_limit_is_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with embedded_redis(folder) as url:
        await put_much(url)
        await put(url, "first")
    monkeypatch.setattr(embedded, "START_SECONDS", 1.5)
    async with embedded_redis(folder) as url:
        assert await put(url, "second") == "first"


@pytest.mark.usefixtures("slow_reader")
@pytest.mark.long
async def test_a_server_that_is_told_to_end_while_redis_reads_ends_before_it_has_served(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put_much(url)
    server = await start_server(folder)
    await wait_until_redis_reads(server)
    server.terminate()
    async with asyncio.timeout(PATIENCE_SECONDS):
        said, _ = await server.communicate()
    assert (server.returncode, said, redis_servers_on(folder)) == (0, b"", [])


async def test_a_redis_that_was_killed_gets_a_successor_with_its_data(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put(url, "first")
        (process_id,) = redis_servers_on(folder)
        os.kill(process_id, signal.SIGKILL)
        await wait_for_successor(folder, process_id)
        assert await put(url, "second") == "first"


async def test_a_successor_that_does_not_start_at_once_is_tried_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RETRY_SECONDS", 0.1)
    choose_program("", tmp_path, monkeypatch)
    async with embedded_redis(folder) as url:
        await put(url, "first")
        (process_id,) = redis_servers_on(folder)
        choose_program("--no-such-option", tmp_path, monkeypatch)
        (tmp_path / "was-tried").unlink()
        os.kill(process_id, signal.SIGKILL)

        async def is_tried() -> bool:
            return (tmp_path / "was-tried").exists()

        await until(is_tried, "the start of Redis was tried")
        choose_program("", tmp_path, monkeypatch)
        await wait_for_successor(folder, process_id)


async def test_a_successor_is_started_after_a_fifth_of_a_second_and_then_every_two_seconds(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def shortened(seconds: float) -> None:
        if seconds != INTERVAL_SECONDS:
            pauses.append(seconds)
        await sleep(INTERVAL_SECONDS)

    async def were_tried() -> bool:
        return len(pauses) >= 3

    choose_program("", tmp_path, monkeypatch)
    async with embedded_redis(folder):
        (process_id,) = redis_servers_on(folder)
        choose_program("--no-such-option", tmp_path, monkeypatch)
        monkeypatch.setattr(asyncio, "sleep", shortened)
        os.kill(process_id, signal.SIGKILL)
        await until(were_tried, "two starts have failed")
    assert pauses[:3] == [0.2, 2.0, 2.0]


def write_silent_engine(folder: Path) -> Path:
    """Write a program that says an engine's version, and answers nothing. It lists its process ids in `started`."""
    silent = folder / "redis-server"
    said = f'[ "$1" = --version ] && exec {engine_program()} --version'
    silent.write_text(f"#!/bin/sh\n{said}\necho $$ >> {folder}/started\nexec sleep 600\n")
    silent.chmod(0o755)
    return silent


async def test_a_successor_that_does_not_answer_is_killed_before_the_next_one_starts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RETRY_SECONDS", INTERVAL_SECONDS)
    program = tmp_path / "redis-server"
    program.symlink_to(engine_program())
    async with embedded.embedded_redis(folder, program):
        (process_id,) = redis_servers_on(folder)
        program.unlink()
        started = write_silent_engine(tmp_path).with_name("started")
        monkeypatch.setattr(embedded, "START_SECONDS", 0.5)
        os.kill(process_id, signal.SIGKILL)

        async def is_first_gone() -> bool:
            # The file exists a moment before it has the first line.
            ids = started.read_text().split() if started.exists() else []
            return len(ids) > 1 and not Path(f"/proc/{ids[0]}").exists()

        await until(is_first_gone, "a second successor is started, and the first one is gone")


async def test_a_program_that_cannot_be_run_is_named_with_the_reason(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "redis-server"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    with pytest.raises(EmbeddedRedisError, match=f"cannot run {program}: Exec format error"):
        async with embedded.embedded_redis(folder, program):
            pass


async def test_an_engine_that_answers_nothing_is_given_up_after_ten_seconds(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = write_silent_engine(tmp_path)
    limits: list[float] = []
    timeout = asyncio.timeout

    def shortened(seconds: float) -> asyncio.Timeout:
        limits.append(seconds)
        return timeout(INTERVAL_SECONDS)

    monkeypatch.setattr(asyncio, "timeout", shortened)
    with pytest.raises(EmbeddedRedisError, match="did not start"):
        async with embedded.embedded_redis(folder, silent):
            pass
    assert limits == [10.0]


async def test_a_folder_whose_socket_cannot_be_tried_is_refused(folder: Path) -> None:
    (folder / "redis.sock").symlink_to(folder / "redis.sock")
    with pytest.raises(EmbeddedRedisError, match="does not end; stop it"):
        async with embedded_redis(folder):
            pass


@pytest.mark.long
async def test_a_folder_whose_orphaned_redis_does_not_end_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process_id = await leave_behind(folder)
    os.kill(process_id, signal.SIGSTOP)
    monkeypatch.setattr(embedded, "START_SECONDS", 0.5)
    with pytest.raises(EmbeddedRedisError, match=r"left behind on .* does not end; stop it"):
        async with embedded_redis(folder):
            pass
    assert redis_servers_on(folder) == [process_id]


async def test_a_redis_that_hangs_ends_with_its_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "STOP_SECONDS", INTERVAL_SECONDS)
    async with embedded_redis(folder):
        (process_id,) = redis_servers_on(folder)
        os.kill(process_id, signal.SIGSTOP)
    assert redis_servers_on(folder) == []


async def test_redis_ends_in_order_with_its_server(folder: Path) -> None:
    async with embedded_redis(folder):
        pass
    assert "bye bye" in (folder / "redis.log").read_text()


async def test_no_redis_is_left_when_its_server_has_ended(folder: Path) -> None:
    async with embedded_redis(folder):
        assert len(redis_servers_on(folder)) == 1
    assert redis_servers_on(folder) == []


async def test_a_redis_that_cannot_read_its_data_is_refused_with_the_place_of_its_log(folder: Path) -> None:
    (folder / "appendonly.aof").write_text("no data of Redis'")
    with pytest.raises(EmbeddedRedisError, match=r"did not start; .*redis.log says why"):
        async with embedded_redis(folder):
            pass


async def test_a_folder_that_a_killed_process_had_locked_is_free(folder: Path) -> None:
    locking = f"import filelock, signal; held = filelock.FileLock({str(folder / 'lock')!r}); held.acquire()"
    script = f"{locking}; print('held', flush=True); signal.pause()"
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=PIPE)
    assert holder.stdout is not None
    await holder.stdout.readline()
    try:
        with pytest.raises(EmbeddedRedisError, match="another fairest-server uses"):
            async with embedded_redis(folder):
                pass
    finally:
        holder.kill()
        await holder.wait()
    async with embedded_redis(folder):
        assert len(redis_servers_on(folder)) == 1


async def test_an_engine_does_not_inherit_the_lock_of_its_folder(folder: Path) -> None:
    async with embedded_redis(folder):
        (process_id,) = redis_servers_on(folder)
        opened = [os.path.realpath(file) for file in Path(f"/proc/{process_id}/fd").iterdir()]
    assert str(folder / "lock") not in opened


@pytest.fixture
def deaths() -> list[str]:
    """The deaths of engines that were reported."""
    return []


@pytest.mark.long
async def test_each_death_of_an_engine_is_reported(
    folder: Path, deaths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RESTART_SECONDS", INTERVAL_SECONDS)
    async with embedded.embedded_redis(folder, chosen_program(), lambda: deaths.append("died")):
        for _ in range(2):
            (process_id,) = redis_servers_on(folder)
            os.kill(process_id, signal.SIGKILL)
            await wait_for_successor(folder, process_id)
    assert deaths == ["died", "died"]


async def test_the_death_of_a_successor_that_starts_is_reported(
    folder: Path, deaths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_program("", tmp_path, monkeypatch)
    async with embedded.embedded_redis(folder, chosen_program(), lambda: deaths.append("died")):
        (process_id,) = redis_servers_on(folder)
        choose_program("--no-such-option", tmp_path, monkeypatch)
        os.kill(process_id, signal.SIGKILL)

        async def are_reported() -> bool:
            return len(deaths) == 2

        await until(are_reported, "the death of the engine and that of its successor are reported")


async def test_no_successor_is_on_its_way_when_its_server_has_ended(folder: Path) -> None:
    has_died = asyncio.Event()
    tasks = asyncio.all_tasks()
    async with embedded.embedded_redis(folder, on_death=has_died.set), asyncio.timeout(PATIENCE_SECONDS):
        (process_id,) = redis_servers_on(folder)
        os.kill(process_id, signal.SIGKILL)
        await has_died.wait()
    assert asyncio.all_tasks() == tasks


async def test_an_engine_does_not_get_the_signals_of_the_terminal(folder: Path) -> None:
    async with embedded_redis(folder):
        (process_id,) = redis_servers_on(folder)
        assert os.getsid(process_id) == process_id


async def test_without_any_engine_it_is_said_how_to_get_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(embedded_engine, "distribution", find_nothing)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(EmbeddedRedisError, match="no valkey-server or redis-server found; install one"):
        async with embedded.embedded_redis(folder):
            pass


async def test_a_redis_that_hangs_is_killed_after_two_seconds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    wait_for = asyncio.wait_for

    async def shortened(ended: Any, seconds: float) -> Any:
        limits.append(seconds)
        return await wait_for(ended, INTERVAL_SECONDS)

    async with embedded_redis(folder):
        (process_id,) = redis_servers_on(folder)
        os.kill(process_id, signal.SIGSTOP)
        monkeypatch.setattr(asyncio, "wait_for", shortened)
    assert limits == [2.0]


async def test_to_look_for_an_engine_that_was_left_behind_leaves_no_connection_open(folder: Path) -> None:
    """The listener is no engine, so it does not end when it is told to."""
    left: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left.append(await reader.read(1))
        writer.close()

    async def both_have_left() -> bool:
        return left.count(b"") == 2

    async with await asyncio.start_unix_server(serve, folder / "redis.sock"):
        with pytest.raises(EmbeddedRedisError, match="does not end; stop it"):
            async with embedded_redis(folder):
                pass
        await until(both_have_left, "both connections that only looked are closed")
