"""Which server processes live, which rooms they hold seats of, and when nobody lived at all.

A process that is killed leaves its name here and the rooms in which it spoke for somebody; whoever lives reads that and
tells those rooms. A time without any beat is a *pause*: Redis or all servers were away, and clocks stood still.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

from redis.asyncio import Redis

from fairest_protocol.value import Value
from fairest_server.room.commands import Pause
from fairest_server.store import keys
from fairest_server.store.redis.scripts import Script


class Beat(Value):
    """What a process learns from one beat.

    `lapsed` are processes that were silent for too long; `is_new` says that this one was not known, or not any more.
    """

    now_ms: int
    alive: int
    lapsed: tuple[str, ...]
    pauses: tuple[Pause, ...]
    is_new: bool


class Processes:
    """The processes of a deployment, on one Redis. Every method raises RedisError when Redis is away.

    `beating` is a client of its own for beats: one that waited for a connection behind hundreds of readings would look
    like a Redis that is silent, and clients would be sent away.
    """

    def __init__(self, redis: Redis, beating: Redis, process_id: str) -> None:
        self._redis = redis
        self._beating = beating
        self.process_id: Final = process_id
        self._beat = Script("heartbeat.lua")
        self._forget_process = Script("forget_process.lua")

    async def beat(self) -> Beat:
        """Show that this process lives, and learn of the others."""
        lapse_ms = keys.PROCESS_SECONDS * 1000
        names = [keys.PROCESSES, keys.LAST_BEAT, keys.PAUSES]
        arguments = (self.process_id, keys.PAUSE_MS, lapse_ms, keys.PAUSES_KEPT)
        found = await self._beat.run(self._beating, names, arguments)
        now_ms, alive, lapsed, pauses, is_new = cast("tuple[bytes, int, list[bytes], list[bytes], int]", found)
        silent = tuple(each.decode() for each in lapsed)
        return Beat(int(now_ms), alive, silent, tuple(map(_pause, pauses)), is_new=bool(is_new))

    async def hold(self, rooms: Iterable[str]) -> None:
        """Write down that this process may speak for somebody in these rooms, before it does."""
        await cast("Any", self._redis.sadd(keys.attached_rooms(self.process_id), *rooms))

    async def release(self, process_id: str, rooms: Iterable[str]) -> None:
        """Nobody is spoken for by this process in these rooms any more."""
        await cast("Any", self._redis.srem(keys.attached_rooms(process_id), *rooms))

    async def rooms_of(self, process_id: str) -> list[str]:
        """The rooms in which a process may have spoken for somebody."""
        found = cast("set[bytes]", await cast("Any", self._redis.smembers(keys.attached_rooms(process_id))))
        return sorted(room.decode() for room in found)

    async def forget_process(self, process_id: str) -> bool:
        """Forget a process that has lapsed, once nothing in any room depends on it; False if it beats again."""
        names = [keys.PROCESSES, keys.attached_rooms(process_id)]
        return bool(await self._forget_process.run(self._redis, names, [process_id, keys.PROCESS_SECONDS * 1000]))


def _pause(text: bytes) -> Pause:
    start, _, end = text.decode().partition("-")
    return Pause(int(start), int(end))
