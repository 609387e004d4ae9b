"""Logs of version 0.1.0, which are streams: they are converted into lists when a server first reads them."""

from typing import Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script, lua_text

OLD_ENTRIES: Final = lua_text("old_entries.lua")
"""The text that stands before scripts which meet such logs."""
_CONVERT: Final = Script("convert_log.lua", head=OLD_ENTRIES)


def is_old_log(error: Exception) -> bool:
    """Return whether Redis gave this error because the key of a log is no list, as in version 0.1.0."""
    return isinstance(error, ResponseError) and "WRONGTYPE" in str(error)


async def convert_log(redis: Redis, room: str) -> None:
    """Convert a room's log if version 0.1.0 wrote it. Safe to call again.

    Raises RedisError, and ValueError for a stream that is no log; nothing is changed then.
    """
    if not await _CONVERT.run(redis, [keys.log(room)], []):
        raise ValueError("an entry of a log of version 0.1.0 has a time, a tag and an event")
