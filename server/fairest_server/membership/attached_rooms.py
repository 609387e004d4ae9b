"""The rooms in which this process may speak for somebody, written down in Redis before it does.

Should the process be killed, others find there whose seats it held, and tell those rooms.
"""

import asyncio
from collections.abc import Set as AbstractSet

from fairest_server.store.processes import Processes


class AttachedRooms:
    """The codes of rooms that this process holds. Every method that waits raises RedisError when Redis is away.

    One write is under way at a time. What is asked for meanwhile is the next one, and whoever waits for the same write
    goes on at the same moment: thousands may come at once, and to let them through one by one would take seconds. A
    caller may be cancelled; the write is not, since others wait for it.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._codes: set[str] = set()
        self._wanted: set[str] = set()
        self._unwanted: set[str] = set()
        self._writing: asyncio.Task[None] | None = None

    def __contains__(self, code: str) -> bool:
        return code in self._codes

    async def hold(self, code: str) -> None:
        """Hold this room, if it is not held."""
        if code not in self._codes:
            self._wanted.add(code)
            await self._settle()

    async def register_all(self) -> None:
        """Write all of it down anew: Redis may have forgotten us."""
        self._wanted |= self._codes
        await self._settle()

    async def retain_only(self, codes: AbstractSet[str]) -> None:
        """Hold no more than these rooms."""
        gone = self._codes - codes
        # Whoever comes in meanwhile finds its room not held, and waits to hold it behind this release.
        self._codes -= gone
        self._unwanted |= gone
        await self._settle()

    def forget(self, code: str) -> None:
        """Redis may have forgotten this room: it has to be written down again."""
        self._codes.discard(code)

    async def _settle(self) -> None:
        """Wait until all that is asked for by now is written down."""
        if self._writing is not None:
            await asyncio.shield(self._writing)
        # Of those who waited for the same one, the first has begun the next by now.
        if self._writing is None and (self._wanted or self._unwanted):
            self._writing = asyncio.create_task(self._write())
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        wanted, self._wanted = self._wanted, set()
        unwanted, self._unwanted = self._unwanted, set()
        try:
            if unwanted:
                await self._processes.release(self._processes.process_id, unwanted)
            if wanted:
                await self._processes.hold(wanted)
                self._codes |= wanted
        finally:
            self._writing = None
