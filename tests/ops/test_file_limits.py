"""A server asks the system for the open files that its connections need, and says so when it does not get them."""

import asyncio
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.support.processes import SERVER_COMMAND


async def start_with(soft: int, hard: int, redis_url: str) -> tuple[int, str]:
    """The limit that a server has which was started with these, and what it logs until it serves."""
    command = [*SERVER_COMMAND, "--port", "0", "--redis-url", redis_url]
    limited = f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"'
    process = await asyncio.create_subprocess_exec("sh", "-c", limited, "sh", *command, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None and process.stderr is not None
    await process.stdout.readline()
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    (files,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
    process.terminate()
    logged = (await process.stderr.read()).decode()
    await process.wait()
    return int(files.split()[3]), logged


@pytest.mark.long
async def test_a_server_raises_its_own_limit_of_open_files_as_far_as_it_needs(redis_url: str) -> None:
    limit, _ = await start_with(256, 12_000, redis_url)
    assert limit == 10_100


@pytest.mark.parametrize(("hard", "says"), [(12_000, False), (4_096, True)])
@pytest.mark.long
async def test_a_server_that_may_not_serve_as_many_as_asked_for_says_so(redis_url: str, hard: int, says: bool) -> None:
    _, logged = await start_with(256, hard, redis_url)
    assert ("few_files" in logged) is says
