"""Records of finished matches, which outlive their rooms."""

from collections.abc import Sequence
from typing import Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from fairest_protocol.calculation.record import Record
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script

HEAD_BYTES: Final = 1024
"""The first line of a record, which describes the match, has about 500 bytes."""


class RecordStore:
    """Records by match id. A record that is stored is never written again. Every method raises RedisError."""

    key_pattern: Final = "fairest:{*}:record:*"
    """The pattern of the keys of all records."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._remove = Script("remove_record.lua")

    async def keep(self, record: Record) -> bool:
        """Store the record of a match; return False if it was stored already. Safe to call again."""
        return await self.keep_lines(record.match_id, list(record.lines()))

    async def keep_lines(self, match_id: str, lines: Sequence[str]) -> bool:
        """Store the record with these lines, as `keep` does."""
        text = "\n".join(lines)
        return bool(await self._redis.set(keys.record(match_id), text, nx=True, ex=keys.RECORD_SECONDS))

    async def read(self, match_id: str) -> bytes | None:
        """Return the record of a match, as lines with line feeds between them, or None if there is none."""
        return cast("bytes | None", await self._redis.get(keys.record(match_id)))

    async def heads(self, match_ids: Sequence[str]) -> list[bytes]:
        """Return the first `HEAD_BYTES` bytes of each of these records; b"" for a key without text."""
        pipeline = self._redis.pipeline(transaction=False)
        for match_id in match_ids:
            pipeline.getrange(keys.record(match_id), 0, HEAD_BYTES - 1)
        replies = await pipeline.execute(raise_on_error=False) if match_ids else []
        for reply in replies:
            if isinstance(reply, Exception) and not isinstance(reply, ResponseError):
                raise reply
        return [b"" if isinstance(reply, Exception) else cast("bytes", reply) for reply in replies]

    async def remove(self, match_id: str, text: bytes) -> bool:
        """Delete the record of a match if it still is `text`; return whether it was deleted."""
        return bool(await self._remove.run(self._redis, [keys.record(match_id)], [text]))
