"""The server processes of a deployment: their heartbeats, the rooms in which they have seats, and pauses.

A process that is killed leaves its id and its rooms here; another process reads them and reports the lost seats to
those rooms. A time without a heartbeat of any process is a *pause*: Redis or all servers were away, and clocks stood
still.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.room.commands import Pause
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script


class HeartbeatReply(Value):
    """The reply to a heartbeat: Redis' clock, the number of processes that are alive, and the latest pauses.

    `lapsed` are processes without a heartbeat for `LAPSE_MS` in which others sent theirs. `is_new` is True if
    this process was not registered, or had been forgotten.
    """

    now_ms: int
    alive: int
    lapsed: tuple[str, ...]
    pauses: tuple[Pause, ...]
    is_new: bool
    requests: tuple["UnreadRequest", ...]
    bans_version: str


class UnreadRequest(Value):
    """A request of the operator as it was read from Redis, not parsed yet: `at_ms` is its time on Redis' clock."""

    request_id: str
    at_ms: int
    text: bytes


class Processes:
    """The processes of a deployment, on one Redis. Every method raises RedisError when Redis is away.

    `beating` is a client for heartbeats only. A heartbeat that waited for hundreds of reads would make Redis look
    silent, and the server would disconnect its clients.
    """

    def __init__(self, redis: Redis, beating: Redis, process_id: str) -> None:
        self._redis = redis
        self._beating = beating
        self.process_id: Final = process_id
        self.alive = 1
        """The number of processes that were alive at the last heartbeat of this one."""
        self._last_request = ""
        """The id of the last request of the operator that was read; empty before the first heartbeat."""
        self._beat = Script("heartbeat.lua")
        self._lapsed_process = Script("lapsed_process.lua")

    async def beat(self) -> HeartbeatReply:
        """Send a heartbeat of this process, and return what Redis knows of all processes."""
        names = [keys.PROCESSES, keys.LAST_HEARTBEAT, keys.PAUSES, keys.CONTROL, keys.BANS]
        arguments = (
            self.process_id,
            keys.PAUSE_MS,
            keys.LAPSE_MS,
            keys.PAUSES_KEPT,
            self._last_request,
            keys.SILENCE_MS,
        )
        reply = await self._beat.run(self._beating, names, arguments)
        now_ms, alive, lapsed, pauses, is_new, requests, newest, version = cast("_Reply", reply)
        self._last_request, self.alive = newest.decode(), alive
        lapsed_ids = tuple(each.decode() for each in lapsed)
        return HeartbeatReply(
            int(now_ms),
            alive,
            lapsed_ids,
            tuple(map(_parse_pause, pauses)),
            is_new=bool(is_new),
            requests=tuple(_parse_request(*each) for each in requests),
            bans_version=version.decode(),
        )

    async def register_rooms(self, rooms: Iterable[str]) -> None:
        """Register rooms in which this process is about to have seats.

        If a process had a seat in a room that is not registered, and died, the room would never learn it.
        """
        await cast("Any", self._redis.sadd(keys.attached_rooms(self.process_id), *rooms))

    async def release_rooms(self, rooms: Iterable[str]) -> None:
        """Remove rooms in which this process no longer has a seat."""
        await cast("Any", self._redis.srem(keys.attached_rooms(self.process_id), *rooms))

    async def rooms_of(self, process_id: str) -> list[str]:
        """Return the rooms in which a process may have seats, sorted."""
        found = cast("set[bytes]", await cast("Any", self._redis.smembers(keys.attached_rooms(process_id))))
        return sorted(room.decode() for room in found)

    async def has_lapsed(self, process_id: str) -> bool:
        """Return whether a process has lapsed by now, or was forgotten; False if it has sent a heartbeat since."""
        return await self._if_lapsed(process_id, "look")

    async def release_lapsed(self, process_id: str, rooms: Iterable[str]) -> bool:
        """Remove rooms that know that this process has lapsed; do nothing and return False if it is alive by now."""
        return await self._if_lapsed(process_id, "release", *rooms)

    async def forget_process(self, process_id: str) -> bool:
        """Forget a lapsed process whose rooms all know; return False if it has sent a heartbeat since."""
        return await self._if_lapsed(process_id, "forget")

    async def _if_lapsed(self, process_id: str, verb: str, *rooms: str) -> bool:
        names = [keys.PROCESSES, keys.LAST_HEARTBEAT, keys.attached_rooms(process_id)]
        arguments: list[str | int] = [process_id, keys.LAPSE_MS, verb, *rooms]
        return bool(await self._lapsed_process.run(self._redis, names, arguments))


_RawRequest = tuple[bytes, list[bytes]]
_Reply = tuple[bytes, int, list[bytes], list[bytes], int, list[_RawRequest], bytes, bytes]


def _parse_request(request_id: bytes, fields: list[bytes]) -> UnreadRequest:
    """Return a request with the text of its last field; an entry of the stream has at least one."""
    return UnreadRequest(request_id.decode(), int(request_id.partition(b"-")[0]), fields[-1])


def _parse_pause(text: bytes) -> Pause:
    start, _, end = text.decode().partition("-")
    return Pause(int(start), int(end))
