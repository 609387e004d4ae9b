"""The private key of a deployment: saved beside a server, put back and given up while none runs."""

import asyncio
from pathlib import Path

import pytest

from fairest_cli.session.http_pages import fetch_page
from fairest_server.app import running
from fairest_server.live.signing import SigningKey
from fairest_server.settings import Settings
from fairest_server.store import keys
from fairest_server.store.redis.batching_client import BatchingRedis
from tests.support.long_tests import parametrize_with_long
from tests.support.operator import operate

PRIVATE = bytes(range(32))


@pytest.mark.long
async def test_a_saved_key_is_that_of_the_server_and_its_owners_alone(
    server_url: str, redis: BatchingRedis, redis_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "key.bin"
    ran = await operate(redis_url, "key", "save", str(file))
    assert ran.code == 0, ran.errors
    assert file.read_bytes() == await redis.get(keys.SIGNING_KEY)
    assert file.stat().st_mode & 0o777 == 0o600
    assert ran.written.encode() == (await asyncio.to_thread(fetch_page, server_url, "/key"))[1]


@pytest.mark.long
async def test_a_file_that_is_there_is_not_replaced(redis: BatchingRedis, redis_url: str, tmp_path: Path) -> None:
    await redis.set(keys.SIGNING_KEY, PRIVATE)
    file = tmp_path / "key.bin"
    file.write_text("an older key")
    ran = await operate(redis_url, "key", "save", str(file))
    assert (ran.code, file.read_text()) == (1, "an older key")
    assert "File exists" in ran.errors


@pytest.mark.long
async def test_a_loaded_key_is_that_of_the_next_server(
    redis: BatchingRedis, redis_url: str, settings_for_tests: Settings, tmp_path: Path
) -> None:
    await redis.set(keys.SIGNING_KEY, bytes(32))
    (tmp_path / "key.bin").write_bytes(PRIVATE)
    ran = await operate(redis_url, "key", "load", str(tmp_path / "key.bin"))
    assert (ran.code, ran.written.strip()) == (0, SigningKey(PRIVATE).public.hex())
    async with running(settings_for_tests) as url:
        assert (await asyncio.to_thread(fetch_page, url, "/key"))[1].decode().strip() == ran.written.strip()


@pytest.mark.long
@pytest.mark.usefixtures("server_url")
@parametrize_with_long("command", ["load", "forget"], quick=1)
async def test_a_key_is_not_changed_while_a_server_runs(
    redis: BatchingRedis, redis_url: str, tmp_path: Path, command: str
) -> None:
    (tmp_path / "key.bin").write_bytes(PRIVATE)
    before = await redis.get(keys.SIGNING_KEY)
    ran = await operate(redis_url, "key", command, *([str(tmp_path / "key.bin")] if command == "load" else []))
    assert ran.code == 1
    assert "would put their key back" in ran.errors
    assert await redis.get(keys.SIGNING_KEY) == before


@pytest.mark.long
async def test_a_key_that_was_forgotten_is_drawn_anew(redis: BatchingRedis, redis_url: str) -> None:
    await redis.set(keys.SIGNING_KEY, PRIVATE)
    assert (await operate(redis_url, "key", "forget")).code == 0
    assert not await redis.exists(keys.SIGNING_KEY)


@pytest.mark.long
async def test_a_file_that_is_not_a_key_changes_nothing(redis: BatchingRedis, redis_url: str, tmp_path: Path) -> None:
    await redis.set(keys.SIGNING_KEY, PRIVATE)
    (tmp_path / "key.bin").write_bytes(PRIVATE + b"\n")
    ran = await operate(redis_url, "key", "load", str(tmp_path / "key.bin"))
    assert ran.code == 1
    assert "is not a private key: it has 33 bytes instead of 32" in ran.errors
    assert await redis.get(keys.SIGNING_KEY) == PRIVATE
