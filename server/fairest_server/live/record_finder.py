"""Records of finished matches by their ids: from Redis, else from the archive."""

import structlog

from fairest_protocol.messages.from_server import MatchRecord
from fairest_server.archive.places import ArchiveUnavailable
from fairest_server.archive.reader import ArchiveReader
from fairest_server.ops.events import Event
from fairest_server.store.records import RecordStore

_LOG = structlog.get_logger(__name__)


class RecordUnavailable(Exception):
    """The archive does not answer, so whether there is such a record is not known."""


class RecordFinder:
    """Finds records in Redis, and in the archive if there is one. They are sent as found: the client proves them."""

    def __init__(self, records: RecordStore, archive: ArchiveReader | None) -> None:
        self._records = records
        self._archive = archive

    async def find(self, match_id: str) -> MatchRecord | None:
        """Return the record of a match as a message, or None. Raises as `read` does."""
        text = await self.read(match_id)
        if text is None:
            return None
        return MatchRecord(match=match_id, lines=tuple(text.decode(errors="replace").removesuffix("\n").split("\n")))

    async def read(self, match_id: str) -> bytes | None:
        """Return the record of a match as lines, each with a line feed behind it; None if the record is not kept.

        Raises RedisError, OSError and `RecordUnavailable`.
        """
        found = await self._records.read(match_id)
        if found is None and self._archive is not None:
            try:
                found = await self._archive.read(match_id)
            except ArchiveUnavailable as reason:
                _LOG.warning(Event.ARCHIVE_FAILED, reason=str(reason))
                raise RecordUnavailable from reason
        return None if found is None else found.removesuffix(b"\n") + b"\n"
