"""Reading single records of an archive while a server serves: in threads, a few at a time, with a time limit."""

import asyncio
from typing import Final

from fairest_server.archive.places import ArchiveUnavailable
from fairest_server.archive.record_archive import RecordArchive

AT_ONCE: Final = 4
"""Reads under way in one process; others wait."""
READ_SECONDS: Final = 5.0
"""The time for a read, with the wait for its turn. A thread that hangs longer is left to itself."""


class ArchiveReader:
    """An archive for the event loop of a server."""

    def __init__(self, archive: RecordArchive) -> None:
        self._archive = archive
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def read(self, match_id: str) -> bytes | None:
        """Return the file of a match, or None if the archive does not have it. Raises `ArchiveUnavailable`.

        Cancelling is safe.
        """
        try:
            async with asyncio.timeout(READ_SECONDS), self._turns:
                return await asyncio.to_thread(self._archive.read, match_id)
        except TimeoutError:
            raise ArchiveUnavailable(f"the archive did not answer within {READ_SECONDS:.0f} s") from None
