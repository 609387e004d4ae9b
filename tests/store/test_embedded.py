"""The embedded Redis: a real server on its own folder, taken over when its parent was killed."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.store.client import connect
from server.store.embedded import EmbeddedRedisError, embedded_redis


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, since sockets allow no long one."""
    made = Path(tempfile.mkdtemp(prefix="fairest-"))
    yield made
    shutil.rmtree(made)


async def put(url: str, value: str) -> str | None:
    client = connect(url)
    before: Any = await client.getset("key", value)
    await client.aclose()
    return before.decode() if before else None


async def test_what_was_written_is_there_after_a_restart(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        await put(url, "first")
    async with embedded_redis(folder) as url:
        assert await put(url, "second") == "first"


async def test_it_keeps_an_append_only_file_and_evicts_nothing(folder: Path) -> None:
    async with embedded_redis(folder) as url:
        client = connect(url)
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


async def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(EmbeddedRedisError, match="cannot write to /proc"):
        async with embedded_redis(Path("/proc/fairest")):
            pass


async def test_only_its_owner_may_open_the_socket(folder: Path) -> None:
    async with embedded_redis(folder):
        assert (folder / "redis.sock").stat().st_mode & 0o077 == 0
