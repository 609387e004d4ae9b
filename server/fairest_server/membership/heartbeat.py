"""What a server process does every second: shows that it lives, sees who else does, takes up what everybody forgot."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Protocol

import structlog
from redis.exceptions import RedisError

from fairest_server.ops.faults import contained
from fairest_server.room.commands import Pause
from fairest_server.store.log import Log
from fairest_server.store.processes import Processes

BEAT_SECONDS: Final = 1.0
WATCH_SECONDS: Final = BEAT_SECONDS / 4
MIN_REST_SECONDS: Final = 0.1
"""Between two beats, or whatever is done every second, also when it takes longer than that."""
OVERDUE_MS: Final = 1_000
"""A deadline is left this long to a process that has the room open before the sweep takes it up."""
ALONE_SECONDS: Final = 2.0
"""Without Redis for so long, a process sends its clients away: another one may be better off."""

_LOG = structlog.get_logger(__name__)


class Rooms(Protocol):
    """The rooms of this process, as far as the pulse is concerned."""

    @property
    def silent_seconds(self) -> float:
        """How long ago a beat was answered."""

    def answered(self, redis_ms: int, pauses: tuple[Pause, ...], *, is_shared: bool) -> None:
        """A beat was answered: Redis' clock shows this, there were these pauses, and others live or do not."""

    async def register_all(self) -> None:
        """Write down anew in which rooms this process speaks: it was taken for dead, or Redis has forgotten it."""

    async def keep_key(self) -> None:
        """See to it that Redis holds the key with which this process signs, or sign with the one that it holds."""

    def send_away(self) -> None:
        """Let every follower come again, here or elsewhere."""

    async def compare_tails(self) -> None:
        """Let rooms catch up that missed something."""

    async def release_rooms(self) -> None:
        """Write down which rooms nobody here speaks in any more."""

    async def report_lapsed(self, process_id: str) -> bool:
        """Tell the rooms of a process that lapsed; whether all of them know."""

    async def take_up(self, code: str) -> None:
        """Look at a room that everybody forgot."""


class Heartbeat:
    """The pulse of one process. Its tasks run until `stopping` is set, which is how they are told to end."""

    def __init__(self, processes: Processes, log: Log, rooms: Rooms, stopping: asyncio.Event) -> None:
        self._processes = processes
        self._log = log
        self._rooms = rooms
        self._stopping = stopping
        self._lapsed: set[str] = set()

    async def beat_once(self) -> None:
        """Show that we live, see who else does. Raises RedisError."""
        beat = await self._processes.beat()
        self._lapsed = set(beat.lapsed)
        if beat.is_new:
            # Before anything is decided on the strength of this beat.
            await self._rooms.register_all()
        self._rooms.answered(beat.now_ms, beat.pauses, is_shared=beat.alive > 1)

    async def beat(self) -> None:
        """Beat, and wait for nothing else: a beat that is late looks like a dead process."""
        await self._repeat(self.beat_once)

    async def release(self) -> None:
        """Write down which rooms are held no more. It may have to wait behind all who want to hold one."""
        await self._repeat(self._rooms.release_rooms)

    async def compare(self) -> None:
        """Read what wake-ups missed, see to the key. A task of its own, since any node of Redis may hold it up."""
        await self._repeat(self._compare)

    async def sweep(self) -> None:
        """Take up what others left behind. A task of its own: a long sweep must not look like a dead process."""
        await self._repeat(self._sweep)

    async def watch(self) -> None:
        """Send clients away when Redis has been silent for too long, once for each silence.

        A process that cannot keep up hears Redis late as well. To send its clients away would only bring all of them
        back at once, so a silence counts when this process had the time to listen.
        """
        is_told, since = False, time.monotonic()
        while not await self._sleep_or_stop(WATCH_SECONDS):
            was_busy, since = time.monotonic() - since > 1.5 * WATCH_SECONDS, time.monotonic()
            if self._rooms.silent_seconds <= ALONE_SECONDS:
                is_told = False
            elif not is_told and not was_busy:
                is_told = True
                _LOG.warning("redis is silent: clients are sent away", seconds=ALONE_SECONDS)
                self._rooms.send_away()

    async def _compare(self) -> None:
        await self._rooms.compare_tails()
        await self._rooms.keep_key()

    async def _sweep(self) -> None:
        for process_id in sorted(self._lapsed):
            if await self._rooms.report_lapsed(process_id) and await self._processes.forget_process(process_id):
                _LOG.info("a process has lapsed, its rooms know", process=process_id)
        for code in await self._log.due_rooms(OVERDUE_MS):
            with contained("a room", room=code):
                await self._rooms.take_up(code)

    async def _repeat(self, work: Callable[[], Awaitable[None]]) -> None:
        """Every second; whatever goes wrong once is logged and tried again."""
        while True:
            since = time.monotonic()
            with contained("the pulse"):
                try:
                    await work()
                except (RedisError, OSError) as reason:
                    _LOG.warning("redis does not answer", reason=str(reason))
            if await self._sleep_or_stop(max(MIN_REST_SECONDS, BEAT_SECONDS - (time.monotonic() - since))):
                return

    async def _sleep_or_stop(self, seconds: float) -> bool:
        """Wait so long, or until this process stops; whether it does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return self._stopping.is_set()
