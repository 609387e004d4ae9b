"""The rooms in which this process may speak for a seat, as Redis knows them.

A room is registered before the process speaks there. If the process is killed, another one finds its rooms in Redis,
and reports the lost seats to them.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager

from fairest_server.store.processes import Processes


class AttachedRooms:
    """The codes of the rooms that are registered. Every method that waits raises RedisError when Redis is away.

    One write is under way at a time. Everything that is requested meanwhile goes into the next write, and its callers
    continue together: thousands may come at once, and if they continued one by one, it would take seconds. A caller may
    be cancelled; the write goes on, since others wait for it.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._codes: set[str] = set()
        self._entering: Counter[str] = Counter()
        """How many clients are on their way into each room, which may not be open yet."""
        self._to_register: set[str] = set()
        self._to_release: set[str] = set()
        self._writing: asyncio.Task[None] | None = None

    def __contains__(self, code: str) -> bool:
        return code in self._codes

    @asynccontextmanager
    async def entering(self, code: str) -> AsyncIterator[None]:
        """Register this room; it is not released while the context lasts, so that it can be opened in the meantime.

        The sweep runs once a second. If it could release the room, then with a Redis that is far away no client would
        ever enter one.
        """
        self._entering[code] += 1
        try:
            await self.register(code)
            yield
        finally:
            self._entering[code] -= 1
            if not self._entering[code]:
                del self._entering[code]

    async def register(self, code: str) -> None:
        """Register this room, unless it is registered."""
        if code not in self._codes:
            self._to_register.add(code)
            await self._write_requested()

    async def register_all(self) -> None:
        """Register all rooms again: Redis may have forgotten this process."""
        self._to_register |= self._codes
        await self._write_requested()

    async def retain_only(self, codes: AbstractSet[str]) -> None:
        """Release all rooms but these, and those that clients are entering."""
        released = self._codes - codes - self._entering.keys()
        # At once: a player who enters one of them now registers it again, after this release.
        self._codes -= released
        self._to_release |= released
        await self._write_requested()

    def forget(self, code: str) -> None:
        """Treat this room as not registered, because Redis may have lost it."""
        self._codes.discard(code)

    async def _write_requested(self) -> None:
        """Wait until everything that is requested by now is written."""
        if self._writing is not None:
            await asyncio.shield(self._writing)
        # Several callers may have awaited the same write; the first of them has already started the next one.
        if self._writing is None and (self._to_register or self._to_release):
            self._writing = asyncio.create_task(self._write())
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        to_register, self._to_register = self._to_register, set()
        to_release, self._to_release = self._to_release, set()
        try:
            if to_release:
                await self._processes.release_rooms(to_release)
            if to_register:
                await self._processes.register_rooms(to_register)
                self._codes |= to_register
        finally:
            self._writing = None
