"""The heartbeat of a server process, which shows Redis that the process is alive; the reply describes the others.

A process that has not sent a heartbeat for `keys.LAPSE_MS` has lapsed: the sweep of another process reports this
to its rooms.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from fairest_server.live.attached_rooms import AttachedRooms
from fairest_server.live.redis_clock import RedisClock
from fairest_server.live.registry import RoomRegistry
from fairest_server.membership.periodic import PERIOD_SECONDS, repeat, stops_within
from fairest_server.ops import metrics
from fairest_server.ops.events import Event
from fairest_server.store.processes import Processes, UnreadRequest

WATCH_SECONDS: Final = PERIOD_SECONDS / 4
RETRY_SECONDS: Final = 0.1
"""Between a heartbeat that Redis refused and the next one."""
SILENCE_SECONDS: Final = 2.0
"""Without an answer of Redis for this long, a process sends its clients away: another process may still reach Redis."""
CALM_SECONDS: Final = PERIOD_SECONDS
"""For this long a process must have had time to read before a silence counts: a heartbeat that it had given up is sent
again within that time.
"""

_LOG = structlog.get_logger(__name__)


class Heartbeat:
    """The heartbeat of this process. Its tasks run until `stopping` is set."""

    def __init__(
        self,
        processes: Processes,
        clock: RedisClock,
        registry: RoomRegistry,
        attached: AttachedRooms,
        stopping: asyncio.Event,
    ) -> None:
        self._processes = processes
        self._clock = clock
        self._registry = registry
        self._attached = attached
        self._stopping = stopping
        self.lapsed: frozenset[str] = frozenset()
        """The processes that had lapsed at the last heartbeat."""
        self.is_shared = False
        """Whether other processes serve this deployment, as the last heartbeat found."""
        self._must_register = False
        self.on_bans_version: Callable[[str], None] | None = None
        """Called with each heartbeat and the version of the bans."""
        self.on_requests: Callable[[Sequence[UnreadRequest], int], None] | None = None
        """Called with the requests of the operator that came with a heartbeat, and Redis' clock in ms."""

    async def beat(self) -> None:
        """Send one heartbeat, and apply the reply. Raises RedisError."""
        reply = await self._processes.beat()
        self.lapsed = frozenset(reply.lapsed)
        self._must_register = self._must_register or reply.is_new
        if self._must_register:
            # Redis had forgotten this process, or took it for dead. Its rooms are registered again before the clock is
            # set, since nothing is decided without a clock. Only the first heartbeat says so, and this may fail.
            await self._attached.register_all()
            self._must_register = False
        self._clock.beat(reply.now_ms)
        self.is_shared = reply.alive > 1
        self._registry.set_shared(is_shared=self.is_shared, pauses=reply.pauses)
        if self.on_bans_version is not None:
            self.on_bans_version(reply.bans_version)
        if reply.requests and self.on_requests is not None:
            self.on_requests(reply.requests, reply.now_ms)

    async def run(self) -> None:
        """Send heartbeats. Its task does nothing else, since a process with late heartbeats looks dead.

        Nothing is decided between the end of a fault, such as a full Redis, and the next heartbeat.
        """
        await repeat(self.beat, self._stopping, RETRY_SECONDS)

    async def watch_silence(self) -> None:
        """Send clients away once Redis has been silent for SILENCE_SECONDS, once for each silence.

        An overloaded process reads the replies of Redis late as well. If it sent its clients away, all of them would
        only come back at once, so a silence counts only if this process had the time to read, for CALM_SECONDS.
        """
        was_reported, since, busy_at = False, time.monotonic(), float("-inf")
        while not await stops_within(self._stopping, WATCH_SECONDS):
            late_seconds, since = time.monotonic() - since - WATCH_SECONDS, time.monotonic()
            metrics.LOOP_DELAY.add(max(0.0, late_seconds))
            if late_seconds > WATCH_SECONDS / 2:
                busy_at = since
            if self._clock.silent_seconds <= SILENCE_SECONDS:
                was_reported = False
            elif not was_reported and since - busy_at >= CALM_SECONDS:
                was_reported = True
                _LOG.warning(Event.REDIS_SILENT, seconds=SILENCE_SECONDS)
                self._registry.send_away()
