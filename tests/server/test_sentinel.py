"""A server that is given the address of a Sentinel, which is no Redis, says so."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis as plain_redis

from fairest_server.app import StartError, running
from fairest_server.settings import Settings
from tests.support.engine import engine_program
from tests.support.ports import free_port
from tests.support.waiting import until


@pytest.fixture
def sentinel(tmp_path: Path) -> Iterator[int]:
    """The port of a Sentinel."""
    port, settings = free_port(), tmp_path / "sentinel.conf"
    settings.write_text(f"port {port}\ndir {tmp_path}\nlogfile {tmp_path}/log\n")
    with subprocess.Popen([engine_program(), str(settings), "--sentinel"], stdout=subprocess.DEVNULL) as process:
        try:
            yield port
        finally:
            process.kill()


async def test_a_sentinel_is_not_accepted_as_a_redis(sentinel: int) -> None:
    async def is_there() -> bool:
        with suppress(plain_redis.RedisError), plain_redis.Redis(port=sentinel) as client:
            return bool(client.ping())
        return False

    await until(is_there, "the Sentinel answers")
    with pytest.raises(StartError, match="is a Sentinel, which Fairest cannot ask; give the address of the master"):
        async with running(Settings(port=0, redis_url=f"redis://127.0.0.1:{sentinel}")):
            pass
