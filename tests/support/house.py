"""People who wait alone in rooms, and a house that sends them rivals, in the test's process or as one of its own."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fairest_cli.bots.house import House, keep_house
from fairest_cli.bots.levels import Level
from fairest_cli.session.connection import Connection
from fairest_cli.session.identity import Identity
from fairest_protocol.messages.from_client import Create, Join
from fairest_protocol.messages.from_server import Refused
from tests.support.processes import CLIENT_COMMAND, START_SECONDS


class Clients:
    """Clients of a server, which follow their rooms, and a house. A condition is checked after each change."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lines: list[str] = []
        self.refusals: list[str] = []
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def enter(self, request: Create | Join, name: str | None = None) -> Connection:
        connection = Connection(self.url, Identity(), request, name=name)
        self._tasks.append(asyncio.create_task(self._follow(connection)))
        await connection.entered()
        return connection

    def open_house(self) -> None:
        self._tasks.append(asyncio.create_task(keep_house(self.url, House((Level.CARELESS,)), self._note_line)))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(START_SECONDS):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, connection: Connection) -> None:
        async for update in connection.updates():
            if isinstance(update.message, Refused):
                self.refusals.append(update.message.code)
            self._changed.set()

    def _note_line(self, line: str) -> None:
        self.lines.append(line)
        self._changed.set()


def second_name(connection: Connection) -> str:
    """Return the name of the player in the second seat, empty for a free one."""
    scene = connection.model.scene
    return (scene.seats[1].name if scene is not None else None) or ""


@asynccontextmanager
async def house_process(url: str, home: Path, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A house of careless rivals as a process of its own, which serves the lobby; it is killed at the end."""
    command = (*CLIENT_COMMAND, "house", "--server", url, "--levels", "careless", *options)
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home)}
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL, env=environment)
    assert process.stdout is not None
    reading: asyncio.Task[bytes] | None = None
    try:
        async with asyncio.timeout(START_SECONDS):
            assert await process.stdout.readline()
        reading = asyncio.create_task(process.stdout.read())
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading is not None:
            await reading
