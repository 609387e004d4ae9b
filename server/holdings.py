"""The rooms in which this process may speak for somebody, written down in Redis before it does.

Should the process be killed, others find there whose seats it held, and tell those rooms.
"""

import asyncio
from collections.abc import Set as AbstractSet

from server.store.processes import Processes


class Holdings:
    """The codes of rooms that this process holds. Every method that waits raises RedisError when Redis is away."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._codes: set[str] = set()
        self._wanted: set[str] = set()
        self._writing = asyncio.Lock()

    def __contains__(self, code: str) -> bool:
        return code in self._codes

    async def hold(self, code: str) -> None:
        """Hold this room, if it is not held. What is asked for while others are written down is the next write."""
        if code not in self._codes:
            self._wanted.add(code)
        async with self._writing:
            if code not in self._codes:
                wanted, self._wanted = self._wanted | {code}, set()
                await self._processes.hold(wanted)
                self._codes |= wanted

    async def hold_again(self) -> None:
        """Write all of it down anew: Redis may have forgotten us."""
        async with self._writing:
            if self._codes:
                await self._processes.hold(self._codes)

    async def release_all_but(self, codes: AbstractSet[str], process_id: str) -> None:
        """Hold no more than these rooms."""
        async with self._writing:
            gone = self._codes - codes
            # Whoever comes in meanwhile finds its room not held, and waits to hold it behind this release.
            self._codes -= gone
            if gone:
                await self._processes.release(process_id, gone)

    def forget(self, code: str) -> None:
        """Redis may have forgotten this room: it has to be written down again."""
        self._codes.discard(code)
