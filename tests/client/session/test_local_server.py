"""The local server of a race lives as long as the process that started it."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from fairest_cli.session.local_server import local_server
from tests.support.waiting import until

HOST = """
import asyncio
from fairest_cli.session.local_server import local_server

async def main():
    async with local_server() as url:
        print(url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def servers_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children]


async def test_a_server_at_home_does_not_outlive_a_killed_player() -> None:
    player = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, stdout=PIPE)
    assert player.stdout is not None
    async with asyncio.timeout(20):
        assert (await player.stdout.readline()).startswith(b"ws://127.0.0.1:")
    (server,) = servers_of(player.pid)
    (redis,) = servers_of(server)
    os.kill(player.pid, signal.SIGKILL)
    await player.wait()

    async def are_gone() -> bool:
        return not any(Path(f"/proc/{pid}").exists() for pid in (server, redis))

    await until(are_gone, "the server and its Redis are gone")


@pytest.mark.long
async def test_a_server_at_home_that_is_killed_leaves_no_engine_behind() -> None:
    """A busy machine may take longer to end it than the player waits."""
    before = servers_of(os.getpid())
    async with local_server():
        (server,) = set(servers_of(os.getpid())) - set(before)
        (redis,) = servers_of(server)
        os.kill(server, signal.SIGKILL)

    async def is_gone() -> bool:
        return not Path(f"/proc/{redis}").exists()

    await until(is_gone, "its Redis is gone")


@pytest.mark.long
async def test_a_server_at_home_ignores_the_settings_of_a_server_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIREST_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("FAIREST_WORKRES", "4")
    async with local_server() as url:
        assert url.startswith("ws://127.0.0.1:")
