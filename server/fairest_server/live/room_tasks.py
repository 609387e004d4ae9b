"""The tasks that this process runs for its rooms."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from fairest_server.ops.faults import contained
from fairest_server.ops.metrics import Part


class RoomTasks:
    """Tasks for single rooms, within `running`. A fault in one of them is logged, and leaves other rooms alone."""

    def __init__(self) -> None:
        self._tasks = asyncio.TaskGroup()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.TaskGroup]:
        """Wait at the end for all tasks that were started; yields the group, for tasks that serve all rooms."""
        async with self._tasks as tasks:
            yield tasks

    def start(self, work: Coroutine[Any, Any, None], code: str) -> None:
        """Run `work` for the room with this code."""
        guarded = _contain(work, code)
        try:
            self._tasks.create_task(guarded)
        except RuntimeError:
            # The process is shutting down. Another one finds in the log what there is to do.
            guarded.close()
            work.close()


async def _contain(work: Coroutine[Any, Any, None], code: str) -> None:
    with contained(Part.ROOM, room=code):
        await work
