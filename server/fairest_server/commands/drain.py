"""The operator's command `drain`: processes end when their races have, and nobody waits for that."""

import asyncio
import time
from collections.abc import AsyncIterator, Set
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from redis.exceptions import RedisError

from fairest_server.commands.asking import Asking, VerbFailed, asking, run
from fairest_server.commands.operator_redis import DEFAULT_DATA_DIR, DataDir, RedisUrl
from fairest_server.store.control import Describe, DrainProcess, ProcessRow

REPLACEMENT_SECONDS: Final = 30.0
"""With --all, the next process is drained once another one serves in the place of the last. Starting takes a second."""
POLL_SECONDS: Final = 0.2
ENGINE_SECONDS: Final = 5.0
"""The embedded engine needs less to end."""


def drain(
    process: Annotated[str, typer.Argument(metavar="PROCESS", help="The process' id, or its beginning.")] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Drain all processes that serve now, each once the last one is replaced.")
    ] = False,
    within: Annotated[
        int | None,
        typer.Option(min=0, metavar="SECONDS", help="End after this time even if races go on, which reconnect."),
    ] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Let a process take no new clients, and end when the races of its players have ended."""
    if bool(process) == every:
        raise typer.BadParameter("name a process, as `fairest-server processes` lists them, or give --all")
    request = DrainProcess(within_seconds=within)
    run(_drain_all(request, redis_url, data_dir) if every else _drain_one(process, request, redis_url, data_dir))


async def _drain_one(process_id: str, request: DrainProcess, redis_url: RedisUrl, data_dir: DataDir) -> None:
    async with _seeing_off(redis_url, data_dir) as (asked, draining):
        full_id, _ = await asked.ask_one(process_id, request)
        draining.add(full_id)
        print(f"process {full_id} drains; if you interrupt this command, it goes on", flush=True)


async def _drain_all(request: DrainProcess, redis_url: RedisUrl, data_dir: DataDir) -> None:
    async with _seeing_off(redis_url, data_dir) as (asked, draining):
        old = [each for each, row in (await _describe(asked)).items() if not row.draining]
        for number, process_id in enumerate(old, 1):
            draining.add(process_id)
            await asked.ask_one(process_id, request)
            print(f"process {process_id} drains ({number} of {len(old)})", flush=True)
            if number < len(old):
                await _wait_for_replacement(asked, len(old))


@asynccontextmanager
async def _seeing_off(redis_url: RedisUrl, data_dir: DataDir) -> AsyncIterator[tuple[Asking, set[str]]]:
    """Give the way to ask processes, and a set for the ids of those that drain; then wait until these have ended."""
    draining: set[str] = set()
    try:
        async with asking(redis_url, data_dir) as asked:
            yield asked, draining
            await _wait_for_ends(asked, draining)
    except (RedisError, OSError):
        # The embedded engine ends with its last process, perhaps before that process' answer was read.
        if redis_url or not draining or not await _has_ended(data_dir / "redis.sock"):
            raise
    print("drained: " + ", ".join(sorted(draining)))


async def _has_ended(engine_socket: Path) -> bool:
    """Return whether the embedded engine ends, which removes its socket, within ENGINE_SECONDS."""
    for _ in range(round(ENGINE_SECONDS / POLL_SECONDS)):
        if not engine_socket.exists():
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def _wait_for_replacement(asked: Asking, wanted: int) -> None:
    """Wait until as many processes serve as before. Raises VerbFailed, so that the last ones go on."""
    deadline = time.monotonic() + REPLACEMENT_SECONDS
    while time.monotonic() < deadline:
        serving = [row for row in (await _describe(asked)).values() if not row.draining]
        if len(serving) >= wanted:
            return
        await asyncio.sleep(POLL_SECONDS)
    raise VerbFailed(
        f"no process serves in the place of the last one after {REPLACEMENT_SECONDS:.0f} seconds, so the others are "
        "left alone; start one, or drain them by their ids"
    )


async def _wait_for_ends(asked: Asking, draining: Set[str]) -> None:
    """Print how many races are left until all of these processes have ended."""
    left = -1
    while remaining := draining & set(await asked.control.living()):
        rows = await _describe(asked)
        races = sum(row.races for process_id, row in rows.items() if process_id in remaining)
        if races != left:
            print(f"processes left: {len(remaining)}, races: {races}", flush=True)
            left = races
        await asyncio.sleep(POLL_SECONDS)


async def _describe(asked: Asking) -> dict[str, ProcessRow]:
    """Return the processes that answer, by their ids."""
    answers = await asked.ask_all(Describe(rooms=False))
    return {process_id: answer.process for process_id, answer in answers.items() if answer and answer.process}


def add_to(operator: typer.Typer) -> None:
    """Add the command of this module."""
    operator.command()(drain)
